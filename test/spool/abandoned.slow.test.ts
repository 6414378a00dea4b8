import { existsSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { eventually } from "../support/eventually.ts"
import { processesOf } from "../support/processes.ts"
import { createTestSpool, NEVER_STOPPED, readAll, toShell } from "../support/spool.ts"

const LIMIT_BYTES = 100_000
const ENDLESS = `while :; do echo "${"x".repeat(10_000)}"; sleep 0.001; done`

test("output that another worker has taken over is cut by that one alone", async () => {
  const dropped: number[] = []
  const { run, reopen } = createTestSpool({
    outputLimitBytes: LIMIT_BYTES,
    onDropped: (before) => dropped.push(before),
  })
  const refused = expect(run.runProcess(toShell(ENDLESS), NEVER_STOPPED)).rejects.toMatchObject({ code: "stale_claim" })
  await eventually("it is cut", () => dropped.length > 0)
  run.abandon()
  const droppedBefore = dropped.length
  const taken: number[] = []
  const next = reopen({ outputLimitBytes: LIMIT_BYTES * 10, onDropped: (before) => taken.push(before) })
  expect(await next.run.reattach()).toBe("reattachable")
  await run.close()
  await eventually("it is cut by the other one", () => taken.length > 0)
  expect(dropped).toHaveLength(droppedBefore)
  expect(await next.run.stopAll(100)).toEqual([])
  await refused
})

test("a cut asks first whether the run is still this worker's", async () => {
  let isOurs = true
  const dropped: number[] = []
  const { spool, taskId } = createTestSpool()
  const run = spool.openRun(taskId, 2, {
    outputLimitBytes: LIMIT_BYTES,
    onDropped: (before) => dropped.push(before),
    isOurs: async () => isOurs,
  })
  const abort = new AbortController()
  const ended = run.runProcess(toShell(ENDLESS), { signal: abort.signal, graceMs: 100 })
  await eventually("it is cut", () => dropped.length > 0)
  isOurs = false
  const droppedBefore = dropped.length
  await eventually("it is longer than it may be", async () => {
    const { totalBytes, offset } = await run.read()
    return totalBytes - offset > LIMIT_BYTES * 2
  })
  expect(dropped.length).toBeLessThanOrEqual(droppedBefore + 1)
  abort.abort()
  await ended
  expect(processesOf(taskId)).toEqual([])
})

test("output that is written after the run was lost is kept nowhere", async () => {
  const { run, reopen, directory, taskId } = createTestSpool()
  run.keep()
  run.write("before\n")
  await run.flush()
  run.write("not yet in the file\n")
  run.abandon()
  run.write("after\n")
  await expect(run.runProcess(toShell("echo never"), NEVER_STOPPED)).rejects.toMatchObject({ code: "stale_claim" })
  await run.close()
  expect(await readAll(reopen().run)).toBe("before\n")
  expect(existsSync(join(directory, taskId, "1", "process-1"))).toBe(false)
})
