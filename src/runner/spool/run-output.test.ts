import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setImmediate as nextTurn } from "node:timers/promises"
import { expect, onTestFinished, test } from "vitest"
import { createOutputAppender } from "./run-output.ts"

test("bytes appended at any moment of a write are written, and a flush waits for them", async () => {
  const folder = mkdtempSync(join(tmpdir(), "meanwhile-test-"))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const path = join(folder, "output")
  const appender = createOutputAppender(path, () => {})
  let expected = ""
  for (let round = 0; round < 200; round++) {
    for (let turn = 0; turn < round % 7; turn++) await nextTurn()
    expected += `${round}\n`
    appender.append(Buffer.from(`${round}\n`))
  }
  await appender.flush()
  expect(readFileSync(path, "utf8")).toBe(expected)
})
