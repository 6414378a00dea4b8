import { isJsonObject, type JsonValue } from "../base/json.ts"
import type { Question } from "../plugin/person-port.ts"
import { ADMISSION_QUESTION } from "../runner/admit/approval.ts"
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

export function toInboxQuestion(wait: Pick<Wait, "reason" | "question">): InboxQuestion {
  const asked = toAskedQuestion(wait)
  if (asked) return { ...asked, about: "question" }
  const { reason, question } = wait
  const detail = textOf(question, "detail")
  return {
    about: textOf(question, "kind") === ADMISSION_QUESTION ? "call" : "other",
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
