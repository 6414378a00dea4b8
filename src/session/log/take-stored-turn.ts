import { isMeanwhileError, MeanwhileError, type SessionBusy } from "../../base/error.ts"
import { shorten } from "../../base/shorten.ts"
import type { Message } from "../../plugin/message.ts"
import type { Runner } from "../../runner/runner.ts"
import { handBack, type ToolReturn } from "../../plugin/tool-return.ts"
import { createTaskId, type SessionId, type TaskId, type WorkspaceId } from "../../task/id.ts"
import type { TaskRecord } from "../../task/record.ts"
import type { TaskStore } from "../../task/store.ts"
import { requireIdle } from "./live-turn.ts"
import type { SessionData } from "./session-data.ts"
import type { TurnBeginning, TurnOpening } from "./session-log.ts"
import { createStoredTurn, type TurnWriter } from "./stored-turn.ts"

const DIGEST_CHARACTERS = 400

/** The log that a turn is of. */
export interface TurnHost {
  readonly id: SessionId
  readonly workspace: WorkspaceId
  readonly runner: Pick<Runner, "beginTurn">
  readonly store: TaskStore
  readonly writer: TurnWriter
  data(): SessionData
  history(): readonly Message[]
  refresh(): Promise<void>
}

/** Its first entries and its own record are one transaction. Resolves when its end is durable. */
export async function takeStoredTurn(host: TurnHost, opening: TurnOpening): Promise<string> {
  await host.refresh()
  const preparing = opening.prepare?.()
  if (preparing) {
    await preparing
    await host.refresh()
  }
  await requireIdle(host.store, host.id, host.data())
  await requireNew(host, opening)
  // After the refresh: whoever used a notice in this session since then has changed it, and the commit is refused.
  const beginning = await opening.toBeginning(host.history())
  const { text } = await runToEnd(host, opening, beginning)
  return text
}

/** Rejects with what kept the turn from beginning or from being durable; the text with what failed it. */
async function runToEnd(
  host: TurnHost,
  opening: TurnOpening,
  beginning: TurnBeginning,
): Promise<{ readonly text: Promise<string> }> {
  const { id, workspace, runner, writer } = host
  const taskId = createTaskId()
  const { parentTask, traceId, idempotencyKey = null } = opening
  const { title = opening.title } = beginning
  const metadata = { ...opening.metadata, ...beginning.metadata }
  const about = host.data().title ?? (beginning.title === undefined ? title : null)
  const operations = writer.toOperations({ ...beginning, data: { ...beginning.data, turn: taskId, title: about } })
  const { model } = host.data()
  const own = { id: taskId, session: id, workspace, model, title, parentTask, traceId, idempotencyKey, metadata }
  const answer: { text?: Promise<string> } = {}
  try {
    const { ended } = await runner.beginTurn({ ...own, operations }, async (run) => {
      opening.onBegun?.(taskId)
      answer.text = opening.take(createStoredTurn(run, writer, metadata))
      return toTurnPatch(await answer.text)
    })
    const task = await ended
    requireDurable(task, writer)
    // The body never ran: the lease was lost, or a stop came, while the turn was written.
    if (!answer.text) throw notTaken(taskId, task)
    return { text: answer.text }
  } catch (error) {
    writer.markBroken()
    if (!isMeanwhileError(error, "version_conflict")) throw error
    await host.refresh()
    await requireIdle(host.store, id, host.data())
    const message = `Session ${id} was changed elsewhere at the same moment. Send it again.`
    const details: SessionBusy = { session: id, turn: null, status: null, worker: null }
    throw new MeanwhileError("session_busy", message, details)
  }
}

/** The patch of a turn: the beginning of its last text. */
export function toTurnPatch(text: string): ToolReturn {
  const digest = text === "" ? [] : [shorten(text, DIGEST_CHARACTERS)]
  return handBack({ digest, facts: {}, artifacts: [], nextSteps: [], payload: null })
}

function notTaken(turn: TaskId, task: TaskRecord | null): MeanwhileError {
  if (task)
    return new MeanwhileError("wrong_state", `The turn ${turn} was ${task.status} before it was taken.`, { turn })
  const message = `This process was silent for longer than its lease: another worker goes on with the turn ${turn}.`
  return new MeanwhileError("stale_claim", message, { taskId: turn })
}

/** A turn of that name that begins after this look also changes the session, so that this commit is refused. */
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
