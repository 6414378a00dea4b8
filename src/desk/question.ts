import { isJsonObject, type JsonValue } from "../base/json.ts"
import { toVisibleText } from "../base/visible-text.ts"
import type { Question } from "../plugin/person-port.ts"
import { ADMISSION_QUESTION } from "../runner/admit/approval.ts"
import { REPEAT_QUESTION } from "../runner/run/on-crash.ts"
import { QUESTION_TOOL } from "../runner/tool/tool-source.ts"
import { toAskedQuestion } from "../runner/ask/question-wait.ts"
import { RUNTIME_PLUGIN, type TaskRecord } from "../task/record.ts"
import type { Wait } from "../task/wait.ts"

/** A question to a person, in one shape for every wait that a person can answer. */
export interface InboxQuestion extends Question {
  /**
   * `call`: whether a call may run. `question`: a running agent or tool wants to know something, and stands still until it
   * is answered. `other`: whether work is repeated after a crash, or the results of a group are used.
   */
  readonly about: "call" | "question" | "other"
}

/** True for a question of a running agent or tool: it is a task of its own, and its end, the answer, is not announced. */
export function isQuestionTask({ plugin, tool }: Pick<TaskRecord, "plugin" | "tool">): boolean {
  return plugin === RUNTIME_PLUGIN && tool === QUESTION_TOOL
}

/** A question about a call says of it all that is kept: a title may be a model's words. */
export function toInboxQuestion(
  wait: Pick<Wait, "reason" | "question">,
  { kind, tool, input }: Pick<TaskRecord, "kind" | "tool" | "input">,
): InboxQuestion {
  const asked = toAskedQuestion(wait)
  if (asked) return { ...asked, about: "question" }
  const { reason, question } = wait
  const asks = textOf(question, "kind")
  const isAboutCall = asks === ADMISSION_QUESTION || (asks === REPEAT_QUESTION && kind === "tool")
  const call = isAboutCall ? toVisibleText(`${tool} ${JSON.stringify(input)}`) : undefined
  const detail = textOf(question, "detail") ?? call
  return {
    about: asks === ADMISSION_QUESTION ? "call" : "other",
    kind: reason === "approval" || isYesOrNo(question) ? "approval" : "text",
    text: (typeof question === "string" ? question : textOf(question, "text")) ?? "",
    ...(detail !== undefined && { detail }),
  }
}

function isYesOrNo(question: JsonValue): boolean {
  const options = valueOf(question, "options")
  return Array.isArray(options) && options.length > 0 && options.every((option) => typeof option === "boolean")
}

function textOf(question: JsonValue, key: string): string | undefined {
  const value = valueOf(question, key)
  return typeof value === "string" ? value : undefined
}

function valueOf(question: JsonValue, key: string): JsonValue | undefined {
  return isJsonObject(question) ? question[key] : undefined
}
