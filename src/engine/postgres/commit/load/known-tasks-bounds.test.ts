import { expect, test } from "vitest"
import type { JsonValue } from "../../../../base/json.ts"
import { NO_USAGE, type Progress } from "../../../../task/progress.ts"
import { sampleDetails, WORKER } from "../../../suite/samples.ts"
import { createKnownTasks, type KnownTasks } from "./known-tasks.ts"
import type { TaskEntry } from "../working-set/task-rows.ts"

/** A megabyte in memory, of which somewhat fewer than 16 are kept. */
const MEGABYTE = "x".repeat(512 * 1_024)

function learn(known: KnownTasks, input: JsonValue): TaskEntry {
  const times = { createdAt: 1, queuedAt: 1, startedAt: 1, ranMs: 0, retrievedAt: null, strippedAt: null }
  const course = { ...times, run: 1, fence: 1, lastSequence: 1, progress: null, usage: NO_USAGE, resumeCount: 0 }
  const state = { status: "running", worker: WORKER } as const
  const task = { number: 1, details: sampleDetails({ input }), course, state, hasLargeInput: false }
  const after = { task, hasUnusedResult: false, usedAt: null }
  known.learn("1", [{ before: undefined, after }])
  return after
}

function tell(known: KnownTasks, before: TaskEntry, line: string): TaskEntry {
  const progress: Progress = { done: null, total: null, phase: null, line }
  const after = { ...before, task: { ...before.task, course: { ...before.task.course, progress } } }
  known.learn("2", [{ before, after }])
  return after
}

function isKnown(known: KnownTasks, entry: TaskEntry): boolean {
  return known.find(entry.task.details.id) !== undefined
}

test("of many small tasks, the thousand that were touched last are known", () => {
  const known = createKnownTasks()
  const touched = learn(known, "touched")
  const [first, ...others] = Array.from({ length: 999 }, (_, index) => learn(known, index))
  tell(known, touched, "still here")
  const last = learn(known, "one more")
  expect(first && isKnown(known, first)).toBe(false)
  expect([touched, ...others, last].every((entry) => isKnown(known, entry))).toBe(true)
})

test("of large ones, as many of the last as fit into the bytes they may take", () => {
  const known = createKnownTasks()
  const entries = Array.from({ length: 40 }, () => learn(known, { text: MEGABYTE }))
  const kept = entries.filter((entry) => isKnown(known, entry))
  expect(kept).toEqual(entries.slice(-15))
})

test("what one is told of counts as well, and no more once it is forgotten", () => {
  const known = createKnownTasks()
  for (let round = 0; round < 3; round += 1) {
    let entry = learn(known, round)
    for (let line = 0; line < 40; line += 1) entry = tell(known, entry, MEGABYTE)
    const others = Array.from({ length: 14 }, () => learn(known, MEGABYTE))
    expect([entry, ...others].every((one) => isKnown(known, one))).toBe(true)
    learn(known, MEGABYTE)
    expect(isKnown(known, entry)).toBe(false)
  }
})

test("one that is larger than all may be together is not known, and drives nobody out", () => {
  const known = createKnownTasks()
  const small = learn(known, "small")
  const large = learn(
    known,
    Array.from({ length: 17 }, () => MEGABYTE),
  )
  expect([isKnown(known, large), isKnown(known, small)]).toEqual([false, true])
})
