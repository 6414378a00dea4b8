import { plainLines, shortId, type Task } from "./format.ts"

const LINES_SHOWN = 5
const CHARACTERS_SHOWN = 160

/** The first lines of what a task handed back, indented; empty when there is nothing to show. */
export function formatResultHead(task: Task): string {
  const lines = plainLines(toResultText(task))
    .split("\n")
    .filter((line) => line.trim() !== "")
  const shown = lines.slice(0, LINES_SHOWN).map((line) => `  ${cut(line.trimEnd())}`)
  const left = lines.length - shown.length
  if (left > 0) shown.push(`  (${left} more; /output ${shortId(task.id)} shows what it printed)`)
  return shown.join("\n")
}

function toResultText(task: Task): string {
  const patch = "patch" in task ? task.patch : null
  if (!patch) return ""
  const { payload, digest } = patch
  if (typeof payload === "string") return payload
  const output = payload !== null && typeof payload === "object" && "output" in payload ? payload["output"] : undefined
  return typeof output === "string" ? output : digest.join("\n")
}

function cut(line: string): string {
  return line.length > CHARACTERS_SHOWN ? `${line.slice(0, CHARACTERS_SHOWN - 1)}…` : line
}
