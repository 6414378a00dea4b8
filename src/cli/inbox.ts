import type { Runtime } from "../app.ts"
import { describeAnswers } from "./chat/answer-hint.ts"
import { type Question, readAnswer } from "./chat/read-answer.ts"
import { formatDuration, plain, shortId, toLine } from "./format.ts"

type Wait = Awaited<ReturnType<Runtime["engine"]["store"]["waits"]>>[number]
type Asked = Pick<Wait, "question" | "reason"> & { readonly taskId: string }

/** What a person can answer, oldest first. */
export async function openQuestions({ engine }: Pick<Runtime, "engine">): Promise<readonly Wait[]> {
  const waits = await engine.store.waits({ isOpen: true })
  return waits.filter(isQuestion).toSorted((one, other) => one.openedAt - other.openedAt)
}

export function isQuestion({ reason }: Pick<Wait, "reason">): boolean {
  return reason === "approval" || reason === "person"
}

/** Whether whoever asked stands still until it is answered. Others go on, and hear of it later. */
export function isAwaited({ question }: Pick<Wait, "question">): boolean {
  return toAsked(question) !== undefined
}

/** What is asked, what can be chosen from, and with which command it is answered. */
export function formatQuestion({ taskId, question, reason }: Asked, command: string): string {
  const id = shortId(taskId)
  const asked = toAsked(question)
  const options = asked?.kind === "choice" ? (asked.options ?? []) : []
  const text = toLine(asked?.text ?? textOf(question, "text") ?? "It needs your answer.")
  const answer = `Answer: ${command} ${id} ${toForm({ reason, question }, asked)}`
  if (options.length === 0) return `[${id}] ${text} ${answer}`
  return [
    `[${id}] ${text}`,
    ...options.map((option, index) => `  ${index + 1}) ${toLine(option)}`),
    `  ${answer}`,
  ].join("\n")
}

/** Until when it can be answered, and what counts then. */
export function formatExpiry({ expiresAt, onExpiry }: Pick<Wait, "expiresAt" | "onExpiry">, nowMs: number): string {
  if (expiresAt === null) return "  waits until it is answered"
  const then = onExpiry === false ? "no" : typeof onExpiry === "string" ? plain(onExpiry) : "nobody has answered"
  return `  expires in ${formatDuration(Math.max(0, expiresAt - nowMs))}; then: ${then}`
}

/** What a person should see before they answer, indented. */
export function formatQuestionDetail({ question }: Pick<Wait, "question">): string {
  const detail = textOf(question, "detail")
  return detail === undefined ? "" : plain(detail).replaceAll(/^/gm, "  ")
}

/** The answer as the run that waits understands it; undefined when it is none. */
export function toAnswer(
  { reason, question }: Pick<Wait, "reason" | "question">,
  text: string,
): boolean | string | undefined {
  const asked = toAsked(question)
  if (asked) return readAnswer(asked, text)
  if (reason !== "approval" && !isYesOrNo(question)) return text === "" ? undefined : text
  if (/^y(es)?$/i.test(text)) return true
  return /^no?$/i.test(text) ? false : undefined
}

/** What can be typed as an answer. */
export function describeAnswer({ question }: Pick<Wait, "question">): string {
  const asked = toAsked(question)
  return asked ? describeAnswers(asked) : "yes or no"
}

function toForm({ reason, question }: Pick<Wait, "reason" | "question">, asked: Question | undefined): string {
  if (asked?.kind === "choice") return asked.allowsText ? "NUMBER|TEXT" : "NUMBER"
  return reason === "approval" || isYesOrNo(question) ? "yes|no" : "TEXT"
}

/** The question of a run as it was put; other waits hold none. */
function toAsked(question: Wait["question"]): Question | undefined {
  if (typeof question !== "object" || question === null || !("asked" in question)) return undefined
  return question["asked"] as unknown as Question
}

function isYesOrNo(question: Wait["question"]): boolean {
  const options = typeof question === "object" && question !== null && "options" in question ? question["options"] : []
  return Array.isArray(options) && options.length > 0 && options.every((option) => typeof option === "boolean")
}

function textOf(question: Wait["question"], key: string): string | undefined {
  if (typeof question === "string") return key === "text" ? question : undefined
  const value =
    typeof question === "object" && question !== null && key in question
      ? (Reflect.get(question, key) as unknown)
      : undefined
  return typeof value === "string" ? value : undefined
}
