import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { type Ending, toEnding } from "./ending.ts"

/** What the wrapper wrote when it claimed its right to run. */
export interface Claim {
  readonly pid: number
  readonly watcherPid: number
  readonly bootId: string
}

/** `unfinished`: created and not yet written, by a wrapper that is about to run or was killed at that moment. */
export function readClaim(directory: string): Claim | "missing" | "unfinished" | "forbidden" {
  const line = readLine(join(directory, "pid"))
  if (line === undefined) return "missing"
  if (line === null) return "unfinished"
  if (line === FORBIDDEN) return "forbidden"
  const [pid, watcherPid, bootId = ""] = line.split(" ")
  return { pid: Number(pid), watcherPid: Number(watcherPid), bootId }
}

/** Undefined until the watcher has noted it, a moment after the start. */
export function readStart(directory: string): string | undefined {
  return readLine(join(directory, "start"))?.replace(/\s+/g, " ") ?? undefined
}

/** Undefined while it runs, and for ever when the wrapper was killed. */
export function readEnding(directory: string): Ending | undefined {
  const line = readLine(join(directory, "exit"))
  return line ? toEnding(Number(line)) : undefined
}

/** Whether the watcher stopped it for its output while Meanwhile was down. */
export function wasOverLimit(directory: string): boolean {
  return readLine(join(directory, "over")) !== undefined
}

/** Takes the right to run away from a wrapper that has not claimed it. False when it was faster. */
export function forbidRun(directory: string): boolean {
  try {
    writeFileSync(join(directory, "pid"), `${FORBIDDEN}\n`, { flag: "wx", mode: 0o600 })
    return true
  } catch {
    return false
  }
}

const FORBIDDEN = "forbidden"

/** Undefined when there is no file, null when its line is not complete. */
function readLine(path: string): string | null | undefined {
  try {
    const text = readFileSync(path, "latin1")
    return text.endsWith("\n") ? text.trim() : null
  } catch {
    return undefined
  }
}
