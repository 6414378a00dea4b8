import { expect, test } from "vitest"
import type { ScriptStep } from "../../src/builtin/scripted/script.ts"
import { createSubagentPlugin } from "../../src/builtin/subagent/subagent-plugin.ts"
import type { TaskId } from "../../src/task/id.ts"
import type { RunStatus } from "../../src/task/lifecycle.ts"
import { eventually } from "../support/eventually.ts"
import { createFolder } from "../support/workplace.ts"
import { createGate } from "../support/session/gate.ts"
import { beginLife, type LivingRuntime } from "../support/session/lives.ts"

const never: ScriptStep = () => new Promise<never>(() => {})
const spawns: ScriptStep = { calls: [{ tool: "spawn_subagent", input: { task: "Build.", handover: "none" } }] }

const open = (folder: string, number: number, script: readonly ScriptStep[], more = {}) =>
  beginLife(folder, number, { script, tools: [], plugins: [createSubagentPlugin({ directories: [] })], ...more })

async function comesTo({ store, clock }: LivingRuntime, id: TaskId, status: RunStatus): Promise<void> {
  await eventually(`${id} is ${status}`, async () => {
    clock.advance(500)
    return (await store.task(id))?.status === status
  })
}

/**
 * Leaves a turn whose call asks an agent in the foreground, and the agent's turn: both are queued, and nobody takes them.
 */
async function leaveTurns(folder: string) {
  const first = await open(folder, 1, [spawns, never])
  const session = await first.runtime.createSession()
  void session.send("Build it.").catch(() => {})
  await first.isAsked(2)
  first.life.end()
  const { items } = await first.store.tasks({ kinds: ["turn"] }, { limit: 2 })
  const [below, above] = items.map(({ id }) => id) as [TaskId, TaskId]
  const second = await open(folder, 2, [], { background: { maxConcurrentTasks: 0 } })
  await comesTo(second, above, "queued")
  await comesTo(second, below, "queued")
  return { above, below, second }
}

test("an agent in the foreground does not go on if its caller's turn is cancelled while no worker has it", async () => {
  const folder = createFolder()
  const { above, below, second } = await leaveTurns(folder)
  await second.runtime.tasks.cancel(above)
  second.life.end()
  const third = await open(folder, 3, ["Built."])
  await comesTo(third, below, "cancelled")
  expect(third.model.callCount).toBe(0)
})

test("an agent in the foreground goes on with its caller's turn", async () => {
  const folder = createFolder()
  const { above, below, second } = await leaveTurns(folder)
  second.life.end()
  const third = await open(folder, 3, ["Built.", "It is built."])
  await comesTo(third, above, "completed")
  expect(await third.store.task(below)).toMatchObject({ status: "completed" })
})

test("an agent whose call was made again and promoted goes on when its caller's turn has ended", async () => {
  const folder = createFolder()
  const { above, below, second } = await leaveTurns(folder)
  second.life.end()
  const gate = createGate()
  const third = await open(folder, 3, [() => ({ gate: gate.pass(), text: "Built." }), "It is being built."])
  await gate.reached
  await comesTo(third, above, "completed")
  const looked = third.clock.now() + 60_000
  await eventually("it was looked at", () => {
    third.clock.advance(500)
    return third.clock.now() > looked
  })
  expect(await third.store.task(below)).toMatchObject({ status: "running" })
  gate.open()
  await comesTo(third, below, "completed")
})
