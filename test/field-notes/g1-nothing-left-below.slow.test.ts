import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import type { TaskId } from "../../src/task/id.ts"
import { isTerminal, LIVE_STATUSES } from "../../src/task/lifecycle.ts"
import { drawValues } from "../support/assert-property.ts"
import { isLong, TEST_SEED } from "../support/chaos/seed.ts"
import { eventually } from "../support/eventually.ts"
import { processesOf } from "../support/processes.ts"
import { startTreeWorker } from "../support/trees/start-tree-worker.ts"
import { openTreeHouse, type TreeHouse } from "../support/trees/tree-house.ts"
import { LEASE_SECONDS } from "../support/trees/tree-parts.ts"
import { describePlan, toEnding, treePlans, type TreePlan, withAllBelow } from "../support/trees/tree-plan.ts"
import { createFolder } from "../support/workplace.ts"

const TREES = isLong ? 100 : 2
const STATES = ["works", "is frozen", "is dead"] as const

/** Trees with something below the target, which is a task: so it can be stopped from another process. */
const isWorthIt = ({ target }: TreePlan): boolean => target.kind === "agent" && target.children.length > 0

describe("G1. A cancelled, failed or timed-out agent leaves nothing below it running: no command, no nested agent, no model call", () => {
  const drawn = drawValues(treePlans.filter(isWorthIt), TREES * STATES.length)
  for (const [index, state] of STATES.entries()) {
    const plans = drawn.slice(index * TREES, (index + 1) * TREES)
    test.each(plans.map((plan, round) => [round + 1, plan] as const))(
      `also not in another process that ${state} (tree %i of seed ${TEST_SEED})`,
      async (_round, plan) => {
        try {
          await playRound(plan, state)
        } catch (error) {
          const why = error instanceof Error ? error.message : String(error)
          throw new Error(`${describePlan(plan)}: ${why}`, { cause: error })
        }
      },
    )
  }
})

async function playRound(plan: TreePlan, state: (typeof STATES)[number]): Promise<void> {
  const folder = createFolder()
  const worker = await startTreeWorker(folder, plan.root)
  const house = await openTreeHouse(folder, { background: { leaseSeconds: LEASE_SECONDS } })
  house.plant(withAllBelow(plan.root), false)
  const ending = [...toEnding([plan.target])]
  const tasks = ending.flatMap(({ name }) => worker.tasks[name] ?? [])
  if (state === "is frozen") await worker.freeze()
  if (state === "is dead") await worker.kill()
  await house.here.tasks.cancel(worker.tasks[plan.target.name] ?? "", {})
  await eventually("every stop is confirmed", async () => {
    const found = await Promise.all(tasks.map((id) => house.here.engine.store.task(id)))
    return found.every((task) => task && isTerminal(task.status))
  })
  const before = requestsIn(folder, house, ending)
  await expectNothingBelow(house, tasks)
  if (state === "is frozen") worker.thaw()
  // A process that answers has looked at its leases and at the store.
  if (state !== "is dead") await worker.look()
  await expectNothingBelow(house, tasks)
  expect(requestsIn(folder, house, ending)).toEqual(before)
}

/** The model calls of these nodes, in whichever process that was started for the test. */
function requestsIn(folder: string, house: TreeHouse, nodes: readonly TreePlan["target"][]): readonly string[] {
  const path = join(folder, "requests")
  const keys = new Set(nodes.map((node) => house.keyOf(node)))
  const lines = existsSync(path) ? readFileSync(path, "utf8").split("\n") : []
  return lines.filter((key) => keys.has(key))
}

async function expectNothingBelow(house: TreeHouse, ended: readonly TaskId[]): Promise<void> {
  expect(ended.flatMap(processesOf)).toEqual([])
  const { store } = house.here.engine
  const { items } = await store.tasks({ statuses: LIVE_STATUSES }, { limit: 1_000 })
  for (const live of items) {
    for (let id: TaskId | null = live.id; id !== null; id = (await store.task(id))?.parentTask ?? null)
      expect(ended, `${live.title} (${live.kind}, ${live.status}) lives below what was stopped`).not.toContain(id)
  }
}
