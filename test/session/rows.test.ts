import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test } from "vitest"

const LAST_ROW = 75

/** Rows of the framework's specification that were decided otherwise: `docs/decisions` says why. */
const DECIDED_OTHERWISE = [14, 22, 25, 31, 35, 73]

/** Rows that a file of another suite shows. */
const ELSEWHERE: Readonly<Record<number, string>> = {
  61: "test/cli/second-program.slow.test.ts",
  62: "test/plugin/background-capable.test.ts",
  68: "test/cli/agents-on-screen.slow.test.ts",
  70: "test/cli/agents-on-screen.slow.test.ts",
}

const FOLDER = "test/session"
const tests = readdirSync(FOLDER)
  .filter((name) => name.endsWith(".test.ts") && name !== "rows.test.ts")
  .map((name) => readFileSync(join(FOLDER, name), "utf8"))
  .join("\n")

const rows = Array.from({ length: LAST_ROW }, (_, index) => index + 1).filter((row) => !DECIDED_OTHERWISE.includes(row))
const toName = (row: number): string => `004-${String(row).padStart(2, "0")}`
/** True if the name of a test, or a row of a table of tests, begins with the row's name. */
const isNamed = (row: number, where = tests): boolean => where.includes(`"${toName(row)}: `)

describe("every row of the framework's specification", () => {
  test.each(rows.map((row) => [toName(row), row] as const))("%s has a test that names it", (_, row) => {
    const elsewhere = ELSEWHERE[row]
    expect(isNamed(row, elsewhere && readFileSync(elsewhere, "utf8"))).toBe(true)
  })
})

test("no test names a row that does not exist, and none names a row twice", () => {
  const named = [...tests.matchAll(/"004-(\d\d): /g)].map(([, row]) => Number(row))
  expect(named.filter((row) => !rows.includes(row))).toEqual([])
  expect(named.filter((row, index) => named.indexOf(row) !== index)).toEqual([])
})
