import { spawn } from "node:child_process"
import { mkdirSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { MeanwhileError } from "../../src/base/error.ts"
import { sampleDetails } from "../../src/engine/suite/samples.ts"
import { readFacts } from "../../src/runner/process/process-file.ts"
import { readBootId } from "../../src/runner/process/identity.ts"
import { readProcess } from "../../src/runner/process/table.ts"
import { reclaimRun } from "../../src/runner/recover/reclaim-run.ts"
import type { RunnerScope } from "../../src/runner/admit/scope.ts"
import { createWorkerId } from "../../src/task/id.ts"
import type { TaskSummary } from "../../src/task/record.ts"
import { createTestSpool, type TestSpool } from "../support/spool.ts"

const lost = createWorkerId()

/** The parts of a runner that reclaim a run of a tool that finds its processes again. */
function toScope({ spool }: TestSpool, commit: () => Promise<unknown>): RunnerScope {
  return {
    spool,
    engine: {},
    store: { commit, steps: async () => [], task: async () => undefined },
    config: { outputLimitBytes: 1_000, stopGraceSeconds: 1 },
    worker: { id: createWorkerId() },
    active: { entering: new Set() },
    tools: { find: () => ({ tool: { reattaches: true } }) },
  } as unknown as RunnerScope
}

function toTask({ taskId }: TestSpool): TaskSummary {
  return {
    ...sampleDetails({ id: taskId }),
    status: "running",
    worker: lost,
    run: 1,
    fence: 1,
  } as unknown as TaskSummary
}

/** True if the spool still has the object that the run had before. */
const isOpen = ({ spool, taskId, run }: TestSpool): boolean =>
  spool.openRun(taskId, 1, { outputLimitBytes: 1_000 }) === run

test("a reclaimed run that started no process is not kept open", async () => {
  const place = createTestSpool()
  mkdirSync(join(place.directory, place.taskId, "1"), { recursive: true })
  await reclaimRun(
    toScope(place, async () => []),
    toTask(place),
    lost,
  )
  expect(isOpen(place)).toBe(false)
})

test("a reclaimed run whose processes never ran is not kept open", async () => {
  const place = createTestSpool()
  place.run.keep()
  place.run.write("it has a folder\n")
  await place.run.flush()
  await reclaimRun(
    toScope(place, async () => []),
    toTask(place),
    lost,
  )
  expect(isOpen(place)).toBe(false)
})

test("a run that another worker was faster to take over is not kept open", async () => {
  const place = createTestSpool()
  place.run.keep()
  place.run.write("it has a folder\n")
  await place.run.flush()
  const pid = spawn("sleep", ["60"], { stdio: "ignore", env: { MEANWHILE_TASK: `${place.taskId}/1/1` } }).pid ?? 0
  onTestFinished(() => void process.kill(pid, "SIGKILL"))
  const claim = `claim ${pid} 1000 ${readBootId()} 1 | 1 | x\nstart ${readProcess(pid)?.startedAt}\n`
  writeFileSync(join(place.directory, place.taskId, "1", "process-1"), claim)
  const refuse = () => Promise.reject(new MeanwhileError("stale_claim", "Another worker has it."))
  await reclaimRun(toScope(place, refuse), toTask(place), lost)
  expect(isOpen(place)).toBe(false)
})

test("a run is not decided about while its suspended worker cannot be kept from starting a command", async () => {
  const place = createTestSpool()
  const folder = join(place.directory, place.taskId)
  // No folder can be made below a file, not even by root.
  writeFileSync(folder, "")
  let commits = 0
  const scope = toScope(place, async () => {
    commits += 1
    return []
  })
  const reclaim = () => reclaimRun(scope, toTask(place), lost)
  await expect(reclaim()).rejects.toThrow("ENOTDIR")
  await expect(reclaim()).rejects.toThrow("ENOTDIR")
  expect(commits).toBe(0)
  rmSync(folder)
  await reclaim()
  expect(commits).toBe(1)
  expect(isOpen(place)).toBe(false)
})

test("a run that is asked twice whether it left something here gives the same answer, and starts nothing", () => {
  const { spool, taskId, directory } = createTestSpool()
  expect([spool.forbidIfNothingLeft(taskId, 1), spool.forbidIfNothingLeft(taskId, 1)]).toEqual([false, false])
  expect(readFacts(join(directory, taskId, "1", "process-1"))).toMatchObject({ claim: "forbidden" })
  writeFileSync(join(directory, taskId, "1", "output"), "")
  expect(spool.forbidIfNothingLeft(taskId, 1)).toBe(true)
})
