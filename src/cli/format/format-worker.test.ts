import { expect, test } from "vitest"
import { formatWorkers, type WorkerRow } from "./format-worker.ts"

function toRow(concurrency: number): WorkerRow {
  const announcement = { since: 0, concurrency, takes: "own", kinds: ["tool"], plugins: {}, isLeaving: false }
  return { id: "1f0c5a7e", host: "desk", pid: 1, where: "machine", running: 1, announcement } as unknown as WorkerRow
}

test("a chat that runs no tasks from the queue is shown with the call that it runs, and as one that takes nothing", () => {
  const [head, some, none] = formatWorkers([toRow(3), toRow(0)], 1_000, 200).split("\n")
  expect(head).toMatch(/ pid +up +runs /)
  expect(some).toMatch(/ 1 of 3 +its own$/)
  expect(none).toMatch(/ 1 +nothing$/)
})
