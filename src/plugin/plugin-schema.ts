import { z } from "zod"
import { lazily } from "../base/lazily.ts"
import { EFFECTS } from "./effect.ts"
import { PLUGIN_KINDS } from "./plugin-base.ts"

const method = lazily(() => z.custom((value) => typeof value === "function", "must be a function"))
const sentence = lazily(() => z.string().trim().min(1, "must say what it does"))
const duration = lazily(() => z.number().positive())

const backgroundPolicy = lazily(() =>
  z.union(
    [
      method(),
      z.discriminatedUnion("mode", [
        z.strictObject({ mode: z.literal("never") }),
        z.strictObject({ mode: z.literal("after"), ms: duration().optional() }),
        z.strictObject({ mode: z.literal("on_request") }),
        z.strictObject({ mode: z.literal("always") }),
      ]),
    ],
    'must be { mode: "never" }, { mode: "after", ms }, { mode: "on_request" }, { mode: "always" } or a function that returns one of them',
  ),
)

const tool = lazily(() =>
  z.looseObject({
    // Sent to every model API.
    name: z
      .string()
      .regex(
        /^(?=.{1,64}$)[a-zA-Z_][a-zA-Z0-9_-]*(\.[a-zA-Z0-9_-]+)*$/,
        "must have letters, digits, - and _, with dots between them only, at most 64",
      ),
    description: sentence(),
    input: z.custom((value) => value instanceof z.ZodType, "must be a zod 4 schema, such as z.object({ … })"),
    background: backgroundPolicy().optional(),
    estimateMs: method().optional(),
    shape: method().optional(),
    title: method().optional(),
    timeoutMs: z
      .union([method(), duration()], "must be milliseconds above 0 or a function that returns them")
      .optional(),
    effects: z
      .union([z.array(z.enum(EFFECTS)), method()], `must be a list of ${EFFECTS.join(", ")}, or a function`)
      .optional(),
    pin: method().optional(),
    isHere: method().optional(),
    folderOf: method().optional(),
    preview: method().optional(),
    onCrash: z.enum(["fail", "retry", "ask"]).optional(),
    reattaches: z.boolean().optional(),
    run: method(),
  }),
)

const userCommand = lazily(() =>
  z.looseObject({
    // People type it, in upper or lower case.
    name: z
      .string()
      .regex(/^[a-zA-Z][a-zA-Z0-9_-]{0,63}$/, "must begin with a letter and have letters, digits, - and _, at most 64"),
    description: sentence(),
    usage: z.string().optional(),
    shareWithModel: z.boolean().optional(),
    run: method(),
  }),
)

const base = lazily(() => ({
  name: z
    .string()
    .regex(
      /^[a-z][a-z0-9_-]{0,63}$/,
      "must begin with a lower-case letter and have lower-case letters, digits, - and _",
    ),
  modelRequirements: z.array(z.string().min(1)).optional(),
  initialize: method().optional(),
  shutdown: method().optional(),
}))

const contribution = lazily(() => ({
  tools: z.array(tool()).optional(),
  isPrivate: z.boolean().optional(),
  systemInstructions: z.union([z.string(), method()], "must be a text or a function that returns one").optional(),
  autoApprovedTools: z.array(z.string()).optional(),
  userCommands: z.array(userCommand()).optional(),
  enrichPrompt: method().optional(),
}))

/** The shape of a plugin, for values that come from outside the type checker. */
export const pluginSchema = lazily(() =>
  z.discriminatedUnion(
    "kind",
    [
      z.looseObject({
        ...base(),
        ...contribution(),
        kind: z.literal("tool"),
        tools: z.array(tool()),
        beforeToolCall: method().optional(),
        afterToolCall: method().optional(),
        tellPromoted: method().optional(),
      }),
      z.looseObject({ ...base(), kind: z.literal("gc"), shouldCollect: method(), collect: method() }),
      z.looseObject({
        ...base(),
        ...contribution(),
        kind: z.literal("session"),
        save: method(),
        load: method(),
        list: method(),
        delete: method(),
        setDescription: method(),
        needsDescription: method(),
        onTurnCompleted: method().optional(),
        onSessionStarted: method().optional(),
        onSessionEnded: method().optional(),
      }),
      z.looseObject({
        ...base(),
        kind: z.literal("model_provider"),
        connect: method(),
        isConfigured: method().optional(),
        serializeHistory: method().optional(),
        deserializeHistory: method().optional(),
      }),
    ],
    `must be an object whose kind is one of ${PLUGIN_KINDS.join(", ")}`,
  ),
)
