/** Fixed ids that stand in for the real ones, in the order in which those appear. */
const IDS = ["3f1c2a90", "b07d4e11", "5a92c6f3", "e81b7d04", "94d0f2ac", "c63e8b57", "17fa05d9", "d24c91e6"] as const
const ID = /\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|\b[0-9a-f]{8}\b/g
const DURATION = /\b\d+(?:\.\d)? m?s\b/
const SHORT = "0.1 s"
/** Lines that are left out: what a turn took, and that a line was queued because the turn before was not quite over. */
const PASSING = /^(?:offline\/rules · |\(queued: )/
const CALL_END = /^✓ start_task /

/** Fixed durations by the line that shows one. The first pattern that fits counts. */
export type Durations = readonly (readonly [RegExp, string])[]

/**
 * The same text for the same session: ids, durations and what a turn took are different each time, and calls that run at
 * once end in any order.
 */
export function toNormalText(lines: readonly string[], durations: Durations): string {
  const told = lines.filter((line) => !PASSING.test(line)).map((line) => withDuration(line, durations))
  const known = new Map<string, string>()
  return sortRuns(told, CALL_END)
    .join("\n")
    .replaceAll(ID, (id) => {
      const short = id.slice(0, 8)
      const name = known.get(short) ?? IDS[known.size] ?? "00000000"
      known.set(short, name)
      return id.length > short.length ? `${name}-…` : name
    })
}

function withDuration(line: string, durations: Durations): string {
  const [, duration = SHORT] = durations.find(([pattern]) => pattern.test(line)) ?? []
  return line.replace(DURATION, duration)
}

/** Sorts neighbouring lines that fit the pattern by the text behind their last colon. */
function sortRuns(lines: readonly string[], pattern: RegExp): readonly string[] {
  const sorted: string[] = []
  let run: string[] = []
  for (const line of [...lines, ""]) {
    if (pattern.test(line)) {
      run.push(line)
      continue
    }
    sorted.push(...run.toSorted((one, other) => titleOf(one).localeCompare(titleOf(other))), line)
    run = []
  }
  return sorted.slice(0, -1)
}

function titleOf(line: string): string {
  return line.slice(line.lastIndexOf(": "))
}
