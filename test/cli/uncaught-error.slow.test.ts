import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { expect, test } from "vitest"
import { startPiped } from "../support/program.ts"
import { createFolder } from "../support/workplace.ts"

test("an error that nobody catches is shown with its stack, without the code that threw it", async () => {
  const directory = createFolder()
  const path = join(directory, "loaded-first.mjs")
  const code = `/* ${"code ".repeat(2_000)} */ setTimeout(() => { throw new TypeError("boom") }, 1_500)`
  writeFileSync(path, code)
  const program = startPiped({ directory, environment: { NODE_OPTIONS: `--import ${pathToFileURL(path).href}` } })
  expect(await program.exited).toBe(1)
  expect(program.shown()).toMatch(/TypeError: boom\n +at .*loaded-first\.mjs/)
  expect(program.shown()).not.toContain("code code")
})
