import type { TaskEvent } from "../../../src/task/event.ts"

/**
 * What happened outside the process, one line each: `did KEY` when an effect happened, `done KEY` once the tool was told
 * that its step is finished. A key is `task/run/name`, and the end of the name says what a crash may do to it:
 * `-once` never repeats; `-retry` and `-ask` may happen again when the run was claimed again.
 */
export interface Effect {
  readonly what: "did" | "done"
  readonly key: string
  readonly taskId: string
  readonly run: number
  readonly name: string
}

export function parseEffects(text: string): readonly Effect[] {
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => {
      const [what = "", key = ""] = line.split(" ")
      // A command knows its place among the processes of its run too: whatever that is, it runs once.
      const [taskId = "", run = "", ...rest] = key.split("/")
      const name = rest.at(-1) ?? ""
      return { what: what === "did" ? "did" : "done", key: `${taskId}/${run}/${name}`, taskId, run: Number(run), name }
    })
}

const SLOW = "slow"
/** A worker takes over when a lease has been silent for a second, and a program looks at four fifths of it. */
const LONGEST_WRITE_MS = 200

/**
 * Writes an effect down by `append`. A busy machine may hold a program up there for longer than its lease, after the look
 * at the lease: then the program says that it stood still, as if it had been frozen.
 */
export function writeEffect(append: (line: string) => void, what: Effect["what"], key: string): void {
  const beganMs = performance.now()
  append(`${what} ${key} ${process.pid}\n`)
  if (performance.now() - beganMs > LONGEST_WRITE_MS) append(`${SLOW} ${process.pid}\n`)
}

/** The effects in a file of `writeEffect`, without the late ones of programs that stood still. */
export function parseWrittenEffects(text: string): readonly Effect[] {
  const { slow = [], other = [] } = Object.groupBy(text.split("\n"), (line) =>
    line.startsWith(`${SLOW} `) ? "slow" : "other",
  )
  const stoodStill = new Set(slow.map((line) => Number(line.slice(SLOW.length + 1))))
  return parseEffects(withoutLate(other, stoodStill).join("\n"))
}

/** How often each run was claimed: an effect that may be repeated happens at most once per claim. */
export function countClaims(events: readonly TaskEvent[], run: number): number {
  return events.filter((event) => event.run === run && event.body.type === "task.started").length
}

/** `claimsOf` is undefined for a call that never became a task. */
export function findRepeatedEffects(
  effects: readonly Effect[],
  claimsOf: (taskId: string, run: number) => number | undefined,
): readonly string[] {
  const violations: string[] = []
  const counts = new Map<string, number>()
  const finished = new Set<string>()
  for (const { what, key, taskId, run, name } of effects) {
    if (what === "done") {
      finished.add(key)
      continue
    }
    if (finished.has(key)) violations.push(`the finished step ${key} happened again`)
    const count = (counts.get(key) ?? 0) + 1
    counts.set(key, count)
    const most = name.endsWith("-once") ? 1 : (claimsOf(taskId, run) ?? 1)
    if (count > most) violations.push(`${key} happened ${count} times, at most ${most} are allowed`)
  }
  return violations
}

/**
 * Drops late effects. A process that is frozen between the look at its lease and the effect acts when it goes on, although
 * another worker has finished the step: no check closes this window, which is why effects are handed an idempotency key.
 * Only steps that may be repeated can come to that.
 */
export function withoutLate(lines: readonly string[], stoodStill: ReadonlySet<number>): readonly string[] {
  const finished = new Set<string>()
  return lines.filter((line) => {
    const [what = "", key = "", pid = ""] = line.split(" ")
    if (what === "done") finished.add(key)
    return !(what === "did" && finished.has(key) && !key.endsWith("-once") && stoodStill.has(Number(pid)))
  })
}
