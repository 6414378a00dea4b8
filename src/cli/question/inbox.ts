import type { Desk } from "../../desk/desk.ts"
import { MARGIN } from "../../base/quoted-text.ts"
import { describeAnswers, formatLength } from "./answer-hint.ts"
import { type AskedRoom, toAskedRows, toDetailRows } from "./asked-rows.ts"
import { NO_BECAUSE, readAnswer } from "./read-answer.ts"
import { formatDuration, shortId, type Task, toLine } from "../format/format.ts"
import type { Style } from "../screen/style.ts"

export type InboxItem = Awaited<ReturnType<Desk["inbox"]["list"]>>[number]

/** The question, all that it is about, the options to choose from, and the command that answers it. */
export async function formatAsked(
  desk: AskingHosts,
  item: InboxItem,
  command: string,
  room: AskedRoom,
  style?: Style,
): Promise<string> {
  const { task, question } = item
  const { columns } = room
  const id = shortId(task.id)
  const options = question.kind === "choice" ? (question.options ?? []) : []
  const place = question.about === "question" ? [] : await describePlace(desk, task)
  const isPlaced = (row: string): boolean => place.some((one) => row === `  ${one.split(", ")[0]}`)
  const details = [
    ...toDetailRows({ ...question, ...(question.about === "call" && { isPermission: true }) }, columns),
    ...toTitleLines(item).flatMap((line) => toAskedRows(line, columns)),
  ]
  const rows = [...details.filter((row) => !isPlaced(row)), ...place.flatMap((line) => toAskedRows(line, columns))]
  return [
    ...toAskedRows(`[${id}] ${toLine(question.text || "It needs your answer.")}`, columns, ""),
    ...rows.map((row) => style?.dim(row) ?? row),
    ...options.flatMap((option, index) => toAskedRows(`${index + 1}) ${toLine(option)}`, columns)),
    ...formatLength(rows.length, room),
    `  Answer: ${command} ${id} ${toForm(question)}`,
  ].join("\n")
}

/** The part of a desk that knows on which machine something was asked for. */
interface AskingHosts {
  readonly tasks: Pick<Desk["tasks"], "askingHost">
}

/** The folder in which a call is to run, and the machine on which it was asked for, if they are not these here. */
export async function describePlace({ tasks }: AskingHosts, task: Task): Promise<readonly string[]> {
  const host = await tasks.askingHost(task)
  const folder = task.folder !== null && (host !== null || task.folder !== process.cwd()) ? `in ${task.folder}` : ""
  const parts = [folder, host === null ? "" : `asked for on ${host}`].filter((part) => part !== "")
  return parts.length === 0 ? [] : [toLine(parts.join(", "))]
}

/** The time until the question expires, and the answer that counts then. */
export function formatExpiry(
  { expiresAt, onExpiry }: Pick<InboxItem, "expiresAt" | "onExpiry">,
  nowMs: number,
): string {
  if (expiresAt === null) return "  waits until it is answered"
  const answer = onExpiry === false ? "no" : onExpiry
  const then = typeof answer === "string" ? `the answer is ${toLine(answer)}` : "it goes on without an answer"
  return `  expires in ${formatDuration(Math.max(0, expiresAt - nowMs))}; then ${then}`
}

/** The title of a call where it may be a model's words: it stands beside what it is a title of. */
function toTitleLines({ question: { about, detail = "" }, task }: InboxItem): readonly string[] {
  const title = toLine(task.title)
  const isOwn = title === task.tool || toLine(detail.replaceAll(MARGIN, "")).includes(title.replace(/ ?…$/, ""))
  return about !== "call" || isOwn ? [] : [`the agent's words for it: "${title}"`]
}

/** The answer as the waiting run understands it; undefined if the text is no answer. */
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
