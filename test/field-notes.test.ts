import { readdirSync, readFileSync } from "node:fs"
import { describe, expect, test } from "vitest"
import { AGENT_ROWS } from "./support/field-notes/agent-rows.ts"
import { RESULT_ROWS } from "./support/field-notes/result-rows.ts"

/** Rows about the lifecycle and about output: each is a file of its own here, named for the row. */
const OWN_FILES: Readonly<Record<string, number>> = { a: 13, b: 7 }

const ROWS = { ...RESULT_ROWS, ...AGENT_ROWS }

/** The rows that no test shows yet, each with the part of Meanwhile that has to exist first. */
const OPEN: Readonly<Record<string, string>> = {
  D6: "workflows: a person's answer that is late, given twice, given before the pause was stored, or by somebody else",
  D7: "workflows: one that is restarted after a kill repeats no finished node",
  E1: "the server: a disconnect is no cancel, and a reconnect continues without a gap",
  E2: "the server: a thousand viewers of one task cost one reader of the store",
  E3: "the server: a slow viewer is cut at a bounded buffer",
  E4: "the server: a stop before the run started, after a reload, and twice",
  E5: "the server: no job exists after a refusal, and a job of another workspace is not found",
  E6: "the server: a request that is not well formed is refused in one shape, and nothing is stored",
}

const toRows = (letter: string, last: number) => Array.from({ length: last }, (_, index) => `${letter}${index + 1}`)

describe("what others failed at is shown by tests", () => {
  const files = readdirSync("test/field-notes")

  test.each(Object.entries(OWN_FILES).flatMap(([letter, last]) => toRows(letter, last)))("%s", (row) => {
    const own = files.filter((name) => name.startsWith(`${row}-`))
    expect(own.filter((name) => isNamed(read(`test/field-notes/${name}`), `${row.toUpperCase()}. `))).toEqual(own)
    expect(own).not.toEqual([])
  })

  test.each(Object.entries(ROWS))("%s", (_row, shown) => {
    const missing = shown.flatMap(([file, ...names]) => names.filter((name) => !isNamed(read(file), name)))
    expect(missing).toEqual([])
  })

  test("row by row: each is shown, or listed as open, and none is both", () => {
    const all = [...toRows("C", 18), ...toRows("D", 10), ...toRows("E", 6)]
    expect([...Object.keys(ROWS), ...Object.keys(OPEN)].toSorted()).toEqual(all.toSorted())
  })
})

function read(file: string): string {
  return readFileSync(file, "utf8")
}

/** The name of a test or of a group of tests begins with it; none is left out of a run. */
function isNamed(source: string, name: string): boolean {
  return ['"', "`", "'"].some((quote) => source.includes(`${quote}${name}`)) && !/\b(?:skip|todo|only)\b\(/.test(source)
}
