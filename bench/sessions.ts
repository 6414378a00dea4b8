import type { Runtime } from "../src/app.ts"
import { createSessionId, createTaskId, createWorkerId, DEFAULT_WORKSPACE, type SessionId } from "../src/task/id.ts"
import type { Operation } from "../src/task/operation.ts"
import { PLAIN_DETAILS } from "../src/task/record.ts"
import type { Benchmark } from "./benchmark.ts"
import { createFolder } from "./folder.ts"
import { openRuntime } from "./runtime.ts"
import { compare, median, timed } from "./statistics.ts"

const FEW = 100
const MANY = 20_000
const ROUNDS = 60
const WARM_UPS = 5
const WRITTEN_AT_ONCE = 500
const USERS = 200
const LISTS = 200

export const sessions: Benchmark = {
  name: "sessions",
  summary: "deleting one conversation, and finding a user's, among a hundred and among twenty thousand",
  async run(report) {
    using fewFolder = createFolder("sessions")
    using manyFolder = createFolder("sessions")
    await using few = await openRuntime({ folder: fewFolder.path, tools: [] })
    await using many = await openRuntime({ folder: manyFolder.path, tools: [] })
    report.progressed(`writing ${MANY} sessions`)
    const spare = ROUNDS + WARM_UPS
    const [ofFew, ofMany] = [await fill(few, FEW + spare), await fill(many, MANY + spare)]

    report.progressed("deleting")
    const deletes = await compare(
      ROUNDS,
      () => deleteOne(many, ofMany),
      () => deleteOne(few, ofFew),
      WARM_UPS,
    )
    const reference = { name: `among ${FEW}`, value: deletes.reference, ratio: deletes.ratio }
    report.measured({ metric: "delete_ms", unit: "ms", ours: deletes.ours, reference })
    report.measured({
      metric: "delete_ms_ratio",
      unit: "",
      ours: deletes.ours / deletes.reference,
      bar: { of: "ours", atMost: 2 },
    })

    report.progressed("listing")
    const lists: number[] = []
    for (let count = 0; count < LISTS; count++) lists.push(await timed(() => listOne(many, count)))
    report.measured({ metric: "list_of_user_ms", unit: "ms", ours: median(lists) })
  },
}

/** Conversations of some users, each with two messages and an ended task; returns ids from all over the store. */
async function fill({ engine: { store } }: Runtime, count: number): Promise<SessionId[]> {
  const ids: SessionId[] = []
  let operations: Operation[] = []
  for (let index = 0; index < count; index++) {
    const id = createSessionId()
    ids.push(id)
    operations.push(...toSession(id, index))
    if (operations.length < WRITTEN_AT_ONCE && index < count - 1) continue
    await store.commit(operations)
    operations = []
  }
  const every = Math.floor(count / (ROUNDS + WARM_UPS))
  return ids.filter((_, index) => index % every === 0)
}

function toSession(id: SessionId, index: number): readonly Operation[] {
  const workspace = DEFAULT_WORKSPACE
  const task = createTaskId()
  const named = { kind: "tool", plugin: "bench", tool: "no_op", title: "no_op", input: {} } as const
  const text = "What is in this folder, and what of it has changed since yesterday?"
  const message = { kind: "message", turn: null, message: { role: "user", parts: [{ type: "text", text }] } }
  const metadata = { userId: `user-${index % USERS}` }
  return [
    { op: "session.create", id, workspace, metadata, data: { name: "main", title: text } },
    { op: "session.update", id, expectedVersion: 1, messages: [message, message] },
    {
      op: "task.create",
      details: { ...PLAIN_DETAILS, ...named, id: task, workspace, session: id },
      entry: { as: "running", worker: createWorkerId() },
    },
    {
      op: "task.apply",
      run: { taskId: task, run: 1 },
      event: { type: "task.completed", patch: { digest: [], facts: {}, artifacts: [], nextSteps: [], payload: null } },
    },
  ]
}

function deleteOne(runtime: Runtime, ids: SessionId[]): Promise<number> {
  const id = ids.pop()
  if (!id) throw new Error("all sessions are deleted")
  return timed(async () => {
    if (!(await runtime.sessions.delete(id))) throw new Error("there was nothing to delete")
  })
}

async function listOne({ sessions: directory }: Runtime, count: number): Promise<void> {
  const metadata = { userId: `user-${count % USERS}` }
  const { items } = await directory.list({ metadata }, { limit: 20 })
  if (items.length < 20) throw new Error("a user has too few sessions")
}
