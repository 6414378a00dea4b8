import type { Runtime } from "../app.ts"
import { describePlace } from "./asked-place.ts"
import { describeAnswers } from "./chat/answer-hint.ts"
import { NO_BECAUSE, type Question, readAnswer } from "./chat/read-answer.ts"
import { formatDuration, plain, shortId, type Task, toLine } from "./format.ts"
import { formatCall } from "./view/format-call.ts"

/** Of the question whether a call may run. */
const ADMISSION_QUESTION = "may_it_run"
const CALL_CHARACTERS = 200

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

/** What is asked, about which call, what can be chosen from, and with which command it is answered. */
export function formatQuestion({ taskId, question, reason }: Asked, command: string, about: readonly string[]): string {
  const id = shortId(taskId)
  const asked = toAsked(question)
  const options = asked?.kind === "choice" ? (asked.options ?? []) : []
  const text = toLine(asked?.text ?? textOf(question, "text") ?? "It needs your answer.")
  return [
    `[${id}] ${text}`,
    ...about.map((line) => `  ${line}`),
    ...options.map((option, index) => `  ${index + 1}) ${toLine(option)}`),
    `  Answer: ${command} ${id} ${toForm({ reason, question }, asked)}`,
  ].join("\n")
}

/** The call that a person is asked about, and where it is to run; nothing for other questions. */
export async function describeAsked(
  meanwhile: Pick<Runtime, "engine" | "tasks">,
  { question }: Pick<Wait, "question">,
  task: Task | undefined,
): Promise<readonly string[]> {
  if (!task || textOf(question, "kind") !== ADMISSION_QUESTION) return []
  const title = toLine(task.title)
  const call = title === task.tool ? formatCall(task) : title
  const shown = call.length > CALL_CHARACTERS ? `${call.slice(0, CALL_CHARACTERS - 1)}…` : call
  return [shown, ...(await describePlace(meanwhile, task))]
}

/** Until when it can be answered, and what counts then. */
export function formatExpiry({ expiresAt, onExpiry }: Pick<Wait, "expiresAt" | "onExpiry">, nowMs: number): string {
  if (expiresAt === null) return "  waits until it is answered"
  const then = onExpiry === false ? "the answer is no" : toUnanswered(onExpiry)
  return `  expires in ${formatDuration(Math.max(0, expiresAt - nowMs))}; then ${then}`
}

function toUnanswered(onExpiry: Wait["onExpiry"]): string {
  return typeof onExpiry === "string" ? `the answer is ${toLine(onExpiry)}` : "it goes on without an answer"
}

/** What a person should see before they answer. */
export function toDetailLines({ question }: Pick<Wait, "question">): readonly string[] {
  const detail = textOf(question, "detail")
  return detail === undefined ? [] : plain(detail).split("\n")
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
  if (/^no?$/i.test(text)) return false
  return NO_BECAUSE.test(text) ? text : undefined
}

/** What can be typed as an answer. */
export function describeAnswer({ question }: Pick<Wait, "question">): string {
  const asked = toAsked(question)
  return asked ? describeAnswers(asked) : "yes, no, or no and why"
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
