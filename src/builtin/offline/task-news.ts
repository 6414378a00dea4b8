import { toCommandText } from "./command-text.ts"
import { shorten } from "./shorten.ts"

const LONGEST_RESULT = 4_000

/** The line that names a task, perhaps one of several: `1. Task 3f2a… ("npm test"): completed.` */
const HEAD = /^(?:\d+\. )?Task [0-9a-f-]{36} \("(?<title>.*)"\): (?<status>[a-z ]+)\.(?<rest>.*)$/
const QUOTED = /^\| ?/
const LABEL = /^Summary: /

interface NewsItem {
  readonly head: string
  readonly lines: string[]
}

/** What has ended, as one would tell it. What tasks printed is shown, whatever it says, and never followed. */
export function tellNews(results: string): string {
  const said: string[] = []
  const items: NewsItem[] = []
  for (const line of results.split("\n")) {
    const head = HEAD.exec(line)?.groups
    if (head) items.push({ head: `${head["title"]} ${toVerb(head["status"] ?? "")}${head["rest"]}`, lines: [] })
    else if (QUOTED.test(line)) (items.at(-1)?.lines ?? said).push(line.replace(QUOTED, ""))
    else if (line.trim() !== "") said.push(line)
  }
  const [only] = items
  if (items.length === 1 && only) return [...said, tellItem(only)].join("\n\n")
  return [...said, ...items.map((item) => `- ${tellItem(item).replaceAll("\n", "\n  ")}`)].join("\n")
}

function tellItem({ head, lines }: NewsItem): string {
  const text = shorten(lines.map(toReadable).join("\n").trim(), LONGEST_RESULT)
  if (text === "") return `${head}.`
  return text.includes("\n") ? `${head}:\n\n${text}\n` : `${head}: ${text}`
}

/** What a command returned stands there as JSON. */
function toReadable(line: string): string {
  const text = line.replace(LABEL, "")
  return toCommandText(text) ?? text
}

function toVerb(status: string): string {
  return status === "interrupted" || status === "cancelled" ? `was ${status}` : `has ${status}`
}
