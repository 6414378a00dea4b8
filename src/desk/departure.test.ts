import { expect, test } from "vitest"
import { toQueuedTask } from "../../test/support/cli/queued-task.ts"
import type { WorkerView } from "../plugin/worker-view.ts"
import { createSessionId, createWorkerId, DEFAULT_WORKSPACE, type TaskId, type WorkerId } from "../task/id.ts"
import type { TaskRecord } from "../task/record.ts"
import { findDeparture } from "./departure.ts"

type Place = Pick<WorkerView, "id" | "where" | "endsWhenIdle">

const SELF: Place = { id: createWorkerId(), where: "process", endsWhenIdle: false }
const KEEPER: Place = { id: createWorkerId(), where: "machine", endsWhenIdle: true }
const CHAT: Place = { id: createWorkerId(), where: "machine", endsWhenIdle: false }
const CONVERSATION = createSessionId()

const toRunning = (title: string, worker: WorkerId, session = CONVERSATION): TaskRecord => ({
  ...toQueuedTask({ title, session }),
  status: "running",
  worker,
})

/** Tasks of a conversation that is open here, and of others; all of them had begun before this program came. */
const TASKS = [
  toRunning("here", SELF.id),
  toRunning("here, begun elsewhere", SELF.id),
  toRunning("with the keeper", KEEPER.id),
  toRunning("with a chat", CHAT.id),
  toQueuedTask({ title: "in the queue", session: CONVERSATION }),
  toRunning("of another, here", SELF.id, createSessionId()),
  toRunning("of a stranger, here", SELF.id, createSessionId()),
]

/** The fate of these tasks where other programs are beside this one. */
async function leaveBeside(others: readonly Place[]) {
  const known = new Map(TASKS.map((task) => [task.id, task]))
  const titleOf = (id: TaskId): string => known.get(id)?.title ?? ""
  const runsHere = (id: TaskId): boolean => titleOf(id).includes("here")
  const departure = await findDeparture(
    {
      workspace: DEFAULT_WORKSPACE,
      tasks: {
        get: async () => Promise.reject(new Error("The store is away.")),
        list: async () => ({ items: [] }),
        runsHere,
        findRunHere: (id) => (runsHere(id) ? { kind: "tool", lifetime: "runtime" } : undefined),
        workers: async () => [SELF, ...others],
      },
      seen: known,
      conversations: new Set([CONVERSATION]),
      begunElsewhere: new Set(TASKS.flatMap(({ id, title }) => (title.includes("begun elsewhere") ? id : []))),
      isOwn: runsHere,
      isAskedHere: async (_, session) => session === CONVERSATION,
      isTold: async ({ id }) => !titleOf(id).includes("stranger"),
      going: async (ids) => ids,
    },
    [...known.keys()],
  )
  const toTitles = (ids: ReadonlySet<TaskId>) => [...ids].map(titleOf)
  return { own: toTitles(departure.own), takenOver: toTitles(departure.takenOver) }
}

test("alone, or beside a keeper, a program may stop all of its conversation, and has taken over what else it runs", async () => {
  const all = ["here", "here, begun elsewhere", "with the keeper", "with a chat", "in the queue"]
  for (const others of [[], [KEEPER]])
    expect(await leaveBeside(others)).toEqual({ own: all, takenOver: ["of another, here"] })
})

test("beside another program it may stop what runs here or with the keeper, unless that program has begun it", async () => {
  expect(await leaveBeside([KEEPER, CHAT])).toEqual({ own: ["here", "with the keeper"], takenOver: [] })
})
