import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test } from "vitest"

const LAST_ROW = 62

/** They name files of the repository they come from: there is nothing to build. */
const NOTHING_TO_BUILD = [52, 56]

/** A stream of a session over HTTP: there is no server yet. */
const NOT_YET = [4]

/** Rows that the program or a vocabulary shows, in these folders. */
const FOLDERS = ["test/session", "test/background", "test/cli"]
const tests = FOLDERS.flatMap((folder) =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".test.ts") && name !== "rows-001.test.ts")
    .map((name) => readFileSync(join(folder, name), "utf8")),
).join("\n")

const rows = Array.from({ length: LAST_ROW }, (_, index) => index + 1).filter((row) => !NOTHING_TO_BUILD.includes(row))
const toName = (row: number): string => `001-${String(row).padStart(2, "0")}`
/** The name of a test begins with it, or the row of a table of tests does. */
const isNamed = (row: number): boolean => tests.includes(`"${toName(row)}: `)

describe("every row of the specification of results that come back", () => {
  test.each(rows.filter((row) => !NOT_YET.includes(row)).map((row) => [toName(row), row] as const))(
    "%s has a test that names it",
    (_, row) => {
      expect(isNamed(row)).toBe(true)
    },
  )

  test("that is not there yet leaves the list once a test names it", () => {
    expect(NOT_YET.filter((row) => isNamed(row))).toEqual([])
  })
})

test("no test names a row that does not exist, and none names a row twice", () => {
  const named = [...tests.matchAll(/"001-(\d\d): /g)].map(([, row]) => Number(row))
  expect(named.filter((row) => !rows.includes(row))).toEqual([])
  expect(named.filter((row, index) => named.indexOf(row) !== index)).toEqual([])
})
