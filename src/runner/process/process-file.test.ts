import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { createManualClock } from "../../base/manual-clock.ts"
import { forbidRun, noteStart, readFacts } from "./process-file.ts"

function createPath(): string {
  const folder = mkdtempSync(join(tmpdir(), "meanwhile-process-file-"))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return join(folder, "0")
}

test("the start of a process is noted once its slow wrapper has claimed the file, and only once", () => {
  const path = createPath()
  const clock = createManualClock()
  noteStart(path, 1, "12345", clock)
  clock.advance(100)
  expect(readFacts(path)).toBeUndefined()
  writeFileSync(path, "claim 1 0 boot owner\n")
  clock.advance(200)
  expect(readFacts(path)).toMatchObject({ startedAt: "12345" })
  writeFileSync(path, "claim 1 0 boot owner\n")
  clock.advance(60_000)
  expect(readFacts(path)).toMatchObject({ startedAt: undefined })
})

test("a cancelled note is not written, and noting a start never creates the file", () => {
  const path = createPath()
  const clock = createManualClock()
  noteStart(path, 1, "12345", clock)
  clock.advance(600_000)
  expect(readFacts(path)).toBeUndefined()
  const giveUp = noteStart(path, 1, "12345", clock)
  clock.advance(50)
  giveUp()
  writeFileSync(path, "claim 1 0 boot owner\n")
  clock.advance(60_000)
  expect(readFacts(path)).toMatchObject({ startedAt: undefined })
})

test("the start of a wrapper is not noted in the file that another wrapper has claimed", () => {
  const path = createPath()
  const clock = createManualClock()
  writeFileSync(path, "claim 1 0 boot owner\n")
  noteStart(path, 2, "12345", clock)
  clock.advance(60_000)
  expect(readFacts(path)).toMatchObject({ claim: { pid: 1 }, startedAt: undefined })
})

test("forbidding a run leaves a claimed file alone, and throws where no file can be made", () => {
  const path = createPath()
  writeFileSync(path, "claim 1 0 boot owner\n")
  forbidRun(path)
  expect(readFacts(path)).toMatchObject({ claim: { pid: 1 } })
  expect(() => forbidRun(join(path, "process-1"))).toThrow("ENOTDIR")
})
