import { toCommandText, toOutput } from "./command-text.ts"
import { shortenMiddle } from "../../base/shorten.ts"

const LONGEST_RESULT = 4_000

/** The line that names a task, perhaps one of several: `1. Task 3f2a… ("npm test"): completed.` */
const HEAD = /^(?:\d+\. )?Task [0-9a-f-]{36} \("(?<title>.*)"\): (?<status>[a-z ]+)\. ?(?<rest>.*)$/
/** A task that cannot continue by itself. */
const WAITING = /^Task [0-9a-f-]{36} \("(?<title>.*)"\) (?<rest>waits for a person\b.*)\.$/
const QUOTED = /^\| ?/
const LABEL = /^Summary: /
/** The facts of a command, which are its exit code: that is told already. */
const FACTS = /\nFacts discovered: \{\n(?: .*\n)*\}/

interface NewsItem {
  readonly head: string
  readonly lines: string[]
}

/** Tells which tasks have ended. Output of tasks is shown, whatever it says, and never followed. */
export function tellNews(results: string): string {
  const said: string[] = []
  const items: NewsItem[] = []
  for (const line of results.split("\n")) {
    const head = HEAD.exec(line)?.groups
    const waiting = WAITING.exec(line)?.groups
    if (head) {
      const { title, status = "", rest } = head
      items.push({ head: `${title} ${toVerb(status)}`, lines: rest ? [rest] : [] })
    } else if (waiting) items.push({ head: `${waiting["title"]} ${waiting["rest"]}`, lines: [] })
    else if (QUOTED.test(line)) (items.at(-1)?.lines ?? said).push(line.replace(QUOTED, ""))
    else if (line.trim() !== "") said.push(line)
  }
  const [only] = items
  if (items.length === 1 && only) return [...said, tellItem(only, "\n\n")].join("\n\n")
  return [...said, ...items.map((item) => `- ${tellItem(item, "\n").replaceAll("\n", "\n  ")}`)].join("\n")
}

function tellItem({ head, lines }: NewsItem, gap: string): string {
  const text = shortenMiddle(toReadable(lines), LONGEST_RESULT)
  if (text === "") return `${head}.`
  return text.includes("\n") ? `${head}:${gap}${text}` : `${head}: ${text}`
}

/** The result of a command is JSON; its end is told before it, if it was not a plain success. */
function toReadable(lines: readonly string[]): string {
  const plain = lines.map((line) => line.replace(LABEL, ""))
  const readable = plain.flatMap((line, index) => {
    const shown = toCommandText(line)
    if (shown === undefined) return [line]
    return index === 0 ? [shown] : (toOutput(line) ?? [])
  })
  const text = readable.join("\n").trim()
  return plain.some((line) => toCommandText(line) !== undefined) ? text.replace(FACTS, "") : text
}

function toVerb(status: string): string {
  return status === "interrupted" || status === "cancelled" ? `was ${status}` : `has ${status}`
}
