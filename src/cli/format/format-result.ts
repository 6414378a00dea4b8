import { shorten } from "../../base/shorten.ts"
import { plainLines, shortId, type Task } from "./format.ts"

const LINES_SHOWN = 5
const CHARACTERS_SHOWN = 160
const MOST_CHARACTERS = 20_000

/**
 * A few lines of what a task handed back, indented; empty if there is nothing to show. An agent's answer begins with
 * what matters, the output of a command ends with it. The middle of long output is missing here: it is cut for the model.
 */
export function formatResultHead(task: Task): string {
  const lines = plainLines(toResultText(task))
    .split("\n")
    .filter((line) => line.trim() !== "")
  const isWhole = lines.length <= LINES_SHOWN
  const isAgent = task.kind === "agent"
  const shown = (isAgent ? lines.slice(0, LINES_SHOWN) : lines.slice(-LINES_SHOWN)).map(
    (line) => `  ${shorten(line.trimEnd(), CHARACTERS_SHOWN)}`,
  )
  if (isWhole) return shown.join("\n")
  const rest = isAgent
    ? `(${lines.length - LINES_SHOWN} more; ${describeRest(task)})`
    : `(its last lines; ${describeRest(task)})`
  return [...shown, `  ${rest}`].join("\n")
}

/** The whole result of a task; only a very long one is cut. Empty when there is nothing to show. */
export function formatResult(task: Task): string {
  const text = plainLines(toResultText(task)).trim()
  const left = text.length - MOST_CHARACTERS
  return left > 0 ? `${text.slice(0, MOST_CHARACTERS)}\n(${left} more characters: --json has all of it)` : text
}

function describeRest({ id, kind }: Task): string {
  return kind === "agent" ? `/task ${shortId(id)} shows its answer` : `/output ${shortId(id)} shows all that it printed`
}

/** Under these names a payload holds the text that a tool hands back, beside other values. */
const TEXT_NAMES: ReadonlySet<string> = new Set(["answer", "output"])

function toResultText(task: Task): string {
  const patch = "patch" in task ? task.patch : null
  if (!patch) return ""
  const { payload, digest } = patch
  if (typeof payload === "string") return payload
  const parts = payload !== null && typeof payload === "object" ? Object.entries(payload) : []
  const texts = parts.flatMap(([name, part]) => (TEXT_NAMES.has(name) && typeof part === "string" ? part : []))
  return texts[0] ?? digest.join("\n")
}
