import { findNearNames } from "../base/near-name.ts"
import { EFFECTS } from "./effect.ts"
import { PLUGIN_KINDS, type PluginKind } from "./plugin-base.ts"
import { isSchema } from "./schema.ts"
import type { Tool } from "./tool.ts"

/** Every mistake in a value, each with its path. Plugins are checked without zod, which takes longer to load than they do. */
type Check = (value: unknown, path: string) => readonly string[]

const problem = (path: string, message: string): string => (path === "" ? message : `${path}: ${message}`)

function must(message: string, isRight: (value: unknown) => boolean): Check {
  return (value, path) => (isRight(value) ? [] : [problem(path, message)])
}

const optional =
  (check: Check): Check =>
  (value, path) =>
    value === undefined ? [] : check(value, path)

const listOf =
  (check: Check): Check =>
  (value, path) =>
    Array.isArray(value)
      ? value.flatMap((one, index) => check(one, `${path}.${index}`))
      : [problem(path, "must be a list")]

/** Fields that the shape does not name are left alone. */
function fields(shape: Readonly<Record<string, Check>>): Check {
  return (value, path) => {
    if (!isObject(value)) return [problem(path, "must be an object")]
    return Object.entries(shape).flatMap(([name, check]) =>
      check(Reflect.get(value, name), path === "" ? name : `${path}.${name}`),
    )
  }
}

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null
const isMethod = (value: unknown): boolean => typeof value === "function"
const isText = (value: unknown): value is string => typeof value === "string"
const isDuration = (value: unknown): boolean =>
  typeof value === "number" && value > 0 && value < Number.POSITIVE_INFINITY
const isOneOf = (values: readonly unknown[]) => (value: unknown) => values.includes(value)

const method = must("must be a function", isMethod)
const text = must("must be a text", isText)
const sentence = must("must say what it does", (value) => isText(value) && value.trim() !== "")
const flag = must("must be true or false", (value) => typeof value === "boolean")
const named = (pattern: RegExp, message: string): Check =>
  must(message, (value) => isText(value) && pattern.test(value))

const POLICY_FIELDS: Readonly<Record<string, readonly string[]>> = {
  never: ["mode"],
  after: ["mode", "ms"],
  on_request: ["mode"],
  always: ["mode"],
}

function isPolicy(value: unknown): boolean {
  if (!isObject(value)) return false
  const known = POLICY_FIELDS[String(Reflect.get(value, "mode"))]
  if (!known || Object.keys(value).some((name) => !known.includes(name))) return false
  const ms: unknown = Reflect.get(value, "ms")
  return ms === undefined || isDuration(ms)
}

const TOOL_FIELDS = {
  name: true,
  description: true,
  input: true,
  kind: true,
  background: true,
  estimateMs: true,
  shape: true,
  title: true,
  timeoutMs: true,
  pin: true,
  isHere: true,
  folderOf: true,
  effects: true,
  preview: true,
  onCrash: true,
  reattaches: true,
  endElsewhere: true,
  findElsewhere: true,
  adoptElsewhere: true,
  model: true,
  resume: true,
  startsForCaller: true,
  otherNames: true,
  shows: true,
  isForSubagents: true,
  run: true,
} satisfies Record<keyof Tool, true>

/** A tool whose `effect` were passed over would change things without a question. */
const misspelled: Check = (value, path) => {
  if (!isObject(value)) return []
  return Object.keys(value).flatMap((name) => {
    if (Object.hasOwn(TOOL_FIELDS, name)) return []
    const [near] = findNearNames(name, Object.keys(TOOL_FIELDS))
    return near === undefined ? [] : [problem(path, `has no field "${name}". Did you mean ${near}?`)]
  })
}

const toolFields = fields({
  // Sent to every model API.
  name: named(
    /^(?=.{1,64}$)[a-zA-Z_][a-zA-Z0-9_-]*(\.[a-zA-Z0-9_-]+)*$/,
    "must have letters, digits, - and _, with dots between them only, at most 64",
  ),
  description: sentence,
  input: must("must be a schema of zod 4, valibot, arktype or another library of Standard Schema", isSchema),
  background: optional(
    must(
      'must be { mode: "never" }, { mode: "after", ms }, { mode: "on_request" }, { mode: "always" } or a function that returns one of them',
      (value) => isMethod(value) || isPolicy(value),
    ),
  ),
  estimateMs: optional(method),
  shape: optional(method),
  title: optional(method),
  timeoutMs: optional(
    must(
      "must be milliseconds above 0 or a function that returns them",
      (value) => isMethod(value) || isDuration(value),
    ),
  ),
  effects: optional(
    must(
      `must be a list of ${EFFECTS.join(", ")}, or a function`,
      (value) => isMethod(value) || (Array.isArray(value) && value.every(isOneOf(EFFECTS))),
    ),
  ),
  pin: optional(method),
  isHere: optional(method),
  folderOf: optional(method),
  preview: optional(method),
  onCrash: optional(must("must be fail, retry or ask", isOneOf(["fail", "retry", "ask"]))),
  reattaches: optional(flag),
  run: method,
})

const tool: Check = (value, path) => [...toolFields(value, path), ...misspelled(value, path)]

const userCommand = fields({
  // People type it, in upper or lower case.
  name: named(
    /^[a-zA-Z][a-zA-Z0-9_-]{0,63}$/,
    "must begin with a letter and have letters, digits, - and _, at most 64",
  ),
  description: sentence,
  usage: optional(text),
  shareWithModel: optional(flag),
  run: method,
})

const base = {
  name: named(
    /^[a-z][a-z0-9_-]{0,63}$/,
    "must begin with a lower-case letter and have lower-case letters, digits, - and _",
  ),
  modelRequirements: optional(listOf(must("must be a pattern", (value) => isText(value) && value !== ""))),
  initialize: optional(method),
  shutdown: optional(method),
}

const contribution = {
  tools: optional(listOf(tool)),
  isPrivate: optional(flag),
  systemInstructions: optional(
    must("must be a text or a function that returns one", (value) => isText(value) || isMethod(value)),
  ),
  autoApprovedTools: optional(listOf(text)),
  userCommands: optional(listOf(userCommand)),
  enrichPrompt: optional(method),
}

const KINDS: Readonly<Record<PluginKind, Check>> = {
  tool: fields({
    ...base,
    ...contribution,
    tools: listOf(tool),
    beforeToolCall: optional(method),
    afterToolCall: optional(method),
    tellPromoted: optional(method),
  }),
  gc: fields({ ...base, shouldCollect: method, collect: method }),
  session: fields({
    ...base,
    ...contribution,
    save: method,
    load: method,
    list: method,
    delete: method,
    setDescription: method,
    needsDescription: method,
    onTurnCompleted: optional(method),
    onSessionStarted: optional(method),
    onSessionEnded: optional(method),
  }),
  model_provider: fields({
    ...base,
    connect: method,
    isConfigured: optional(method),
    serializeHistory: optional(method),
    deserializeHistory: optional(method),
  }),
}

/** Every mistake in the shape of a plugin, for values that come from outside the type checker. */
export function findShapeProblems(value: unknown): readonly string[] {
  const kind: unknown = isObject(value) ? Reflect.get(value, "kind") : undefined
  const known = PLUGIN_KINDS.find((name) => name === kind)
  return known ? KINDS[known](value, "") : [`must be an object whose kind is one of ${PLUGIN_KINDS.join(", ")}`]
}
