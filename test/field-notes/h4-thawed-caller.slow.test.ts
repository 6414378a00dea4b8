import { describe, expect, test } from "vitest"
import { LIVE_STATUSES } from "../../src/task/lifecycle.ts"
import { WORKER_LEASE_PREFIX } from "../../src/task/worker.ts"
import { eventually } from "../support/eventually.ts"
import { processesOf } from "../support/processes.ts"
import { startTreeWorker } from "../support/trees/start-tree-worker.ts"
import { openTreeHouse, type TreeHouse } from "../support/trees/tree-house.ts"
import { LEASE_SECONDS } from "../support/trees/tree-parts.ts"
import { type NodeKind, type TreeNode, withAllBelow } from "../support/trees/tree-plan.ts"
import { createFolder } from "../support/workplace.ts"

/** A turn waits for an agent in the foreground, which has started a command. */
function plantTree(): TreeNode {
  const names = ["root", "agent", "command"] as const
  const [root, agent, command] = names.map((name) => toNode(name, name === "root" ? "agent" : toKind(name)))
  if (!root || !agent || !command) throw new Error("The tree has three nodes.")
  root.children.push({ ...agent, parent: root })
  root.children[0]?.children.push({ ...command, parent: agent })
  return root
}

const toKind = (name: string): NodeKind => (name === "agent" ? "called" : "command")

function toNode(name: string, kind: NodeKind): TreeNode {
  return { name, kind, livesForever: false, isMember: false, rests: false, parent: null, children: [] }
}

describe("H4. A worker that stood still past its lease and wakes", () => {
  test("leaves an agent alone that its turn waited for, with the agent's command, once another process has them", async () => {
    const folder = createFolder()
    const root = plantTree()
    const worker = await startTreeWorker(folder, root)
    const house = await openTreeHouse(folder, { background: { leaseSeconds: LEASE_SECONDS } })
    const [, agent] = [...house.plant(withAllBelow(root), false).values()]
    const { store } = house.here.engine
    const [frozen] = (await store.leases(WORKER_LEASE_PREFIX)).filter(({ data }) => data["pid"] === worker.pid)
    await worker.freeze()
    await eventually("all of it goes on here", async () => {
      const live = await readLive(house)
      return live.length === 3 && live.every(({ fence }) => fence > 1) && agent?.inFlight === 1
    })
    const before = await readLive(house)
    worker.thaw()
    await eventually("the worker has another lease", async () => {
      const leases = await store.leases(WORKER_LEASE_PREFIX)
      return leases.some(({ key, data }) => data["pid"] === worker.pid && key !== frozen?.key)
    })
    // Ends all that it still does.
    await worker.close()
    expect(await readLive(house)).toEqual(before)
    expect(agent?.inFlight).toBe(1)
    expect(processesOf(worker.tasks["command"] ?? "")).not.toEqual([])
  })
})

/** What lives in the store, each with the types of its events. */
async function readLive({ here: { engine } }: TreeHouse) {
  const { items } = await engine.store.tasks({ statuses: LIVE_STATUSES }, { limit: 100 })
  return Promise.all(
    items.map(async ({ id, kind, status, fence }) => {
      const events = await engine.store.events(id, 0, 1_000)
      return { id, kind, status, fence, events: events.map(({ body }) => body.type) }
    }),
  )
}
