import { readFileSync } from "node:fs"
import { describe, expect, test } from "vitest"

const LAST_ROW = 62

/** The file of the test whose name begins with the row. */
const SHOWN_IN: Readonly<Record<string, readonly number[]>> = {
  "test/session/reports-rows.test.ts": [2, 6, 8, 10, 11, 12, 33, 42, 50, 51, 53],
  "test/session/turn-context.test.ts": [7, 46, 47, 55, 57],
  "test/session/reports-trajectory.test.ts": [3, 5, 13, 14, 15, 40, 48],
  "test/session/saved-results.test.ts": [16, 17],
  "test/session/reports-request.test.ts": [9, 18, 19, 20, 21, 22, 23, 24, 25, 26, 41, 54],
  "test/session/reports-generator.test.ts": [28],
  "test/session/reports-default.test.ts": [1, 27, 29, 30, 31, 32],
  "test/session/reports-config.test.ts": [34, 35, 36, 37, 38, 39],
  "test/session/reports-program.test.ts": [44, 45],
  "test/background/penguiflow.test.ts": [43, 49, 58, 59, 60, 61],
  "test/background/penguiflow-apply.test.ts": [62],
}

/** Deferred by the design itself: a protocol for front ends over the server. */
const DEFERRED = [4]

/** Rows about files and stored data of another repository. */
const NOTHING_TO_BUILD = [52, 56]

const toName = (row: number): string => `001-${String(row).padStart(2, "0")}`

describe.each(Object.entries(SHOWN_IN))("in %s", (file, rows) => {
  const text = readFileSync(file, "utf8")

  test.each(rows.map(toName))("a test names the row %s of the design of results that come back", (name) => {
    expect(text).toContain(`"${name}: `)
  })

  test("no other row is named", () => {
    const named = [...text.matchAll(/"001-(\d\d): /g)].map(([, row]) => Number(row))
    expect(named.toSorted((one, other) => one - other)).toEqual(rows.toSorted((one, other) => one - other))
  })
})

test("every row is shown once, or is said to need nothing", () => {
  const known = [...Object.values(SHOWN_IN).flat(), ...DEFERRED, ...NOTHING_TO_BUILD]
  const all = Array.from({ length: LAST_ROW }, (_, index) => index + 1)
  expect(known.toSorted((one, other) => one - other)).toEqual(all)
})
