import type { Clock } from "../../base/clock.ts"
import { isMeanwhileError, MeanwhileError } from "../../base/error.ts"
import type { Redactor } from "../../runner/redaction/redactor.ts"
import type { Runner } from "../../runner/runner.ts"
import type { TurnRun } from "../../runner/turn/turn-run.ts"
import type { SessionId, WorkspaceId } from "../../task/id.ts"
import type { Operation } from "../../task/operation.ts"
import type { SessionLabels, SessionRecord } from "../../task/session.ts"
import type { TaskStore } from "../../task/store.ts"
import {
  findLiveTurn,
  requireIdle,
  createStoredTurn,
  type TurnWriter,
  takeStoredTurn,
  type TurnHost,
} from "./stored-turn.ts"
import { applyChange, createLogView } from "./log-state.ts"
import type { LogChange, LogState, SessionLog, TurnOpening } from "./session-log.ts"
import { readHistory } from "./read-log.ts"
import { recallSaid } from "./recall-said.ts"
import { redactEntry, createDataRedactor, type LogEntry, type PaidCall } from "./log-entry.ts"
import { parseSessionData, type SessionData } from "./session-data.ts"
import { toSettleOperations } from "./settle-operations.ts"

const NOT_STORED = 0
const UNKNOWN_VERSION = -1

export interface StoredLogOptions {
  readonly id: SessionId
  readonly workspace: WorkspaceId
  readonly runner: Pick<Runner, "beginTurn">
  readonly store: TaskStore
  readonly redactor: Redactor
  readonly clock: Clock
}

export interface StoredLog extends SessionLog {
  /** Goes on with a turn whose worker is gone. */
  continueTurn(run: TurnRun, take: TurnOpening["take"]): Promise<string>
}

/** The log of a session that is in the store. */
export async function openStoredLog(options: StoredLogOptions, record: SessionRecord): Promise<StoredLog> {
  const log = createLog(options, { data: parseSessionData(record.data), labels: record, record })
  await log.refresh()
  return log
}

/** The log of a new session. Its record is written with the first change. */
export function createStoredLog(options: StoredLogOptions, data: SessionData, labels: SessionLabels): StoredLog {
  return createLog(options, { data, labels })
}

interface LogStart {
  readonly data: SessionData
  readonly labels: SessionLabels
  /** Absent for a new session. */
  readonly record?: SessionRecord
}

function createLog(options: StoredLogOptions, { data, record, ...start }: LogStart): StoredLog {
  const { id, workspace, store, redactor, clock } = options
  const now = clock.now()
  const times = record ? toTimes(record) : { createdAt: now, updatedAt: now }
  const beginning: LogState = { data, history: [], position: 0, times }
  let state = beginning
  /** The state before the last change. */
  let before = beginning
  let labels = toLabels(start.labels)
  let version = record ? UNKNOWN_VERSION : NOT_STORED
  const toStored = createDataRedactor(redactor)
  const paid = createPaidCalls()
  const writer: TurnWriter = {
    toOperations: (change) => toOperations(paid.takeAlong(change)),
    markBroken: () => (version = UNKNOWN_VERSION),
    takeBack() {
      state = before
      version = UNKNOWN_VERSION
      paid.giveBack()
    },
  }

  const notFound = (message: string) => new MeanwhileError("not_found", message, { session: id })

  /** Applies the change to the state at once, and counts the version ahead: operations are committed in this order. */
  function toOperations(change: LogChange): readonly Operation[] {
    before = state
    state = applyChange(state, change, clock.now())
    const stored = toStored(state.data)
    const messages = change.entries.map((entry) => redactEntry(redactor, entry))
    const operations: Operation[] = []
    if (version === NOT_STORED) {
      operations.push({ op: "session.create", id, workspace, parent: state.data.parent, data: stored, ...labels })
      version = 1
      if (messages.length === 0) return operations
    }
    operations.push({ op: "session.update", id, expectedVersion: version, data: stored, messages })
    version += 1
    if (change.settles) operations.push(...toSettleOperations(change.settles, options))
    return operations
  }

  async function refresh(): Promise<void> {
    const found = await store.session(id)
    if (!found) {
      if (record || version > NOT_STORED) throw notFound(`Session ${id} was deleted elsewhere. Begin a new one.`)
      if (version === UNKNOWN_VERSION) state = beginning
      version = NOT_STORED
      return
    }
    if (found.workspace !== workspace) throw notFound(`There is no session ${id} in this workspace.`)
    labels = toLabels(found)
    if (found.version === version) return
    const read = await readHistory(store, found)
    state = { data: parseSessionData(found.data), ...read, times: toTimes(found) }
    version = found.version
  }

  async function write(change: LogChange): Promise<void> {
    for (let isFirst = true; ; isFirst = false) {
      await refresh()
      await requireIdle(store, id, state.data)
      try {
        return void (await store.commit(writer.toOperations(change)))
      } catch (error) {
        writer.takeBack()
        // The other writer may have told the model the same results, so a change that settles some is not repeated.
        const mayFit = isFirst && isMeanwhileError(error, "version_conflict") && !change.settles
        if (!mayFit) throw error
      }
    }
  }

  /** Leaves the calls for later while a turn holds the session, here or elsewhere. Never creates a session. */
  async function settlePaid(): Promise<void> {
    if (paid.count() === 0) return
    await refresh()
    if (version !== NOT_STORED && !(await findLiveTurn(store, state.data))) await write({ entries: [] })
  }

  /** Asks the store, because another process may have added entries. */
  const readPosition = async () => (await store.session(id))?.messageCount ?? 0

  const host: TurnHost = { ...options, writer, state: () => state, refresh }
  const own: Omit<StoredLog, keyof LogState> = {
    id,
    workspace,
    isKept: true,
    isNew: () => version === NOT_STORED,
    labels: () => labels,
    relabel: (changed) => void (labels = changed),
    amend(changed) {
      state = { ...state, data: { ...state.data, ...changed } }
    },
    paid: { count: paid.count, add: paid.add, settle: settlePaid },
    write,
    turn: (opening) => takeStoredTurn(host, opening),
    recall: async (wanted) => recallSaid(store, { id, position: await readPosition() }, wanted),
    isBehind: (stored) => stored.version > version,
    refresh,
    async continueTurn(run, take) {
      await refresh()
      void run.ended.then((task) => task ?? writer.markBroken())
      return take(createStoredTurn(run, writer, await run.metadata()))
    },
  }
  return Object.assign(
    createLogView(() => state),
    own,
  )
}

function toLabels({ metadata, title }: SessionLabels): SessionLabels {
  return { metadata, title }
}

function toTimes({ createdAt, updatedAt }: LogState["times"]): LogState["times"] {
  return { createdAt, updatedAt }
}

function createPaidCalls() {
  let waiting: LogEntry[] = []
  let taken: readonly LogEntry[] = []
  return {
    count: () => waiting.length,
    add: (entry: PaidCall) => void waiting.push({ kind: "paid", entry }),
    /**
     * Puts the waiting calls before the change's own entries: a message's position, which names its calls' steps, is
     * counted so.
     */
    takeAlong(change: LogChange): LogChange {
      taken = waiting
      if (waiting.length === 0) return change
      waiting = []
      return { ...change, entries: [...taken, ...change.entries] }
    },
    /** The last change was not stored: its calls are written with the next one. */
    giveBack() {
      waiting.unshift(...taken)
      taken = []
    },
  }
}
