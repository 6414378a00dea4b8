import type { Runtime } from "../app.ts"
import { plain, shortId, toLine } from "./format.ts"

type Wait = Awaited<ReturnType<Runtime["engine"]["store"]["waits"]>>[number]

/** What a person can answer, oldest first. */
export async function openQuestions({ engine }: Pick<Runtime, "engine">): Promise<readonly Wait[]> {
  const waits = await engine.store.waits({ isOpen: true })
  return waits.filter(isQuestion).toSorted((one, other) => one.openedAt - other.openedAt)
}

export function isQuestion({ reason }: Pick<Wait, "reason">): boolean {
  return reason === "approval" || reason === "person"
}

/** What is asked, and with which command it is answered. */
export function formatQuestion(
  { taskId, question, reason }: Pick<Wait, "question" | "reason"> & { readonly taskId: string },
  command: string,
): string {
  const id = shortId(taskId)
  const answers = reason === "approval" || isYesOrNo(question) ? "yes|no" : "TEXT"
  return `[${id}] ${toLine(textOf(question, "text") ?? "It needs your answer.")} Answer: ${command} ${id} ${answers}`
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
  if (reason !== "approval" && !isYesOrNo(question)) return text === "" ? undefined : text
  if (/^y(es)?$/i.test(text)) return true
  return /^no?$/i.test(text) ? false : undefined
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
