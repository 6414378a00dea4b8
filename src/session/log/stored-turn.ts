import type { JsonObject } from "../../base/json.ts"
import type { TurnBody, TurnRun } from "../../runner/turn/turn-run.ts"
import type { Operation, RunReference } from "../../task/operation.ts"
import type { LogChange, LogState, OpenTurn, TurnBeginning, TurnChange, TurnOpening } from "./session-log.ts"
import { MeanwhileError, isMeanwhileError } from "../../base/error.ts"
import { type SessionId, createTaskId, type TaskId, type WorkspaceId } from "../../task/id.ts"
import { isTerminal } from "../../task/lifecycle.ts"
import type { TaskRecord } from "../../task/record.ts"
import { type HoldingTurn, toSessionBusyError } from "../../task/session-busy.ts"
import type { TaskStore } from "../../task/store.ts"
import type { SessionData } from "./session-data.ts"
import { shorten } from "../../base/shorten.ts"
import type { Runner } from "../../runner/runner.ts"
import { handBack, type ToolReturn } from "../../plugin/tool.ts"

const DIGEST_CHARACTERS = 400

/** The log that a turn writes to. */
export interface TurnHost {
  readonly id: SessionId
  readonly workspace: WorkspaceId
  readonly runner: Pick<Runner, "beginTurn">
  readonly store: TaskStore
  readonly writer: TurnWriter
  state(): LogState
  refresh(): Promise<void>
}

/** Converts changes of a log to operations of the store. */
export interface TurnWriter {
  toOperations(change: LogChange): readonly Operation[]
  /** Records that memory and store may differ, so that the log is read again. */
  markBroken(): void
  /** Takes back the last change, which was not stored. */
  takeBack(): void
}

/** Takes a turn to its durable end. Its first entries and its record are written in one transaction. */
export async function takeStoredTurn(host: TurnHost, opening: TurnOpening): Promise<string> {
  await host.refresh()
  const preparing = opening.prepare?.()
  if (preparing) {
    await preparing
    await host.refresh()
  }
  await requireIdle(host.store, host.id, host.state().data)
  await requireNew(host, opening)
  // Called after the refresh: if a notice of this session is used from here on, the session changes and this commit is
  // refused.
  const beginning = await opening.toBeginning(host.state().history)
  const { text } = await runToEnd(host, opening, beginning)
  return text
}

