import { expect, test } from "vitest"
import { formatWorkers, type WorkerRow } from "./format-worker.ts"

function toRow(concurrency: number, more: object = {}, announced: object = {}): WorkerRow {
  const plain = { since: 0, concurrency, takes: "own", kinds: ["tool"], plugins: {}, isLeaving: false }
  const announcement = { ...plain, ...announced }
  const worker = { id: "1f0c5a7e", host: "desk", pid: 1, where: "machine", running: 1, announcement }
  return { ...worker, ...more } as unknown as WorkerRow
}

test("a chat that runs no tasks from the queue is shown with the call that it runs, and as one that takes nothing", () => {
  const [head, some, none] = formatWorkers([toRow(3), toRow(0)], 1_000, 200).split("\n")
  expect(head).toMatch(/ pid +up +runs /)
  expect(some).toMatch(/ 1 of 3 +its own$/)
  expect(none).toMatch(/ 1 +nothing$/)
})

test("a narrow screen shows each worker's process, what it runs, takes and waits for, however long its host is called", () => {
  const host = "ip-10-0-12-34.eu-central-1.compute.internal"
  const plugins = { permission: [], shell: [], file_edit: [], web: [] }
  const all = { takes: "all", kinds: ["tool", "agent", "workflow", "turn"], plugins }
  const rows = [
    toRow(10, { host, pid: 4_194_303, endsWhenIdle: true }, all),
    toRow(10, { host }, { ...all, kinds: ["agent", "turn"] }),
  ]
  const lines = formatWorkers(rows, 3_599_000, 80).split("\n")
  for (const line of lines) expect(line.length).toBeLessThanOrEqual(80)
  expect(lines[1]).toMatch(
    /^1f0c5a7e {2}ip-10-.*….*\(here\) {2}4194303 {2}59 min 59 s {2}1 of 10 {2}all kinds until idle/,
  )
  expect(lines[2]).toMatch(/\(here\) {2}1 .* 1 of 10 {2}agent, turn/)
  expect(formatWorkers(rows, 0, 200)).toContain(`${host} (here)  4194303`)
})
