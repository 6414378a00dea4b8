import { isMeanwhileError, MeanwhileError } from "../../base/error.ts"
import type { LiveMap } from "../../base/live-map.ts"
import type { Message } from "../../plugin/message.ts"
import type { Runner } from "../../runner/runner.ts"
import type { TurnRun } from "../../runner/turn/turn-run.ts"
import { createTaskId, type SessionId, type TaskId, type WorkspaceId } from "../../task/id.ts"
import type { TaskRecord } from "../../task/record.ts"
import type { TaskStore } from "../../task/store.ts"
import { requireIdle } from "./live-turn.ts"
import type { SessionData } from "./session-data.ts"
import type { TurnOpening } from "./session-log.ts"
import { createStoredTurn, type TurnWriter } from "./stored-turn.ts"

/** Who takes a turn that was just begun here, by its id. Others are continued from the store. */
export type TurnTakers = LiveMap<TaskId, (run: TurnRun) => Promise<string>>

/** The log that a turn is of. */
export interface TurnHost {
  readonly id: SessionId
  readonly workspace: WorkspaceId
  readonly runner: Pick<Runner, "beginTurn">
  readonly store: TaskStore
  readonly takers: TurnTakers
  readonly writer: TurnWriter
  data(): SessionData
  history(): readonly Message[]
  refresh(): Promise<void>
}

/** Its first entries and its own record are one transaction. Resolves when its end is durable. */
export async function takeStoredTurn(host: TurnHost, opening: TurnOpening): Promise<string> {
  const { id, workspace, runner, store, takers, writer } = host
  await host.refresh()
  const preparing = opening.prepare?.()
  if (preparing) {
    await preparing
    await host.refresh()
  }
  await requireIdle(store, id, host.data())
  await requireNew(host, opening)
  // After the refresh: whoever used a notice in this session since then has changed it, and the commit is refused.
  const beginning = await opening.toBeginning(host.history())
  const metadata = { ...opening.metadata, ...beginning.metadata }
  const taskId = createTaskId()
  const taken = Promise.withResolvers<string>()
  taken.promise.catch(() => {})
  let isTaken = false
  takers.set(taskId, (run) => {
    isTaken = true
    opening.onBegun?.(taskId)
    const text = opening.take(createStoredTurn(run, writer, metadata))
    text.then(taken.resolve, taken.reject)
    return text
  })
  const { parentTask, traceId } = opening
  const { title = opening.title } = beginning
  const about = host.data().title ?? (beginning.title === undefined ? title : null)
  const data = { ...beginning.data, turn: taskId, title: about }
  const operations = writer.toOperations({ ...beginning, data })
  try {
    const { model } = host.data()
    const { idempotencyKey = null } = opening
    const own = { id: taskId, session: id, workspace, model, title, parentTask, traceId, idempotencyKey, metadata }
    const { ended } = await runner.beginTurn({ ...own, operations })
    const task = await ended
    requireDurable(task, writer)
    // Who lost its lease while the turn was written, or was told to stop by then, never came to take it.
    if (!isTaken) throw notTaken(taskId, task)
  } catch (error) {
    writer.markBroken()
    if (!isMeanwhileError(error, "version_conflict")) throw error
    await host.refresh()
    await requireIdle(store, id, host.data())
    const message = `Session ${id} was changed elsewhere at the same moment. Send it again.`
    throw new MeanwhileError("wrong_state", message, { session: id, isOvertaken: true })
  } finally {
    takers.delete(taskId)
  }
  return taken.promise
}

function notTaken(turn: TaskId, task: TaskRecord | null): MeanwhileError {
  if (task)
    return new MeanwhileError("wrong_state", `The turn ${turn} was ${task.status} before it was taken.`, { turn })
  const message = `This process was silent for longer than its lease: another worker goes on with the turn ${turn}.`
  return new MeanwhileError("stale_claim", message, { taskId: turn })
}

/** Whoever begins one of that name after this look changes the session too, and the commit is refused. */
async function requireNew({ store, workspace }: TurnHost, { idempotencyKey }: TurnOpening): Promise<void> {
  if (idempotencyKey === undefined || (await store.countTasks({ workspace, idempotencyKey })) === 0) return
  throw new MeanwhileError("wrong_state", `The turn ${idempotencyKey} was begun already. Wait for its end instead.`)
}

/** The answer may be there although it could not be kept: then the conversation is as the store has it. */
function requireDurable(task: TaskRecord | null, writer: TurnWriter): void {
  const isUnkept = task?.status === "failed" && task.failure.code === "version_conflict"
  if (!task || isUnkept) writer.markBroken()
  if (!isUnkept) return
  const message = `The turn ${task.id} could not be kept: ${task.failure.message}. Send the message again.`
  throw new MeanwhileError("store_unavailable", message, { turn: task.id })
}
