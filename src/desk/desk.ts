import type { Clock } from "../base/clock.ts"
import type { SessionDirectory } from "../plugin/sessions-port.ts"
import type { TaskService } from "../plugin/task-service.ts"
import type { Runner } from "../runner/runner.ts"
import type { LedgerKey } from "../session/ledger/ledger.ts"
import { createLedgerRecord, type LedgerRow } from "../session/log/ledger-record.ts"
import type { Bus } from "../task/bus.ts"
import type { SessionId, TaskId, WorkspaceId } from "../task/id.ts"
import type { TaskStore } from "../task/store.ts"
import { type Activity, createActivity } from "./activity.ts"
import { type Blocked, createBlocked } from "./blocked.ts"
import { type DeskOptions, type DeskOwner, toDeskOwner } from "./desk-options.ts"
import { createEnded, type Ended } from "./ended.ts"
import { createDeskGroups, type DeskGroups } from "./groups.ts"
import { createIdFiles, toStoreFolder } from "./id-files.ts"
import { createInbox, type Inbox } from "./inbox.ts"
import { createPromptWork, type PromptWork } from "./prompt-work.ts"
import { createSessionAncestors } from "./session-ancestors.ts"
import { createSessions, type Sessions } from "./sessions.ts"
import { createTaskNews, type NewsOptions, type TaskNewsDesk } from "./task-news.ts"
import { createDeskTasks, type DeskTasks } from "./tasks.ts"
import { createFileMarks, createStoredMarks, toActorName } from "./told-marks.ts"
import { createTurns, type Turns } from "./turns.ts"
import { createDeskWorkers, type DeskWorkers } from "./workers.ts"

/**
 * The view that one actor has of one workspace, and the actions they can take there. Every front end is drawn over it:
 * it answers with data and events, and renders nothing. Ids of another workspace are refused as `not_found`, as if there were none.
 */
export interface Desk extends DeskOwner {
  readonly sessions: Sessions
  readonly turns: Turns
  readonly tasks: DeskTasks
  readonly inbox: Inbox
  readonly blocked: Blocked
  readonly groups: DeskGroups
  readonly workers: DeskWorkers
  readonly ledger: DeskLedger
  readonly promptWork: PromptWork
  readonly ended: Ended
  /** Follows tasks for one screen, until it is closed. */
  news(options: NewsOptions): TaskNewsDesk
  /** The agents that work now. It is fed with their events: `runtime.on(activity.take)`. */
  activity(): Activity
  /** True if processes on other machines may use the store too. */
  readonly isShared: boolean
  /** The store's time, in milliseconds: every time that a record carries goes by it. */
  now(): number
}

export interface DeskLedger {
  /** The usage of all model calls of kept sessions, in all processes. The most used first, by tokens. */
  totals(by: LedgerKey, query?: { readonly session?: SessionId }): Promise<readonly LedgerRow[]>
}

/** The parts that a desk is made of. Each part of the desk is given only what it uses. */
export interface DeskParts {
  readonly store: TaskStore
  readonly bus: Bus
  readonly tasks: TaskService &
    Pick<Runner, "answer" | "counts" | "workers" | "leaveToOthers" | "runsHere" | "findRunHere" | "takesTurns">
  readonly directory: (workspace: WorkspaceId) => Pick<SessionDirectory, "list">
  /** Goes by the store's time. */
  readonly clock: Clock
  /** Aborts when the runtime closes and its drain is over. */
  readonly closing: AbortSignal
  readonly isShared: boolean
  readonly dataDirectory: string
  /** Tells stores apart that are used with the same data folder. */
  readonly storePlace: string
  /** True if this process runs tasks. */
  readonly runsTasks: boolean
}

export function createDesk(options: DeskOptions, parts: DeskParts): Desk {
  const { workspace, actor } = toDeskOwner(options)
  const { store, bus, tasks, clock, closing, isShared } = parts
  const wait = { bus, clock, closing }
  const place = { store, tasks, isShared }
  const inbox = createInbox({ workspace, actor }, store, tasks, wait, place)
  const deskTasks = createDeskTasks(workspace, store, tasks, { inbox, place, clock, closing })
  const blocked = createBlocked(workspace, store, tasks, inbox)
  const ledger = createLedgerRecord(store)
  const ancestorsOf = createSessionAncestors(store)
  const turns = createTurns(workspace, store, tasks, inbox, wait)
  const directory = parts.directory(workspace)
  const now = (): number => clock.now()
  const marks = isShared
    ? createStoredMarks(store, { workspace, actor })
    : createFileMarks(parts.dataDirectory, { workspace, actor })
  const expected = isShared
    ? createIdFiles<TaskId>(toStoreFolder(parts.dataDirectory, toActorName("promised", actor), parts.storePlace))
    : null
  const ended = createEnded({ workspace, store, tasks, marks, ancestorsOf, now, expected })
  const newsParts = {
    workspace,
    store,
    bus,
    tasks,
    clock,
    inbox,
    blocked,
    deskTasks,
    ended,
    runsTasks: parts.runsTasks,
  }
  return {
    workspace,
    actor,
    sessions: createSessions({ workspace, directory, store, inbox, turns, ancestorsOf, ...wait }),
    turns,
    tasks: deskTasks,
    inbox,
    blocked,
    groups: createDeskGroups(workspace, tasks.groups),
    workers: createDeskWorkers(tasks),
    ledger: { totals: (by, query) => ledger.ledgerTotals(by, { ...query, workspace }) },
    promptWork: createPromptWork(workspace, store, { tasks: deskTasks, inbox, blocked }, wait),
    ended,
    news: (options) => createTaskNews(newsParts, options),
    activity: () => createActivity(() => clock.monotonic()),
    isShared,
    now,
  }
}
