import * as fc from "fast-check"
import { describe, expect, test } from "vitest"
import { z } from "zod"
import type { ScriptStep } from "../../src/builtin/scripted/script.ts"
import { textOf } from "../../src/plugin/message.ts"
import type { ModelRequest } from "../../src/plugin/model.ts"
import { defineTool } from "../../src/plugin/tool.ts"
import { isTerminal, LIVE_STATUSES } from "../../src/task/lifecycle.ts"
import type { TaskId } from "../../src/task/id.ts"
import { assertProperty } from "../support/assert-property.ts"
import { isLong, TEST_SEED } from "../support/chaos/seed.ts"
import { eventually } from "../support/eventually.ts"
import { processesOf } from "../support/processes.ts"
import { openSubagents } from "../support/session/open-subagents.ts"
import { startAgent } from "../support/session/start-agent.ts"
import { isPostgres } from "../support/test-engine.ts"
import { openTreeHouse, type TreeHouse } from "../support/trees/tree-house.ts"
import type { Grove } from "../support/trees/tree-parts.ts"
import {
  describePlan,
  mayComplete,
  toEnding,
  toStopped,
  treePlans,
  type TreeNode,
  type TreePlan,
} from "../support/trees/tree-plan.ts"

/** A tree takes a server several times as long as a file: fewer trees take the same time. */
const TREES = isLong ? 10_000 : isPostgres ? 40 : 200

/** Each tree has bounds of its own: this one is for a machine that has much else to do, and for long runs. */
const LONGEST_TEST_MS = isLong ? 10_800_000 : 600_000

describe("G1. A cancelled, failed or timed-out agent leaves nothing below it running: no command, no nested agent, no model call", () => {
  test(`in random trees that are stopped at a random place in a random way (seed ${TEST_SEED})`, {
    timeout: LONGEST_TEST_MS,
  }, async () => {
    const house = await openTreeHouse()
    await assertProperty(
      fc.asyncProperty(treePlans, (plan) => playRound(house, plan)),
      { numRuns: TREES, endOnFailure: false },
    )
    expect(house.violations).toEqual([])
  })

  test("a nested agent that asks its model again and again asks it no more", async () => {
    const read = defineTool({
      name: "start_inner",
      description: "Starts an agent in the background.",
      input: z.object({}),
      run: async (_input, { tasks }) =>
        (await tasks.start({ tool: "spawn_subagent", input: { task: "Inner.", profile: "worker" } })).id,
    })
    const asked = { inner: 0 }
    const answer = ({ messages: [first, ...more] }: ModelRequest): ScriptStep => {
      if (first && textOf(first).startsWith("Outer.")) {
        return more.length > 0 ? { gate: new Promise(() => {}) } : { calls: [{ tool: "start_inner" }] }
      }
      asked.inner += 1
      return { delayMs: 1, calls: [{ tool: "read" }] }
    }
    const below = Array.from({ length: 10_000 }, () => answer)
    const opened = await openSubagents({ main: ["Yes."], below, tools: [read] })
    const { runtime, session } = opened
    const outer = await startAgent(opened, { task: "Outer." })
    await eventually("the inner agent works", () => asked.inner > 3)
    await runtime.tasks.cancel(outer.id)
    const [inner] = (await runtime.tasks.list({ kinds: ["agent"] })).items
    const { task } = await runtime.tasks.result(inner?.id ?? "", { waitMs: 30_000 })
    expect(task).toMatchObject({ title: "worker: Inner.", status: "cancelled", stop: { by: "parent" } })
    const before = asked.inner
    await session.send("Is it quiet?")
    expect(asked.inner).toBe(before)
  })
})

