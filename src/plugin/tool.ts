import { MeanwhileError } from "../base/error.ts"
import type { JsonValue } from "../base/json.ts"
import type { SessionId } from "../task/id.ts"
import type { TaskKind } from "../task/record.ts"
import type { OnCrash, Step } from "../task/step.ts"
import type { RunningWork } from "./background-capable.ts"
import type { ToolContext } from "./context.ts"
import type { Effect } from "./effect.ts"
import type { Patch } from "../task/patch.ts"
import type { Modality } from "./model.ts"
import type { ContentPart } from "./message.ts"
import type { Schema } from "./schema.ts"

/** When a call of the tool leaves the foreground. */
export type BackgroundPolicy =
  /** A call is always answered in the foreground, within `foregroundTimeoutSeconds` unless it names a limit. */
  | { readonly mode: "never" }
  /** A call is promoted once it has run for `ms`, or for the configured threshold. The default. */
  | { readonly mode: "after"; readonly ms?: number }
  /** A call is answered in the foreground, unless it is started in the background or a person moves it there. */
  | { readonly mode: "on_request" }
  /** A call runs in the background from the start. */
  | { readonly mode: "always" }

export interface Tool<Input = unknown> {
  readonly name: string
  readonly description: string
  /** A schema of zod 4, valibot, arktype or any other library of Standard Schema: an object of plain JSON values. */
  readonly input: Schema<Input>
  /** The kind of task a call becomes in the background. Default `tool`. */
  readonly kind?: Exclude<TaskKind, "turn">
  readonly background?: BackgroundPolicy | ((input: Input) => BackgroundPolicy)
  /** The tool's own guess, used until there is history. */
  readonly estimateMs?: (input: Input) => number | undefined | Promise<number | undefined>
  /** Calls of the same shape are expected to take about as long. Default: all calls of the tool are of one shape. */
  readonly shape?: (input: Input) => string
  /** One line for people. Default: the tool's name. */
  readonly title?: (input: Input) => string
  /**
   * The time limit of a call that names none. As a function: the limit that the input itself asks for, if any; null for
   * work that never ends by itself, which gets none. A limit at or below the threshold keeps the call in the foreground
   * until it ends.
   */
  readonly timeoutMs?: number | ((input: Input) => number | null | undefined)
  /**
   * Returns the input with everything that depends on this process spelled out, such as the folder that a relative path
   * begins at. The schema must accept it. A task is stored with the pinned input, because it may run later and in
   * another process; people are shown the original input.
   */
  readonly pin?: (input: Input) => unknown
  /**
   * For a pinned input: true if this process has the folder or resource it names. If not, the worker leaves the task to
   * others.
   */
  readonly isHere?: (pinned: Input) => boolean
  /**
   * The absolute path of the folder that a process must have to run the call. It is stored with the task and shown to
   * people. `isHere` is the same for all calls with the same folder. Undefined: the call needs no folder.
   */
  readonly folderOf?: (pinned: Input) => string | undefined
  /** The effects that permission is judged by. A tool that names none has none. */
  readonly effects?: readonly Effect[] | ((input: Input) => readonly Effect[])
  /**
   * The preview a person sees before they allow the call, for example a diff. An error it throws is shown as the reason
   * why there is none.
   */
  readonly preview?: (input: Input) => Promise<string> | string
  /** The effect of a crash in the middle of a call. `fail` unless the tool is idempotent. */
  readonly onCrash?: OnCrash
  /**
   * All `run` does before `processes.run` can be repeated: after a crash of Meanwhile it is called again and its
   * process calls find the processes they started.
   */
  readonly reattaches?: boolean
  /**
   * Ends the work that a run left elsewhere if the process that was stopping it died. The steps say what that work is.
   * False: it may still run. If a tool has this function, a run that had begun is not queued again after a crash,
   * because its work never stopped.
   */
  readonly endElsewhere?: (steps: readonly Step[]) => Promise<boolean>
  /** For a run that a crash cut off inside a step: the result of that step, if what it began is found elsewhere. */
  readonly findElsewhere?: (
    call: Pick<ToolContext, "callKey" | "run">,
    steps: readonly Step[],
  ) => Promise<StepElsewhere | null>
  /** Hands work that already runs to where the tool's work is. The run goes on as if it had finished this step itself. */
  readonly adoptElsewhere?: (work: RunningWork, input: Input) => Promise<StepElsewhere>
  /** For an agent: the model it will use, for `maxConcurrentPerModel`. Undefined: the session's model. */
  readonly model?: (input: Input) => Promise<string | undefined>
  /**
   * Builds the input of a follow-up prompt in the same conversation. Without this function the task cannot be resumed.
   */
  readonly resume?: (input: Input, prompt: string, session: SessionId) => unknown
  /**
   * True for a tool that only passes calls on: tasks it starts belong to its caller, as if the caller had started them.
   */
  readonly startsForCaller?: true
  /** What it shows the model: only models that take that, by the catalogue, are offered the tool. */
  readonly shows?: Modality
  /** Names by which models know it from elsewhere: a call by one of them is a call of this tool, if no tool has that name. */
  readonly otherNames?: readonly string[]
  /** Only subagents are offered it. */
  readonly isForSubagents?: true
  /**
   * Returns the result, or a promise of it: anything that can be written as JSON, nothing at all, or what `handBack`,
   * `failWith` or `showModel` made. A result that JSON cannot hold makes the call fail.
   */
  run(input: Input, context: ToolContext): unknown
}

