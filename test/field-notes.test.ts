import { globSync, readdirSync, readFileSync } from "node:fs"
import { describe, expect, test } from "vitest"
import { ON_ONE_ENGINE, ON_POSTGRES, slowOnPostgres } from "./support/engines.ts"
import { AGENT_ROWS } from "./support/field-notes/agent-rows.ts"
import { HARM_ROWS } from "./support/field-notes/harm-rows.ts"
import { PROGRAM_ROWS } from "./support/field-notes/program-rows.ts"
import { RESULT_ROWS } from "./support/field-notes/result-rows.ts"

/** Rows about the lifecycle and about output: each is a file of its own here, named for the row. */
const OWN_FILES: Readonly<Record<string, number>> = { a: 13, b: 7 }

const ROWS = { ...RESULT_ROWS, ...AGENT_ROWS, ...PROGRAM_ROWS, ...HARM_ROWS }

/** Rows about a part of Meanwhile that does not exist yet, each with the name of that part. */
const WAITING: Readonly<Record<string, string>> = {
  D6: "workflows: a person's answer that is late, given twice, given before the pause was stored, or by somebody else",
  D7: "workflows: one that is restarted after a kill repeats no finished node",
  E1: "the server: a disconnect is no cancel, and a reconnect continues without a gap",
  E2: "the server: a thousand viewers of one task cost one reader of the store",
  E3: "the server: a slow viewer is cut at a bounded buffer",
  E4: "the server: a stop before the run started, after a reload, and twice",
  E5: "the server: no job exists after a refusal, and a job of another workspace is not found",
  E6: "the server: a request that is not well formed is refused in one shape, and nothing is stored",
}

/** Rows about parts of Meanwhile that exist, for which no test is listed yet. */
const UNSHOWN: Readonly<Record<string, string>> = {
  F8: "harm: a file that is read and a page that is fetched without a question carry nothing away",
  F10: "harm: a variable with an odd name is not in `argv`, and the first `sslmode` counts",
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

  test("on both engines, but for the files that are listed with the reason", () => {
    const runs = [ON_POSTGRES, slowOnPostgres(false)].flatMap(({ include, exclude }) => globSync(include, { exclude }))
    const own = files.map((name) => `test/field-notes/${name}`)
    const all = new Set([...own, ...Object.values(ROWS).flatMap((shown) => shown.map(([file]) => file))])
    expect(runs.length).toBeGreaterThan(200)
    expect([...all].filter((file) => !runs.includes(file)).toSorted()).toEqual(Object.keys(ON_ONE_ENGINE).toSorted())
  })

  test("row by row: each is shown, or listed as open, and none is both", () => {
    const last = { C: 18, D: 10, E: 6, F: 11, G: 5, H: 7 }
    const all = Object.entries(last).flatMap(([letter, number]) => toRows(letter, number))
    expect([ROWS, WAITING, UNSHOWN].flatMap(Object.keys).toSorted()).toEqual(all.toSorted())
  })
})

function read(file: string): string {
  return readFileSync(file, "utf8")
}

/** True if a test or a group of tests in the source begins with the name, and the source leaves no test out of a run. */
function isNamed(source: string, name: string): boolean {
  return ['"', "`", "'"].some((quote) => source.includes(`${quote}${name}`)) && !/\b(?:skip|todo|only)\b\(/.test(source)
}
