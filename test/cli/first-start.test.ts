import { expect, test } from "vitest"
import { createManualClock, type ManualClock } from "../../src/base/manual-clock.ts"
import { formatAnnouncement } from "../../src/cli/format/format.ts"
import { formatTaskRow } from "../../src/cli/format/format-task-row.ts"
import { applyEvents, COMPLETED, createTask, RUNNING, STARTED } from "../../src/engine/suite/samples.ts"
import { findFirstStart } from "../../src/desk/list-row.ts"
import type { Engine } from "../../src/task/engine.ts"
import type { LifecycleEvent } from "../../src/task/event.ts"
import type { TaskId } from "../../src/task/id.ts"
import { openTestEngine } from "../support/test-engine.ts"
import { createFolder } from "../support/workplace.ts"

const LOST: LifecycleEvent = { type: "task.released", reason: "lost_worker" }

/** Gives the task a minute with a worker that is lost, then five seconds with another one. */
async function changeWorkers(engine: Engine, id: TaskId, clock: ManualClock) {
  clock.advance(60_000)
  await applyEvents(engine, id, LOST, STARTED)
  clock.advance(5_000)
  return applyEvents(engine, id, COMPLETED)
}

test("the time of an agent that changed workers counts from its first start, in each of its runs", async () => {
  const clock = createManualClock(1_700_000_000_000)
  const engine = await openTestEngine(createFolder(), { clock })
  const { id } = await createTask(engine, RUNNING, { kind: "agent" })
  const ended = await changeWorkers(engine, id, clock)
  expect(formatAnnouncement(ended, await findFirstStart(engine.store, ended))).toContain("completed in 1 min 5 s")

  clock.advance(3_600_000)
  await engine.store.commit([{ op: "task.begin_run", taskId: id, afterRun: 1, reason: "resume" }])
  await applyEvents(engine, id, STARTED)
  const again = await changeWorkers(engine, id, clock)
  const firstStartedAt = await findFirstStart(engine.store, again)
  expect(formatAnnouncement(again, firstStartedAt)).toContain("completed in 1 min 5 s")
  const [row] = (await engine.store.tasks({}, { limit: 1 })).items
  if (!row || firstStartedAt === null) throw new Error("it is not there")
  const standing = { placeInQueue: null, groupName: null, worker: null, firstStartedAt, heldUpBy: [] }
  expect(formatTaskRow({ task: row, ...standing }, clock.now(), 100)).toMatch(/completed +1 min 5 s/)
})

test("the time of a task with one worker is the measured one", async () => {
  const engine = await openTestEngine(createFolder())
  const { id } = await createTask(engine, RUNNING, { kind: "agent" })
  expect(await findFirstStart(engine.store, await applyEvents(engine, id, COMPLETED))).toBeNull()
})

test("a task that a worker has handed back is listed with its time in the queue since then", async () => {
  const clock = createManualClock(1_700_000_000_000)
  const engine = await openTestEngine(createFolder(), { clock })
  const { id } = await createTask(engine, RUNNING, { kind: "agent" })
  clock.advance(60_000)
  await applyEvents(engine, id, { type: "task.released", reason: "shutdown", ranMs: 60_000 })
  const [row] = (await engine.store.tasks({}, { limit: 1 })).items
  if (!row) throw new Error("it is not there")
  const standing = { placeInQueue: 1, groupName: null, worker: null, firstStartedAt: null, heldUpBy: [] }
  clock.advance(5_000)
  expect(formatTaskRow({ task: row, ...standing }, clock.now(), 100)).toMatch(/queued +5\.0 s/)
  clock.advance(2_000)
  expect(formatTaskRow({ task: row, ...standing }, clock.now(), 100)).toMatch(/queued +7\.0 s/)
})
