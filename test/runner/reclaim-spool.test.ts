import { spawn } from "node:child_process"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { MeanwhileError } from "../../src/base/error.ts"
import { sampleDetails } from "../../src/engine/suite/samples.ts"
import { readBootId } from "../../src/runner/process/identity.ts"
import { readProcess } from "../../src/runner/process/table.ts"
import { reclaimRun } from "../../src/runner/recover/reclaim-run.ts"
import type { RunnerScope } from "../../src/runner/admit/scope.ts"
import { createWorkerId } from "../../src/task/id.ts"
import type { TaskSummary } from "../../src/task/record.ts"
import { createTestSpool, type TestSpool } from "../support/spool.ts"

const lost = createWorkerId()

/** As much of a runner as it takes to reclaim a run of a tool that finds its processes again. */
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

/** Whether the object that the run had before is still the one it has. */
const isOpen = ({ spool, taskId, run }: TestSpool): boolean =>
  spool.openRun(taskId, 1, { outputLimitBytes: 1_000 }) === run

test("a run that started no process is not kept open by whoever decides about it", async () => {
  const place = createTestSpool()
  mkdirSync(join(place.directory, place.taskId, "1"), { recursive: true })
  await reclaimRun(
    toScope(place, async () => []),
    toTask(place),
    lost,
  )
  expect(isOpen(place)).toBe(false)
})

test("nor is one whose processes never ran", async () => {
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

test("nor is one that another worker was faster to take over", async () => {
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
