import { expect, test } from "vitest"
import type { TaskSummary } from "../../../../task/record.ts"
import { toListText } from "./task-list.ts"

const toTask = (number: number) =>
  ({
    id: `${String(number).padStart(8, "0")}-0000-4000-8000-000000000000`,
    status: "queued",
    resumeCount: 0,
    title: 'a title\nwith "two" lines',
    batch: null,
    startedAt: null,
  }) as unknown as TaskSummary

test("a list of many tasks shows the newest hundred, and says how many it leaves out", () => {
  const lines = toListText(
    Array.from({ length: 130 }, (_, index) => ({ task: toTask(index), above: null, depth: 0 })),
  ).split("\n")
  expect(lines).toHaveLength(102)
  expect(lines.at(1)).toBe('00000000 | running, in the queue | "a title with \\"two\\" lines" | - | not yet')
  expect(lines.at(-1)).toBe("30 older ones are not shown: ask for a status or a batch.")
})

test("a list of no task says so", () => {
  expect(toListText([])).toBe("There are no background tasks.")
})
