import { expect, test } from "vitest"
import { createSessionId, type TaskId, type WorkspaceId } from "../../src/task/id.ts"
import { eventually } from "../support/eventually.ts"
import { beginRunnerLife, type RunnerLife } from "../support/runner-life.ts"
import { createGatedTool } from "../support/tools.ts"
import { createFolder } from "../support/workplace.ts"

const workspace = "default" as WorkspaceId
const TURN = { session: createSessionId(), workspace, model: "a/b", title: "turn", traceId: null, operations: [] }

const neverEnds = () => new Promise<never>(() => {})

async function openLife(folder: string, number: number, { runs = true } = {}) {
  const gated = createGatedTool({ obeys: true, onCrash: "retry" })
  const running = runs ? { continueTurn: neverEnds } : { background: { maxConcurrentTasks: 0 } }
  return { ...(await beginRunnerLife(folder, { tools: [gated.tool], ...running }, number)), gated }
}

async function comesTo({ store, clock }: RunnerLife, id: TaskId, status: string): Promise<void> {
  await eventually(`${id} is ${status}`, async () => {
    clock.advance(500)
    return (await store.task(id))?.status === status
  })
}

test("a task of lifetime turn ends with its turn while no worker has either, and can be run again", async () => {
  const folder = createFolder()
  const first = await openLife(folder, 1)
  const { taskId: turn } = await first.runner.beginTurn({ ...TURN, parentTask: null }, neverEnds)
  const call = { tool: "gated", input: {}, parentTask: turn }
  const { id: between } = await first.runner.start({ ...call, lifetime: "runtime" })
  const { id: bound } = await first.runner.start({ ...call, parentTask: between, lifetime: "turn" })
  await first.gated.call(2)
  first.life.end()
  const second = await openLife(folder, 2, { runs: false })
  for (const id of [turn, between, bound]) await comesTo(second, id, "queued")
  await second.runner.cancel(turn)
  expect(await second.store.task(bound)).toMatchObject({ status: "cancelled" })
  second.life.end()
  const third = await openLife(folder, 3)
  expect(await third.store.task(bound)).toMatchObject({ stop: { by: "lifetime", reason: "its turn ended" } })
  await comesTo(third, between, "running")
  await third.runner.retry(bound)
  await third.gated.call(2)
  const looked = third.clock.now() + 60_000
  await eventually("it was looked at again", () => {
    third.clock.advance(500)
    return third.clock.now() > looked
  })
  expect(await third.store.task(bound)).toMatchObject({ status: "running", run: 2 })
})
