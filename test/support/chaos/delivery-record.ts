import { hasEnded } from "../../../src/engine/suite/oracle.ts"
import type { JsonValue } from "../../../src/base/json.ts"
import { callsOf, type Message, textOf } from "../../../src/plugin/message.ts"

/** One place of a conversation that shows the model what a run came to. */
export interface Showing {
  /** `told`: without a question of the model; `read`: in the answer to a call. */
  readonly how: "told" | "read"
  readonly mark: string
  /** Null if the text names no run, as for a run that was interrupted. */
  readonly run: number | null
}

const HEAD = /^(?:\d+\. )?Task \S+ \("(?<mark>\w+)"\): [a-z ]+\.(?<more> You have its result already\.)?$/
const RESULT = /<\w+\/(?<run>\d+)>/
const STOPPED = /^It was (?:cancelled|timed out): /
const OWN_RESULT = /^<(?<mark>\w+)\/(?<run>\d+)>$/

/** All showings of a conversation, in order. */
export function readShowings(messages: readonly Message[]): readonly Showing[] {
  const marks = new Map(messages.flatMap(callsOf).map(({ id, input }) => [id, (input as { mark?: string }).mark]))
  return messages.flatMap((message) => (message.role === "tool" ? readAnswers(message, marks) : readTold(message)))
}

/** Ids, or beginnings of ids, that the model acknowledged. */
export function readAcknowledged(messages: readonly Message[]): readonly string[] {
  return messages
    .flatMap(callsOf)
    .filter(({ tool }) => tool === "acknowledge")
    .flatMap(({ input }) => (input as { readonly task_ids: readonly string[] }).task_ids)
}

function readTold(message: Message): readonly Showing[] {
  if (message.role !== "user") return []
  const showings: Showing[] = []
  for (const line of textOf(message).split("\n")) {
    const head = HEAD.exec(line)?.groups
    if (head?.["mark"] && !head["more"]) showings.push({ how: "told", mark: head["mark"], run: null })
    const last = showings.at(-1)
    const run = line.startsWith("| ") ? RESULT.exec(line)?.groups?.["run"] : undefined
    if (last && run !== undefined) showings[showings.length - 1] = { ...last, run: Number(run) }
  }
  return showings
}

function readAnswers({ parts }: Message, marks: ReadonlyMap<string, string | undefined>): readonly Showing[] {
  return parts.flatMap((part) => {
    if (part.type !== "result") return []
    const text = part.content.map((one) => (one.type === "text" ? one.text : "")).join("")
    const mark = marks.get(part.callId)
    if (part.isError && mark !== undefined && STOPPED.test(text)) return [{ how: "read", mark, run: 1 }]
    if (part.isError) return findOwn(text)
    return text.startsWith("{") ? findEnded(JSON.parse(text) as JsonValue) : findOwn(text)
  })
}

/** The answer of a call that became a task and ended in time, or had ended when the turn went on after a crash. */
function findOwn(text: string): readonly Showing[] {
  const { mark, run } = OWN_RESULT.exec(text)?.groups ?? {}
  return mark === undefined ? [] : [{ how: "read", mark, run: Number(run) }]
}

/** Finds whole tasks anywhere in an answer. Only a whole task has the field `output_bytes`. */
function findEnded(value: JsonValue): readonly Showing[] {
  if (typeof value !== "object" || value === null) return []
  if (Array.isArray(value)) return value.flatMap(findEnded)
  const { title, status, output_bytes: isWhole } = value as Readonly<Record<string, JsonValue>>
  if (isWhole === undefined) return Object.values(value).flatMap(findEnded)
  if (!hasEnded(status)) return []
  const run = RESULT.exec(JSON.stringify(value))?.groups?.["run"]
  return [{ how: "read", mark: typeof title === "string" ? title : "", run: run === undefined ? null : Number(run) }]
}
