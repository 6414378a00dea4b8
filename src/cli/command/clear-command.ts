import { isMeanwhileError } from "../../base/error.ts"
import type { OwnWork } from "../begun-here.ts"
import { BACKGROUND_KINDS, type TaskId } from "../format.ts"
import { listTasks } from "../list-tasks.ts"
import { findOwnSessions } from "../own-sessions.ts"
import type { Command, TaskContext } from "./command.ts"

type Meanwhile = TaskContext["meanwhile"]
type Filter = Parameters<Meanwhile["tasks"]["clear"]>[0]

const kinds = BACKGROUND_KINDS

export const clearCommand: Command<TaskContext> = {
  name: "clear",
  usage: "clear",
  summary:
    "forget ended tasks, with their output; what a conversation has not used yet stays. In a shared store: yours alone",
  isKept: true,
  async run(_argument, { meanwhile, screen, own }) {
    const { removed, kept } = await (own ? clearOwn(meanwhile, own) : clearAll(meanwhile))
    screen.print(formatRemoved(removed, own ? " of yours" : ""))
    if (kept > 0) screen.print(formatKept(kept))
  },
}

interface Cleared {
  readonly removed: number
  readonly kept: number
}

async function clearAll(meanwhile: Meanwhile): Promise<Cleared> {
  const used = await meanwhile.tasks.clear({ kinds, isConsumed: true })
  // Nobody is told of these by a turn: they would stay for ever.
  const addressedToNobody = await meanwhile.tasks.clear({ kinds, session: null })
  return { removed: used + addressedToNobody, kept: await countKept(meanwhile, {}) }
}

async function clearOwn(meanwhile: Meanwhile, { conversations, tasks }: OwnWork): Promise<Cleared> {
  const ofSessions = (await findOwnSessions(meanwhile, conversations)).map(async (session) => {
    const removed = await meanwhile.tasks.clear({ kinds, session, isConsumed: true })
    return { removed, kept: await countKept(meanwhile, { session }) }
  })
  const ofNone = tasks.list().map(async (id) => {
    const outcome = await removeOne(meanwhile, id)
    if (outcome !== "lives") tasks.remove(id)
    return { removed: outcome === "removed" ? 1 : 0, kept: 0 }
  })
  const all = await Promise.all([...ofSessions, ...ofNone])
  const sum = (key: keyof Cleared): number => all.reduce((total, one) => total + one[key], 0)
  return { removed: sum("removed"), kept: sum("kept") }
}

async function removeOne({ tasks }: Meanwhile, id: TaskId): Promise<"removed" | "lives" | "gone"> {
  try {
    return (await tasks.remove(id)) ? "removed" : "lives"
  } catch (error) {
    if (isMeanwhileError(error, "not_found")) return "gone"
    throw error
  }
}

async function countKept(meanwhile: Meanwhile, filter: Filter): Promise<number> {
  let count = 0
  const unused = { ...filter, kinds, isConsumed: false }
  for await (const { session } of listTasks(meanwhile, unused)) if (session !== null) count++
  return count
}

function formatRemoved(count: number, whose: string): string {
  return count === 1 ? `1 ended task${whose} removed.` : `${count} ended tasks${whose} removed.`
}

function formatKept(count: number): string {
  return count === 1
    ? "1 was kept: its conversation has not used the result yet."
    : `${count} were kept: their conversations have not used the results yet.`
}
