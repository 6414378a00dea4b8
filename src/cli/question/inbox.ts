import { shorten } from "../../base/shorten.ts"
import type { Desk } from "../../desk/desk.ts"
import { describePlace } from "./asked-place.ts"
import { describeAnswers } from "./answer-hint.ts"
import { NO_BECAUSE, readAnswer } from "./read-answer.ts"
import { formatDuration, plain, shortId, toLine } from "../format/format.ts"
import { formatCall } from "../format/format-call.ts"

const CALL_CHARACTERS = 200

export type InboxItem = Awaited<ReturnType<Desk["inbox"]["list"]>>[number]

/** The question, the call it is about, the options to choose from, and the command that answers it. */
export function formatQuestion({ task, question }: InboxItem, command: string, about: readonly string[]): string {
  const id = shortId(task.id)
  const options = question.kind === "choice" ? (question.options ?? []) : []
  return [
    `[${id}] ${toLine(question.text || "It needs your answer.")}`,
    ...about.map((line) => `  ${line}`),
    ...options.map((option, index) => `  ${index + 1}) ${toLine(option)}`),
    `  Answer: ${command} ${id} ${toForm(question)}`,
  ].join("\n")
}

/** The call that a person is asked about, and where it is to run; nothing for other questions. */
export async function describeAsked(
  desk: Parameters<typeof describePlace>[0],
  { question, task }: InboxItem,
): Promise<readonly string[]> {
  if (question.about !== "call") return []
  const title = toLine(task.title)
  const call = title === task.tool ? formatCall(task) : title
  const shown = shorten(call, CALL_CHARACTERS)
  return [shown, ...(await describePlace(desk, task))]
}

/** The time until the question expires, and the answer that counts then. */
export function formatExpiry(
  { expiresAt, onExpiry }: Pick<InboxItem, "expiresAt" | "onExpiry">,
  nowMs: number,
): string {
  if (expiresAt === null) return "  waits until it is answered"
  const then = onExpiry === false ? "the answer is no" : toUnanswered(onExpiry)
  return `  expires in ${formatDuration(Math.max(0, expiresAt - nowMs))}; then ${then}`
}

function toUnanswered(onExpiry: InboxItem["onExpiry"]): string {
  return typeof onExpiry === "string" ? `the answer is ${toLine(onExpiry)}` : "it goes on without an answer"
}

/** Lines that a person should see before they answer. */
export function toDetailLines({ question }: Pick<InboxItem, "question">): readonly string[] {
  return question.detail === undefined ? [] : plain(question.detail).split("\n")
}

/** The answer as the run that waits understands it; undefined when the text is none. */
export function toAnswer({ question }: Pick<InboxItem, "question">, text: string): boolean | string | undefined {
  if (question.about === "question") return readAnswer(question, text)
  if (question.kind !== "approval") return text === "" ? undefined : text
  if (/^y(es)?$/i.test(text)) return true
  if (/^no?$/i.test(text)) return false
  return NO_BECAUSE.test(text) ? text : undefined
}

/** The answers that can be typed. */
export function describeAnswer({ question }: Pick<InboxItem, "question">): string {
  return question.about === "question" ? describeAnswers(question) : "yes, no, or no and why"
}

function toForm({ kind, allowsText }: InboxItem["question"]): string {
  if (kind === "choice") return allowsText ? "NUMBER|TEXT" : "NUMBER"
  return kind === "approval" ? "yes|no" : "TEXT"
}
