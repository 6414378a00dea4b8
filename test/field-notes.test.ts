import { readdirSync, readFileSync } from "node:fs"
import { describe, expect, test } from "vitest"
import { AGENT_ROWS } from "./support/field-notes/agent-rows.ts"
import { RESULT_ROWS } from "./support/field-notes/result-rows.ts"

/** Rows about the lifecycle and about output: each is a file of its own here, named for the row. */
const OWN_FILES: Readonly<Record<string, number>> = { a: 13, b: 7 }

const ROWS = { ...RESULT_ROWS, ...AGENT_ROWS }

/** Human answers to workflows, and workflows after a crash: their rows come with workflows. */
const WITH_WORKFLOWS = ["D6", "D7"]

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

  test("row by row, but those that come with workflows", () => {
    const all = [...toRows("C", 18), ...toRows("D", 10)]
    expect([...Object.keys(ROWS), ...WITH_WORKFLOWS].toSorted()).toEqual(all.toSorted())
  })
})

function read(file: string): string {
  return readFileSync(file, "utf8")
}

/** The name of a test or of a group of tests begins with it; none is left out of a run. */
function isNamed(source: string, name: string): boolean {
  return ['"', "`", "'"].some((quote) => source.includes(`${quote}${name}`)) && !/\b(?:skip|todo|only)\b\(/.test(source)
}
