import { setImmediate as nextTurn } from "node:timers/promises"
import { expect, test } from "vitest"
import { createManualClock, type ManualClock } from "../../../src/base/manual-clock.ts"
import type { BackgroundConfigInput } from "../../../src/runner/limits/background-config.ts"
import type { Runner } from "../../../src/runner/runner.ts"
import { eventually } from "../../support/eventually.ts"
import { createGatedTool } from "../../support/tools.ts"
import { createWorkplace } from "../../support/workplace.ts"

const CHORE_EVERY_MS = 60_000
const DAY_MS = 24 * 60 * 60 * 1_000

async function endOne(background: BackgroundConfigInput) {
  const clock = createManualClock()
  const gated = createGatedTool()
  const { meanwhile } = await createWorkplace({ tools: [gated.tool], clock, background })
  const { id } = await meanwhile.tasks.start({ tool: "gated", input: { name: "the input" } })
  const call = await gated.call(1)
  call.context.output.write("what it printed\n")
  call.finish("the payload")
  await meanwhile.tasks.result(id, { waitMs: 60_000 })
  return { clock, id, tasks: meanwhile.tasks }
}

/** Lets the chore run, and all that it begins end. Returns the task as a list shows it. */
async function comeRound(clock: ManualClock, tasks: Runner, id: string) {
  for (let round = 0; round < 3; round++) {
    clock.advance(CHORE_EVERY_MS)
    for (let turn = 0; turn < 10; turn++) await nextTurn()
  }
  return (await tasks.list({})).items.find((task) => task.id === id)
}

test("completedTaskRetentionSeconds: so long after it was used, a task loses payload and output and keeps the rest", async () => {
  const { clock, id, tasks } = await endOne({ completedTaskRetentionSeconds: 7_200 })
  await tasks.acknowledge([id])
  clock.jump(6_000_000)
  expect((await comeRound(clock, tasks, id))?.strippedAt).toBeNull()
  expect((await tasks.output(id)).text).toBe("what it printed\n")
  clock.jump(1_200_000)
  await eventually("the task is stripped", async () => (await comeRound(clock, tasks, id))?.strippedAt)
  const { task } = await tasks.get(id)
  expect(task).toMatchObject({ status: "completed", input: null, patch: { payload: null, digest: ["the payload"] } })
  expect(task.startedAt).not.toBeNull()
  const gone = { text: "", droppedBefore: "all", isComplete: true }
  await eventually("its output is gone", async () => (await tasks.output(id)).text === "")
  expect(await tasks.output(id)).toMatchObject({ ...gone, offset: 0, nextOffset: 0, totalBytes: 0 })
  expect(await tasks.output(id, { offset: 7 })).toMatchObject({ ...gone, offset: 7, nextOffset: 7, totalBytes: 7 })
  expect(await tasks.output(id, { tailBytes: 7 })).toMatchObject(gone)
})

test("recordRetentionDays: the record of a used task without a session goes after it", async () => {
  const { clock, id, tasks } = await endOne({ recordRetentionDays: 2 })
  await tasks.acknowledge([id])
  clock.jump(2 * DAY_MS - 10 * CHORE_EVERY_MS)
  expect(await comeRound(clock, tasks, id)).toBeDefined()
  clock.jump(10 * CHORE_EVERY_MS)
  await eventually("the record is gone", async () => !(await comeRound(clock, tasks, id)))
})

test("a task that nobody has used stays whole, however long ago it ended", async () => {
  const { clock, id, tasks } = await endOne({ completedTaskRetentionSeconds: 0, recordRetentionDays: 0 })
  clock.jump(400 * DAY_MS)
  expect((await comeRound(clock, tasks, id))?.strippedAt).toBeNull()
  expect((await tasks.get(id)).task).toMatchObject({ patch: { payload: "the payload" } })
  expect((await tasks.output(id)).text).toBe("what it printed\n")
})
