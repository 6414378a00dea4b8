import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { expect, test } from "vitest"
import { findExpectedOutput, toOutputPattern } from "./support/documents/expected-output.ts"
import { runProgram } from "./support/documents/run-program.ts"

const folder = fileURLToPath(new URL("../examples", import.meta.url))
const examples = readdirSync(folder).filter((name) => name.endsWith(".ts"))

test("examples are numbered from 01 without a gap", () => {
  expect(examples.map((name) => name.slice(0, 3))).toEqual(
    examples.map((_, index) => `${String(index + 1).padStart(2, "0")}-`),
  )
})

test.each(examples)("%s runs and prints what the comment at its end says", async (name) => {
  const path = join(folder, name)
  const expected = findExpectedOutput(readFileSync(path, "utf8"))
  expect(expected, "a comment at the end that begins with “/* Prints:”").toBeDefined()
  const workingDirectory = mkdtempSync(join(tmpdir(), "meanwhile-example-"))
  try {
    const printed = await runProgram(path, workingDirectory, ["--conditions=@meanwhile/source"])
    expect(printed.trim()).toMatch(toOutputPattern(expected ?? ""))
    expect(readdirSync(workingDirectory), "what it leaves behind for the next one").toEqual([])
  } finally {
    rmSync(workingDirectory, { recursive: true, force: true })
  }
})
