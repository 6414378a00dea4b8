import { toErrorMessage } from "../../base/error.ts"
import type { JsonValue } from "../../base/json.ts"
import { shorten, shortenMiddle } from "../../base/shorten.ts"
import { type ContentPart, type FunctionCall, type ToolResult, callsOf, type Message } from "../../plugin/message.ts"
import type { Answer } from "../../plugin/task-service.ts"
import { contentOf } from "../../plugin/tool.ts"
import type { PromotedAnswer } from "../../plugin/tool-hooks.ts"
import type { TaskId } from "../../task/id.ts"
import type { Patch } from "../../task/patch.ts"
import { toClosingMessage } from "../log/closing-message.ts"
import { toKeptText } from "../results/artifact-text.ts"

const SUMMARY_CHARACTERS = 200
const RETURNED_NOTHING = "(it returned nothing)"

export interface ToolResultOptions {
  readonly limitCharacters: number
  /** Words the answer to a promoted call as the tools for tasks do, if there are any. */
  readonly tellPromoted?: (promoted: PromotedAnswer) => string | undefined
}

/** The answer to a call, as the model reads it. */
export function toToolResult(call: FunctionCall, answer: Answer, options: ToolResultOptions): ToolResult {
  const { limitCharacters, tellPromoted } = options
  switch (answer.outcome) {
    case "completed": {
      const { payload, digest } = answer.patch
      return toResult(call, false, [...toContent(payload, digest, limitCharacters), ...toKept(answer.patch)])
    }
    case "failed": {
      const { failure, patch } = answer
      const more = patch ? toContent(patch.payload, patch.digest, limitCharacters) : []
      return toResult(
        call,
        true,
        boundAll([{ type: "text", text: failure.message }, ...more.filter(isTelling)], limitCharacters),
      )
    }
    case "cancelled":
    case "timed_out":
      return toErrorResult(call, `It was ${answer.outcome.replace("_", " ")}: ${answer.reason}.`)
    case "promoted":
      return toResult(call, false, [{ type: "text", text: tellPromoted?.(answer) ?? toHandleText(answer) }])
  }
}

export function toErrorResult(call: FunctionCall, problem: unknown): ToolResult {
  const text = typeof problem === "string" ? problem : toErrorMessage(problem)
  return toResult(call, true, [{ type: "text", text }])
}

/** The answer to a call whose task was written before a crash. */
export function toTaskResult(call: FunctionCall, taskId: TaskId): ToolResult {
  const text = `It runs in the background as task ${taskId}. Its result comes back by itself: do not wait or ask for it.`
  return toResult(call, false, [{ type: "text", text }])
}

/** The calls of the last message that have no answer yet. */
export function unansweredCalls(history: readonly Message[]): readonly FunctionCall[] {
  const last = history.at(-1)
  return last?.role === "assistant" ? callsOf(last) : []
}

/** Why a call of the turn before has no answer. */
export const CUT_OFF = "The turn before was cut off before this call was answered."

/** The messages that complete the history for a provider: an answer to every open call. */
export function mendHistory(history: readonly Message[], reason: string): readonly Message[] {
  const calls = unansweredCalls(history)
  return calls.length === 0 ? [] : [{ role: "tool", parts: calls.map((call) => toErrorResult(call, reason)) }]
}

/** The messages that close a stopped turn: the model's text so far, or a note that it was stopped. */
export function closeStopped(
  history: readonly Message[],
  { partialText, turn }: { readonly partialText: string; readonly turn: TaskId },
): readonly Message[] {
  const mended = mendHistory(history, "The turn was stopped before it was answered.")
  const text = partialText === "" ? "[The turn was stopped before it was finished.]" : `${partialText} [stopped]`
  return [...mended, toClosingMessage(text, turn)]
}

/** One line for people: the tool's own headline if it has one, else what the model reads. */
export function summarize(result: ToolResult, answer: Answer | null): string {
  return shorten(toSummary(result, answer).replace(/\s+/g, " ").trim(), SUMMARY_CHARACTERS)
}

function toSummary({ content }: ToolResult, answer: Answer | null): string {
  if (answer?.outcome === "failed") return answer.failure.message
  const patch = answer?.outcome === "completed" ? answer.patch : null
  const isForModel = patch !== null && typeof patch.payload === "object" && !contentOf(patch.payload)
  const [headline] = isForModel ? patch.digest : []
  if (headline !== undefined) return headline
  return content.map((part) => (part.type === "text" ? part.text : `[${part.mediaType}]`)).join(" ")
}

function toResult(call: FunctionCall, isError: boolean, content: readonly ContentPart[]): ToolResult {
  return { type: "result", callId: call.id, tool: call.tool, isError, content }
}

function toContent(payload: JsonValue, digest: readonly string[], limit: number): readonly ContentPart[] {
  const shown = contentOf(payload)
  if (shown) return boundAll(shown, limit)
  const text = typeof payload === "string" ? payload : payload === null ? digest.join("\n") : JSON.stringify(payload)
  return [{ type: "text", text: text === "" ? RETURNED_NOTHING : bound(text, limit) }]
}

/** The payload of an agent names its artifacts itself. */
function toKept({ artifacts, payload }: Patch): readonly ContentPart[] {
  const isNamed = typeof payload === "object" && payload !== null && "artifacts" in payload
  const text = isNamed ? "" : toKeptText(artifacts)
  return text === "" ? [] : [{ type: "text", text }]
}

function isTelling(part: ContentPart): boolean {
  return part.type !== "text" || part.text !== RETURNED_NOTHING
}

/**
 * Bounds all texts together: the first are kept whole, the one that no longer fits is cut, and the rest are only counted.
 */
function boundAll(content: readonly ContentPart[], limit: number): readonly ContentPart[] {
  const kept: ContentPart[] = []
  let left = limit
  let dropped = 0
  for (const part of content) {
    if (part.type !== "text") kept.push(part)
    else if (left > 0) kept.push({ ...part, text: bound(part.text, left) })
    else dropped += 1
    if (part.type === "text") left -= part.text.length
  }
  return dropped === 0 ? kept : [...kept, { type: "text", text: `[… ${dropped} more texts left out …]` }]
}

function bound(text: string, limit: number): string {
  return shortenMiddle(text, limit, (count) => `\n[… ${count} characters left out …]\n`)
}

function toHandleText({ task, afterMs }: PromotedAnswer): string {
  if (task.status === "waiting") {
    return `It needs a person's approval first and waits for it as task ${task.id}. You will be told how it ends: go on with other work, and do not ask for the approval again.`
  }
  const since = afterMs > 0 ? `It still runs after ${Math.round(afterMs / 100) / 10} s and goes on` : "It runs"
  return `${since} in the background as task ${task.id}. Its result comes back by itself: go on with other work, and do not wait or ask for it.`
}
