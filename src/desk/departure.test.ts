import { expect, test } from "vitest"
import { toQueuedTask } from "../../test/support/cli/queued-task.ts"
import type { WorkerView } from "../plugin/worker-view.ts"
import { createWorkerId, DEFAULT_WORKSPACE, type TaskId } from "../task/id.ts"
import { findDeparture } from "./departure.ts"

type Parts = Parameters<typeof findDeparture>[0]
type Other = Pick<WorkerView, "where" | "endsWhenIdle">

const SELF: Other = { where: "process", endsWhenIdle: false }
const KEEPER: Other = { where: "machine", endsWhenIdle: true }
const CHAT: Other = { where: "machine", endsWhenIdle: false }

/** The tasks that count as taken over by a process that runs three, of which it was asked for one and is told of two. */
async function findTakenOver(others: readonly Other[]): Promise<readonly string[]> {
  const [asked, left, ofStranger] = ["asked", "left", "of a stranger"].map((title) => toQueuedTask({ title }))
  const known = new Map([asked, left, ofStranger].flatMap((task) => (task ? [[task.id, task]] : [])))
  const parts: Parts = {
    workspace: DEFAULT_WORKSPACE,
    tasks: {
      get: async () => Promise.reject(new Error("The store is away.")),
      list: async () => ({ items: [] }),
      runsHere: () => true,
      findRunHere: () => ({ kind: "tool", lifetime: "runtime" }),
      workers: async () => [SELF, ...others].map((place) => ({ ...place, id: createWorkerId() })),
    },
    seen: known,
    conversations: new Set(),
    isOwn: () => true,
    isAskedHere: async (id) => id === asked?.id,
    begunElsewhere: new Set(),
    isTold: async ({ id }) => id !== ofStranger?.id,
    going: async (ids) => ids,
  }
  const { here, own, takenOver } = await findDeparture(parts, [...known.keys()])
  expect(here).toHaveLength(3)
  expect([...own]).toEqual([asked?.id])
  return [...takenOver].map((id: TaskId) => known.get(id)?.title ?? "")
}

test("what a process runs without having been asked counts as taken over once only keepers are beside it", async () => {
  expect(await findTakenOver([])).toEqual(["left"])
  expect(await findTakenOver([KEEPER])).toEqual(["left"])
  expect(await findTakenOver([KEEPER, CHAT])).toEqual([])
})