/** A finished step, whose result says what work runs elsewhere. */
export interface StepElsewhere {
  readonly key: string
  readonly result: JsonValue
}

/** A tool that says nothing about the background gives its result however long a call takes. */
const UNSAID: BackgroundPolicy = { mode: "after" }

export function backgroundOf<Input>({ background = UNSAID }: Pick<Tool<Input>, "background">) {
  return background
}

/** The kind of task a call of the tool becomes in the background. */
export function kindOf({ kind = "tool" }: Pick<Tool, "kind">): Exclude<TaskKind, "turn"> {
  return kind
}

/** The pinned input; `unpinned` if the tool has no `pin` or its `pin` throws. */
export function toPinned({ pin }: Pick<Tool, "pin">, input: unknown, unpinned: unknown): unknown {
  try {
    return pin ? pin(input) : unpinned
  } catch {
    return unpinned
  }
}

/** Keeps the input's type inside `run` while tools of all inputs share one list. */
export function defineTool<Input>(tool: Tool<Input>): Tool {
  return tool as unknown as Tool
}

/**
 * No JSON value can have a symbol as key, so no plain value passes for a `ToolReturn`, whatever its keys are. The
 * symbol is global, because a plugin may bring a copy of Meanwhile of its own.
 */
const TOOL_RETURN: unique symbol = Symbol.for("meanwhile.tool-return")

/** A return value that is more than plain data: made by `handBack` or `failWith`. */
export type ToolReturn =
  | { readonly [TOOL_RETURN]: "patch"; readonly patch: Patch }
  | { readonly [TOOL_RETURN]: "failure"; readonly failure: ToolFailure; readonly payload: JsonValue }

interface ToolFailure {
  readonly code: string
  readonly message: string
}

/** Returns digest, facts, artifacts and next steps apart from the payload. Refused as `invalid_input` without one of the lists. */
export function handBack(patch: Patch): ToolReturn {
  const { digest, artifacts, nextSteps } = (patch ?? {}) as Partial<Record<keyof Patch, unknown>>
  if (!isTexts(digest) || !Array.isArray(artifacts) || !isTexts(nextSteps)) {
    const lists = "`digest` and `nextSteps` (lists of texts) and `artifacts` (a list)"
    throw new MeanwhileError("invalid_input", `handBack takes a patch with ${lists}, \`facts\` and \`payload\`.`)
  }
  return { [TOOL_RETURN]: "patch", patch }
}

/** The tool did its work and the outcome is a failure: a test suite that fails, a command that exits with 1. */
export function failWith(failure: ToolFailure, payload: JsonValue = null): ToolReturn {
  const { code, message } = (failure ?? {}) as Partial<Record<keyof ToolFailure, unknown>>
  const named = {
    code: isText(code) ? code : "tool_error",
    message: isText(message) ? message : "The tool failed, and failWith was given no message.",
  }
  return { [TOOL_RETURN]: "failure", failure: named, payload }
}

const isText = (value: unknown): value is string => typeof value === "string" && value !== ""
const isTexts = (value: unknown): boolean => Array.isArray(value) && value.every((one) => typeof one === "string")

export function isToolReturn(value: unknown): value is ToolReturn {
  return typeof value === "object" && value !== null && TOOL_RETURN in value
}

const CONTENT_KEY = "modelContent"

/** Returns content for the model to see unchanged, images and files included. `digest` is the line for lists and notices. */
export function showModel(content: readonly ContentPart[], digest: string): ToolReturn {
  const payload = { [CONTENT_KEY]: content as unknown as JsonValue }
  return handBack({ digest: [digest], facts: {}, artifacts: [], nextSteps: [], payload })
}

/**
 * The content of a payload made by `showModel`; undefined for any other. A tool may return plain data under the same key:
 * anything but a list of content parts stays plain data.
 */
export function contentOf(payload: JsonValue): readonly ContentPart[] | undefined {
  const content = fieldOf(payload, CONTENT_KEY)
  return Array.isArray(content) && content.every(isContentPart) ? content : undefined
}

function isContentPart(part: unknown): part is ContentPart {
  const metadata = fieldOf(part, "metadata")
  if (metadata !== undefined && (typeof metadata !== "object" || metadata === null)) return false
  if (fieldOf(part, "type") === "text") return typeof fieldOf(part, "text") === "string"
  const source = fieldOf(part, "source")
  const isSource = typeof fieldOf(source, "data") === "string" || typeof fieldOf(source, "url") === "string"
  return fieldOf(part, "type") === "file" && typeof fieldOf(part, "mediaType") === "string" && isSource
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, name)
    ? Reflect.get(value, name)
    : undefined
}
