import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs"
import { describe, expect, test } from "vitest"
import { keptBytes, toCompactionSteps } from "../../src/runner/spool/output-cap.ts"
import { toRunPaths } from "../../src/runner/spool/run-paths.ts"
import { createTaskId } from "../../src/task/id.ts"
import { eventually } from "../support/eventually.ts"
import { stateOf } from "../support/processes.ts"
import { createTestSpool, NEVER_STOPPED, readAll, toShell } from "../support/spool.ts"

/** Lines of ten bytes that say where they are: the line at offset 10 n is n. */
const COUNTER = "i=0; while :; do printf '%09d\\n' $i; i=$((i+1)); done"

function expectToSayWhereItIs(text: string, offset: number): void {
  const first = Math.ceil(offset / 10)
  const lines = text.slice(first * 10 - offset).match(/.{9}\n/gs) ?? []
  expect(lines.length).toBeGreaterThan(10)
  for (const [index, line] of lines.entries()) {
    if (Number(line) !== first + index) expect(line).toBe(`${String(first + index).padStart(9, "0")}\n`)
  }
}

describe("B2. An endless writer meets the cap; the newest output is kept; the disk is not filled", () => {
  test("every byte that is kept is where its offset says, while it is written and after", async () => {
    const dropped: number[] = []
    const { run } = createTestSpool({ outputLimitBytes: 100_000, onDropped: (before) => dropped.push(before) })
    const abort = new AbortController()
    const ended = run.runProcess(toShell(COUNTER), { ...NEVER_STOPPED, signal: abort.signal })
    await eventually("it was cut a few times", async () => {
      const chunk = await run.read({ limitBytes: 4_000 })
      if (chunk.text.length > 200) expectToSayWhereItIs(chunk.text, chunk.offset)
      return dropped.length >= 4
    })
    abort.abort()
    expect((await ended).survivors).toEqual([])
    const all = await run.read({ limitBytes: 8_000_000 }, { isComplete: true })
    expect(all).toMatchObject({ isComplete: true, droppedBefore: dropped.at(-1), offset: dropped.at(-1) })
    expectToSayWhereItIs(all.text, all.offset)
  })

  test("a writer as fast as the machine does not grow the file for long", async () => {
    const dropped: number[] = []
    const { run, directory, taskId } = createTestSpool({
      outputLimitBytes: 1_000_000,
      onDropped: (before) => dropped.push(before),
    })
    const abort = new AbortController()
    const ended = run.runProcess(toShell("exec yes"), { ...NEVER_STOPPED, signal: abort.signal })
    await eventually("it was cut", () => dropped.length >= 2)
    expect(dropped.at(-1)).toBeGreaterThan(1_000_000)
    abort.abort()
    await ended
    await run.close()
    expect(readdirSync(`${directory}/${taskId}/1`).filter((name) => name.startsWith("segment")).length).toBe(1)
  })

  test("what a tool prints meets it as well, in memory and on disk", async () => {
    const { run, directory, taskId } = createTestSpool({ outputLimitBytes: 10_000 })
    const text = Array.from({ length: 10_000 }, (_, index) => `${String(index).padStart(9, "0")}\n`).join("")
    for (let start = 0; start < 50_000; start += 1_000) run.write(text.slice(start, start + 1_000))
    expectToSayWhereItIs((await run.read()).text, 40_000)
    run.keep()
    for (let start = 50_000; start < 100_000; start += 1_000) {
      run.write(text.slice(start, start + 1_000))
      await run.flush()
    }
    await run.close()
    const chunk = await run.read({}, { isComplete: true })
    expect(chunk.totalBytes).toBe(100_000)
    expectToSayWhereItIs(chunk.text, chunk.offset)
    expect(keptBytes(toRunPaths(directory, taskId, 1))).toBeLessThanOrEqual(11_000)
  })

  test.each([0, 1, 2, 3, 4, 5])(
    "a crash after %i steps of a cut loses and repeats nothing that is kept",
    async (count) => {
      const { directory, taskId, reopen } = createTestSpool()
      const paths = toRunPaths(directory, taskId, 1)
      const text = Array.from({ length: 300 }, (_, index) => `${String(index).padStart(9, "0")}\n`).join("")
      const { spool, run } = reopen()
      run.keep()
      run.write(text.slice(0, 2_000))
      await run.flush()
      // A whole cut comes first, so that there is an older segment, too.
      for (const step of toCompactionSteps(paths, 1_000)) await step()
      run.write(text.slice(2_000))
      await run.flush()
      for (const step of toCompactionSteps(paths, 1_500).slice(0, count)) await step()

      async function expectWhole(): Promise<void> {
        const chunk = await spool.read(taskId, 1, {}, { isComplete: true })
        expect(chunk.totalBytes).toBe(3_000)
        expect(chunk.offset).toBe(count < 3 ? 1_000 : 1_500)
        expect(chunk.text).toBe(text.slice(chunk.offset))
      }
      await expectWhole()
      const { run: restarted } = reopen()
      expect(await restarted.reattach()).toBe("never_ran")
      await expectWhole()
      expect(readdirSync(paths.directory).filter((name) => name.startsWith("segment"))).toHaveLength(1)
      restarted.write("more")
      await restarted.flush()
      const chunk = await restarted.read({ offset: 2_990 }, { isComplete: true })
      expect(chunk).toMatchObject({ text: "000000299\nmore", totalBytes: 3_004, isComplete: true })
    },
  )

  test("a crash while the processes are held leaves them to the next start, which lets them go on", async () => {
    const { run, directory, taskId, reopen } = createTestSpool()
    const ended = run.runProcess(toShell("echo ready; until [ -e go ]; do sleep 0.01; done; echo gone on"), {
      ...NEVER_STOPPED,
    })
    await eventually("it is ready", async () => (await readAll(run)).includes("ready"))
    const [pid = 0] = run.pids()
    writeFileSync(toRunPaths(directory, taskId, 1).paused, "")
    process.kill(-pid, "SIGSTOP")
    await eventually("it is held", () => stateOf(pid) === "T")
    expect(await reopen().run.reattach()).toBe("reattachable")
    await eventually("it goes on", () => stateOf(pid) !== "T")
    expect(existsSync(toRunPaths(directory, taskId, 1).paused)).toBe(false)
    process.kill(-pid, "SIGTERM")
    await ended
  })
})

describe("B2. A full disk fails that task with a clear error and nothing else", () => {
  test("a tool whose output cannot be written: here the file is a device that is always full", async () => {
    const { run, spool, directory, taskId } = createTestSpool()
    mkdirSync(`${directory}/${taskId}/1`, { recursive: true })
    symlinkSync("/dev/full", `${directory}/${taskId}/1/output`)
    run.keep()
    run.write("lost")
    await expect(run.flush()).rejects.toMatchObject({ code: "disk_full", message: expect.stringContaining("full") })
    run.write("also lost")
    await expect(run.flush()).rejects.toMatchObject({ code: "disk_full" })
    const other = spool.openRun(createTaskId(), 1, { outputLimitBytes: 1_000 })
    other.keep()
    other.write("kept")
    await other.flush()
    expect(await readAll(other)).toBe("kept")
  })
})
