import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test } from "vitest"

const LAST_ROW = 34

/** Completion is tied to the turn that was asked for, not to a session being idle; the event of its end stays primary. */
const DECIDED_OTHERWISE = [28]

/** Shown by this file. */
const HERE = [33]

const SCENARIOS = [
  "Launch background task",
  "Track task completion",
  "Handle task errors",
  "Cancel running tasks",
  "Track resumed status",
  "Retrieve completed task results",
  "Check running task status",
  "Task persistence",
  "Monitor task progress",
  "Group related tasks",
  "Resume completed task with follow-up prompt",
  "Resume completion notification",
  "Wait for resume response",
  "Reject resume of non-completed task",
  "Reject concurrent resume",
  "Handle expired session on resume",
  "Increment resume count",
  "Initial resume count",
  "Detect completion via event",
  "Fallback to polling",
  "Show resumed indicator",
  "No indicator for new tasks",
]

const FOLDER = "test/background"
const tests = readdirSync(FOLDER)
  .filter((name) => /^opencode.*\.test\.ts$/.test(name))
  .map((name) => readFileSync(join(FOLDER, name), "utf8"))
  .join("\n")

const rows = Array.from({ length: LAST_ROW }, (_, index) => index + 1).filter((row) => !DECIDED_OTHERWISE.includes(row))
const toName = (row: number): string => `002-${String(row).padStart(2, "0")}`

describe("every row of the background-task specification", () => {
  test.each(rows.filter((row) => !HERE.includes(row)).map(toName))("%s has a test that names it", (name) => {
    expect(tests).toMatch(new RegExp(`["']${name}: `))
  })
})

describe("002-33: every scenario is a test", () => {
  test.each(SCENARIOS)("%s", (scenario) => {
    expect(tests).toContain(`describe("${scenario}", () => {\n  test(`)
  })
})

test("no test names a row that does not exist, and none names a row twice", () => {
  const named = [...tests.matchAll(/["']002-(\d\d): /g)].map(([, row]) => Number(row))
  expect(named.filter((row) => !rows.includes(row))).toEqual([])
  expect(named.filter((row, index) => named.indexOf(row) !== index)).toEqual([])
})
