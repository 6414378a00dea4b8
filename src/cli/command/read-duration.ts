import { MeanwhileError } from "../../base/error.ts"
import { toLine } from "../format/format.ts"

const UNITS_MS: readonly (readonly [names: readonly string[], ms: number])[] = [
  [["ms"], 1],
  [["s", "sec", "secs", "second", "seconds"], 1_000],
  [["m", "min", "mins", "minute", "minutes"], 60_000],
  [["h", "hour", "hours"], 3_600_000],
  [["d", "day", "days"], 86_400_000],
]
const WHOLE = /^(?:\d+(?:\.\d+)?\s*[a-z]+\s*)+$/
const PART = /(\d+(?:\.\d+)?)\s*([a-z]+)/g
const EXAMPLES = "Write seconds (90), or numbers with units: 90s, 30m, 1h30m, 2d"

/** Reads `90` (seconds), `90s`, `30m`, `1h30m` or `2d`, in milliseconds. Refuses anything else, and a time of 0. */
export function readDurationMs(text: string, also = ""): number {
  const wanted = text.trim().toLowerCase()
  const durationMs = /^\d+(?:\.\d+)?$/.test(wanted) ? Number(wanted) * 1_000 : sumParts(wanted)
  if (durationMs > 0 && Number.isFinite(durationMs)) return durationMs
  const problem = durationMs === 0 ? "is no time at all" : "is no time that can be read"
  throw new MeanwhileError("invalid_input", `${JSON.stringify(toLine(text))} ${problem}. ${EXAMPLES}${also}.`)
}

const NONE: ReadonlySet<string> = new Set(["none", "no", "off"])

/** As `readDurationMs`. Null for `none`: no limit. */
export function readLimitMs(text: string): number | null {
  return NONE.has(text.trim().toLowerCase()) ? null : readDurationMs(text, "; none for no limit")
}

/** NaN if the text is no sequence of numbers with units. */
function sumParts(text: string): number {
  if (!WHOLE.test(text)) return Number.NaN
  return [...text.matchAll(PART)].reduce((sum, [, count = "", unit = ""]) => {
    const found = UNITS_MS.find(([names]) => names.includes(unit))
    return sum + Number(count) * (found?.[1] ?? Number.NaN)
  }, 0)
}