async function playRound(house: TreeHouse, plan: TreePlan): Promise<void> {
  const grove = house.plant([plan.root, ...plan.nodes], plan.isFailFast)
  const session = await house.here.createSession()
  const turn = session.send(`NODE ${house.keyOf(plan.root)} .`).catch(() => {})
  try {
    await eventually(`all has begun: ${describePlan(plan)}`, () => plan.nodes.every((node) => hasBegun(grove, node)))
    const stopped = await stopIn(house, grove, plan, () => session.stop())
    await expectOnlyThatEnded(house, grove, plan, toEnding(stopped))
  } catch (error) {
    throw new Error(`${describePlan(plan)}: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    })
  } finally {
    session.stop()
    await clear(house)
    await turn
  }
}

function hasBegun(grove: Grove, node: TreeNode): boolean {
  const { taskId = null, hasBegun: began = false } = grove.get(node) ?? {}
  return node.kind === "command" ? taskId !== null && processesOf(taskId).length > 0 : began
}

/** Stops the target in the way of the plan, or in the nearest way that it can be stopped in. Returns what was stopped. */
async function stopIn(
  house: TreeHouse,
  grove: Grove,
  plan: TreePlan,
  stopTurn: () => void,
): Promise<readonly TreeNode[]> {
  const { target, way } = plan
  const { store } = (plan.isElsewhere ? house.elsewhere : house.here).engine
  const { tasks } = plan.isElsewhere ? house.elsewhere : house.here
  if (way === "turn") stopTurn()
  const grown = grove.get(target)
  if (way === "turn" || !grown) return toStopped(plan)
  const id = grown.taskId
  if (id === null || (way === "failure" && grown.fail)) {
    await eventually("its work can fail", () => grown.fail !== null || target.children.length > 0)
    // An agent that waits for a call in the foreground fails with it, if that fails it.
    if (!grown.fail) return []
    grown.fail()
    return toStopped(plan)
  }
  const task = await store.task(id)
  if (way === "group" && task?.group) {
    await tasks.groups.cancel(task.group)
    return toStopped(plan)
  }
  const run = { taskId: id, run: 1 }
  if ((way === "deadline" || way === "budget") && task?.status === "running") {
    await store.commit([{ op: "task.apply", run, event: { type: "task.stop_requested", by: way, reason: "enough" } }])
  } else await tasks.cancel(id, { by: way === "model" ? "model" : "person" })
  return toStopped(plan)
}

/** Looks from outside: at processes, model calls, tools and the store. */
async function expectOnlyThatEnded(
  house: TreeHouse,
  grove: Grove,
  plan: TreePlan,
  ending: ReadonlySet<TreeNode>,
): Promise<void> {
  const { store } = house.here.engine
  const statusOf = async (id: TaskId) => (await store.task(id))?.status
  await eventually("every stop is confirmed", async () => {
    for (const node of ending) {
      const grown = grove.get(node)
      if (!grown || grown.inFlight > 0) return false
      const status = grown.taskId === null ? undefined : await statusOf(grown.taskId)
      if (status && !isTerminal(status)) return false
    }
    return true
  })
  for (const node of ending) {
    const grown = grove.get(node)
    if (!grown) continue
    grown.mustRest = true
    if (node.kind === "command" && grown.taskId) expect(processesOf(grown.taskId)).toEqual([])
  }
  await expectNothingLiveBelow(house, new Set([...ending].flatMap((node) => grove.get(node)?.taskId ?? [])))
  for (const node of plan.nodes) {
    const grown = grove.get(node)
    if (!grown || ending.has(node) || mayComplete(node, ending)) continue
    if (grown.taskId) expect(LIVE_STATUSES, `${node.name} goes on`).toContain(await statusOf(grown.taskId))
    if (node.kind === "command" && grown.taskId) expect(processesOf(grown.taskId)).not.toEqual([])
    if (node.kind === "held" || node.kind === "asking") expect(grown.inFlight, `${node.name} works`).toBe(1)
  }
}

/** No queue entry, no question, no turn: every live task has only live tasks above it, and turns. */
async function expectNothingLiveBelow(house: TreeHouse, ended: ReadonlySet<TaskId>): Promise<void> {
  const { store } = house.here.engine
  const { items } = await store.tasks({ statuses: LIVE_STATUSES }, { limit: 1_000 })
  for (const live of items) {
    for (let id: TaskId | null = live.id; id !== null; ) {
      expect(ended.has(id), `${live.title} (${live.kind}, ${live.status}) lives below what was stopped`).toBe(false)
      id = (await store.task(id))?.parentTask ?? null
    }
  }
}

async function clear({ here }: TreeHouse): Promise<void> {
  await eventually("nothing is left of the tree", async () => {
    const { items } = await here.engine.store.tasks({ statuses: LIVE_STATUSES }, { limit: 1_000 })
    for (const { id, status } of items) if (status !== "stopping") await here.tasks.cancel(id).catch(() => {})
    return items.length === 0
  })
}