/** Rejects if the turn could not begin or its end could not be made durable; `text` rejects if the turn itself failed. */
async function runToEnd(
  host: TurnHost,
  opening: TurnOpening,
  beginning: TurnBeginning,
): Promise<{ readonly text: Promise<string> }> {
  const { id, workspace, runner, writer } = host
  const taskId = createTaskId()
  const { parentTask, traceId, idempotencyKey = null, whenAway = "wait" } = opening
  const { title = opening.title } = beginning
  const metadata = { ...opening.metadata, ...beginning.metadata }
  const { title: known, model } = host.state().data
  const about = known ?? (beginning.title === undefined ? title : null)
  const operations = writer.toOperations({ ...beginning, data: { ...beginning.data, turn: taskId, title: about } })
  const own = {
    id: taskId,
    session: id,
    workspace,
    model,
    title,
    parentTask,
    traceId,
    idempotencyKey,
    metadata,
    whenAway,
    waitsForDisk: opening.onStored !== undefined,
  }
  const answer: { text?: Promise<string> } = {}
  let isTold = false
  const tellStored = (): void => {
    if (!isTold) opening.onStored?.(taskId)
    isTold = true
  }
  const body: TurnBody = async (run) => {
    tellStored()
    opening.onBegun?.(taskId)
    answer.text = opening.take(createStoredTurn(run, writer, metadata))
    return toTurnPatch(await answer.text)
  }
  const { ended } = await runner.beginTurn({ ...own, operations }, body).catch(async (error: unknown) => {
    writer.takeBack()
    if (!isMeanwhileError(error, "version_conflict")) throw error
    await host.refresh()
    await requireIdle(host.store, id, host.state().data)
    throw toSessionBusyError(id, null, `Session ${id} was changed elsewhere at the same moment. Send it again.`)
  })
  // Also when the body never runs, because the lease was lost meanwhile: another worker takes the turn.
  tellStored()
  try {
    const task = await ended
    requireDurable(task, writer)
    if (!task) await host.refresh().catch(passOnGone)
    // The body never ran: the lease was lost, or a stop came, while the turn was written.
    if (!answer.text) throw notTaken(taskId, task)
    return { text: answer.text }
  } catch (error) {
    writer.markBroken()
    throw error
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

/**
 * Refuses a name that another turn has. If such a turn begins after this look, the session changes and this commit is
 * refused.
 */
async function requireNew({ store, workspace }: TurnHost, { idempotencyKey }: TurnOpening): Promise<void> {
  if (idempotencyKey === undefined || (await store.countTasks({ workspace, idempotencyKey })) === 0) return
  throw new MeanwhileError("wrong_state", `The turn ${idempotencyKey} was begun already. Wait for its end instead.`)
}

/**
 * Throws if the answer could not be kept. The answer may exist all the same, but the conversation is as the store has it.
 */
function requireDurable(task: TaskRecord | null, writer: TurnWriter): void {
  const isUnkept = task?.status === "failed" && task.failure.code === "version_conflict"
  if (!task || isUnkept) writer.markBroken()
  if (!isUnkept) return
  const message = `The turn ${task.id} could not be kept. ${task.failure.message} Send the message again.`
  throw new MeanwhileError("store_unavailable", message, { turn: task.id })
}

/** A turn that has no end because its store is gone is not answered. */
function passOnGone(error: unknown): void {
  if (isMeanwhileError(error, "store_gone")) throw error
}

/** The live turn that holds the session, in this process or another. */
export async function findLiveTurn(store: TaskStore, data: SessionData): Promise<TaskRecord | undefined> {
  const turn = data.turn ? await store.task(data.turn) : undefined
  return turn && !isTerminal(turn.status) ? turn : undefined
}

/** Refuses as `session_busy` while a turn holds the session. */
export async function requireIdle(store: TaskStore, id: SessionId, data: SessionData): Promise<void> {
  const turn = await findLiveTurn(store, data)
  if (!turn) return
  throw toBusyError(id, turn)
}

export function toBusyError(session: SessionId, turn: HoldingTurn): MeanwhileError {
  return toSessionBusyError(session, turn, `Session ${session} is busy: its turn ${turn.id} ${describe(turn)}`)
}

function describe({ status }: HoldingTurn): string {
  return status === "waiting"
    ? "waits for a person. Answer what it asks, or cancel it."
    : `is ${status}. Wait for it to end, or cancel it.`
}

export function createStoredTurn(run: TurnRun, writer: TurnWriter, metadata: JsonObject = {}): OpenTurn {
  const { taskId } = run
  let saving = Promise.resolve()
  const save: OpenTurn["save"] = async (change, options) => {
    const hasEntries = change.entries.length > 0 || change.data !== undefined
    const operations = hasEntries ? writer.toOperations(change) : []
    try {
      await run.commit((reference) => [...operations, ...toStepOperations(reference, change)], options)
    } catch (error) {
      // A refused step says nothing about the log, which by then may be in the next turn.
      if (hasEntries) writer.markBroken()
      throw error
    }
  }
  return {
    id: taskId,
    taskId,
    metadata,
    signal: run.signal,
    traceId: run.origin.traceId ?? "",
    askedBy: run.origin.parentTask,
    isContinued: run.isContinued,
    isHandedBack: () => run.isHandedBack(),
    stopReason: () => run.stopReason(),
    askingStep: (key) => ({ taskId, run: run.run, key }),
    steps: () => run.steps(),
    act: run.act,
    mayAct: run.mayAct,
    save,
    saveSoon(change, options) {
      const before = saving
      const saved = save(change, options)
      saving = before.then(() => saved)
      saved.catch(() => {})
      saving.catch(() => {})
    },
    settle: () => saving,
    finish(change) {
      const operations = writer.toOperations(change)
      run.endWith((reference) => [...operations, ...toSpentOperations(reference, change)])
    },
  }
}

/** At least one operation names the run, so that nothing is written once another worker has the turn. */
function toStepOperations(run: RunReference, { started = [], finished = [], spent }: TurnChange): readonly Operation[] {
  const operations: Operation[] = [
    ...started.map(({ key, onCrash }) => ({ op: "step.start", run, key, onCrash }) as const),
    ...finished.map((step) => ({ op: "step.finish", run, ...step }) as const),
  ]
  if (operations.length === 0 && !spent) operations.push({ op: "task.note", run, facts: [] })
  return [...operations, ...toSpentOperations(run, { spent })]
}

function toSpentOperations(run: RunReference, { spent }: Pick<TurnChange, "spent">): readonly Operation[] {
  return spent ? [{ op: "task.note", run, facts: [{ type: "task.spent", usage: spent }] }] : []
}
