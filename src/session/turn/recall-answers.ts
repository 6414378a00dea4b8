import type { JsonValue } from "../../base/json.ts"
import { callsOf, type FunctionCall, type Message, type ToolResult } from "../../plugin/message.ts"
import type { TaskId } from "../../task/id.ts"
import type { OnCrash, Step } from "../../task/step.ts"
import { isRedacted } from "../log/log-entry.ts"
import { toOnCrash, toStepKey, findCurrentKey } from "./call-step.ts"
import { toErrorResult, toTaskResult } from "./tool-answer.ts"
import type { TurnScope } from "./turn-scope.ts"

const INTERRUPTED =
  "It was interrupted: its worker ended while it ran, and whether it finished is not known. Look before you try again."
const NOT_REPEATABLE =
  "It was interrupted, and its input held a secret, which is never stored: it cannot be run again as it was."

/** The known facts about the calls of a message that an earlier claim left. Maps are by call id. */
export interface RecalledCalls {
  /** Answers of calls that ended, became tasks or may not be repeated. All others are run. */
  readonly answers: ReadonlyMap<string, ToolResult>
  /** The keys of the calls' steps. */
  readonly keys: ReadonlyMap<string, string>
  /** The keys of calls that became tasks: their answers show no result, whatever was read for them before the crash. */
  readonly unshown: readonly string[]
  /** Steps of calls that were not begun. They must be written as begun before the calls run. */
  readonly unbegun: readonly { readonly key: string; readonly onCrash: OnCrash }[]
}

export async function recallAnswers(scope: TurnScope, message: Message, position: number): Promise<RecalledCalls> {
  const steps = new Map((await scope.turn.steps()).map((step) => [step.key, step]))
  const answers = new Map<string, ToolResult>()
  const keys = new Map<string, string>()
  const unshown: string[] = []
  const unbegun: { key: string; onCrash: OnCrash }[] = []
  for (const call of callsOf(message)) {
    const first = toStepKey(position, call)
    const key = findCurrentKey(steps, first)
    const onCrash = toOnCrash(scope, call)
    keys.set(call.id, key)
    const isUnbegun = key !== first && !steps.has(key)
    const step = isUnbegun ? NEW_STEP : (steps.get(key) ?? { state: "unknown", onCrash })
    const answer = toAnswer(call, step, isRedacted(message))
    if (step.state === "finished" && toTaskId(step.result)) unshown.push(key)
    if (answer) answers.set(call.id, answer)
    else if (isUnbegun) unbegun.push({ key, onCrash })
  }
  return { answers, keys, unshown, unbegun }
}

/** The step of a call that was not begun: the call may be run, whatever its tool says. */
const NEW_STEP = { state: "unknown", onCrash: "retry" } as const

/**
 * A step without a record: its call may have run, and nobody was asked about it. So only a tool that may be repeated runs
 * again.
 */
interface UnknownStep {
  readonly state: "unknown"
  readonly onCrash: OnCrash
}

/** Undefined if the call is to be run again. For `onCrash: "ask"` a person has said yes, or the turn would not go on. */
function toAnswer(call: FunctionCall, step: Step | UnknownStep, hadSecret: boolean): ToolResult | undefined {
  if (step.state === "finished") return toKept(call, step.result)
  const isAsked = step.state === "unknown" && step.onCrash === "ask"
  if (step.onCrash === "fail" || isAsked) return toErrorResult(call, INTERRUPTED)
  return hadSecret ? toErrorResult(call, NOT_REPEATABLE) : undefined
}

function toKept(call: FunctionCall, kept: JsonValue): ToolResult {
  const taskId = toTaskId(kept)
  if (taskId) return toTaskResult(call, taskId)
  return typeof kept === "object" && kept !== null ? (kept as unknown as ToolResult) : toErrorResult(call, INTERRUPTED)
}

function toTaskId(kept: JsonValue): TaskId | undefined {
  return typeof kept === "object" && kept !== null && "taskId" in kept ? (kept["taskId"] as TaskId) : undefined
}
