import { isMeanwhileError, MeanwhileError } from "../../base/error.ts"
import type { Redactor } from "../../runner/redaction/redactor.ts"
import type { Runner } from "../../runner/runner.ts"
import type { TurnRun } from "../../runner/turn/turn-run.ts"
import { createTaskId, type SessionId, type TaskId, type WorkspaceId } from "../../task/id.ts"
import { isTerminal } from "../../task/lifecycle.ts"
import type { Operation } from "../../task/operation.ts"
import type { SessionRecord } from "../../task/session.ts"
import type { TaskStore } from "../../task/store.ts"
import { applyChange, type LogState } from "./log-state.ts"
import type { LogChange } from "./open-turn.ts"
import { readHistory } from "./read-history.ts"
import { redactEntry } from "./redact-entry.ts"
import { parseSessionData, type SessionData, toStoredData } from "./session-data.ts"
import type { SessionLog, TurnOpening } from "./session-log.ts"
import { createStoredTurn, type TurnWriter } from "./stored-turn.ts"

const NOT_STORED = 0
const UNKNOWN_VERSION = -1

/** Who takes a turn that was just begun here, by its id. Others are continued from the store. */
export type TurnTakers = Map<TaskId, (run: TurnRun) => Promise<string>>

export interface StoredLogOptions {
  readonly id: SessionId
  readonly workspace: WorkspaceId
  readonly runner: Pick<Runner, "beginTurn">
  readonly store: TaskStore
  readonly redactor: Redactor
  readonly takers: TurnTakers
  readonly now: () => number
}

export interface StoredLog extends SessionLog {
  /** Goes on with a turn whose worker is gone. */
  continueTurn(run: TurnRun, take: TurnOpening["take"]): Promise<string>
}

/** The log of a session that is in the store. */
export async function openStoredLog(options: StoredLogOptions, record: SessionRecord): Promise<StoredLog> {
  const log = createLog(options, parseSessionData(record.data), record)
  await log.refresh()
  return log
}

/** The log of a new session. Its record is written with the first change. */
export function createStoredLog(options: StoredLogOptions, data: SessionData): StoredLog {
  return createLog(options, data, undefined)
}

function createLog(options: StoredLogOptions, data: SessionData, record: SessionRecord | undefined): StoredLog {
  const { id, workspace, runner, store, redactor, takers } = options
  const beginning: LogState = { data, history: [], position: 0 }
  let state = beginning
  let version = record ? UNKNOWN_VERSION : NOT_STORED
  let createdAt = record?.createdAt ?? options.now()
  let updatedAt = record?.updatedAt ?? createdAt
  const writer: TurnWriter = { toOperations, markBroken: () => (version = UNKNOWN_VERSION) }

  /** The state has the change at once. The version is counted ahead: operations are committed in this order. */
  function toOperations(change: LogChange): readonly Operation[] {
    state = applyChange(state, change)
    updatedAt = options.now()
    const stored = toStoredData(state.data)
    const messages = change.entries.map((entry) => redactEntry(redactor, entry))
    const operations: Operation[] = []
    if (version === NOT_STORED) {
      operations.push({ op: "session.create", id, workspace, data: stored })
      version = 1
      if (messages.length === 0) return operations
    }
    operations.push({ op: "session.update", id, expectedVersion: version, data: stored, messages })
    version += 1
    return operations
  }

  async function refresh(): Promise<void> {
    const found = await store.session(id)
    if (!found) {
      if (version === UNKNOWN_VERSION) state = beginning
      version = NOT_STORED
      return
    }
    if (found.version === version) return
    if (found.workspace !== workspace) throw notFound(id)
    const read = await readHistory(store, found)
    state = { data: parseSessionData(found.data), ...read }
    version = found.version
    createdAt = found.createdAt
    updatedAt = found.updatedAt
  }

  async function write(change: LogChange): Promise<void> {
    await refresh()
    await requireIdle()
    try {
      await store.commit(toOperations(change))
    } catch (error) {
      writer.markBroken()
      if (!isMeanwhileError(error, "version_conflict")) throw error
      await refresh()
      await requireIdle()
      await store.commit(toOperations(change))
    }
  }

  async function requireIdle(): Promise<void> {
    const turn = state.data.turn ? await store.task(state.data.turn) : undefined
    if (!turn || isTerminal(turn.status)) return
    const message = `Session ${id} is busy: its turn ${turn.id} is ${turn.status}. Wait for it to end, or cancel it.`
    throw new MeanwhileError("wrong_state", message, { session: id, turn: turn.id, status: turn.status })
  }

  async function turn(opening: TurnOpening): Promise<string> {
    await refresh()
    await requireIdle()
    const taskId = createTaskId()
    const taken = Promise.withResolvers<string>()
    taken.promise.catch(() => {})
    takers.set(taskId, (run) => {
      opening.onBegun?.(taskId)
      const text = opening.take(createStoredTurn(run, writer))
      text.then(taken.resolve, taken.reject)
      return text
    })
    const { entries, data: changed, title, parentTask, traceId, notices } = opening
    const operations = [...toOperations({ entries, data: { ...changed, turn: taskId } }), ...toUse(notices)]
    try {
      const { model } = state.data
      const start = { id: taskId, session: id, workspace, model, title, parentTask, traceId, operations }
      const { ended } = await runner.beginTurn(start)
      if (!(await ended)) writer.markBroken()
    } catch (error) {
      writer.markBroken()
      if (!isMeanwhileError(error, "version_conflict")) throw error
      await refresh()
      await requireIdle()
      throw new MeanwhileError("wrong_state", `Session ${id} was changed elsewhere at the same moment. Send it again.`)
    } finally {
      takers.delete(taskId)
    }
    return taken.promise
  }

  return {
    id,
    workspace,
    isKept: true,
    get data() {
      return state.data
    },
    get history() {
      return state.history
    },
    get position() {
      return state.position
    },
    get createdAt() {
      return createdAt
    },
    get updatedAt() {
      return updatedAt
    },
    amend(changed) {
      state = { ...state, data: { ...state.data, ...changed } }
    },
    write,
    turn,
    refresh,
    async continueTurn(run, take) {
      await refresh()
      return take(createStoredTurn(run, writer))
    },
  }
}

function toUse(keys: TurnOpening["notices"]): readonly Operation[] {
  return keys.length === 0 ? [] : [{ op: "notice.consume", keys, by: null }]
}

function notFound(id: SessionId): MeanwhileError {
  return new MeanwhileError("not_found", `There is no session ${id} in this workspace.`, { session: id })
}
