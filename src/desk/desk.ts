import type { AgentListener } from "../plugin/agent-event.ts"
import type { LedgerKey } from "../session/ledger/ledger.ts"
import { createLedgerRecord, type LedgerRow } from "../session/log/ledger-record.ts"
import type { TaskId } from "../task/id.ts"
import { type Activity, createActivity } from "./activity.ts"
import { type Blocked, createBlocked } from "./blocked.ts"
import { type DeskOptions, type DeskOwner, type DeskScope, toDeskOwner } from "./desk-options.ts"
import { createEnded, type Ended } from "./ended.ts"
import { createDeskGroups, type DeskGroups } from "./groups.ts"
import { createIdFiles, toStoreFolder } from "./id-files.ts"
import { createInbox, type Inbox } from "./inbox.ts"
import { createKeeper, type Keeper } from "./keeper.ts"
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
  /** For a process that finishes what others have left. */
  readonly keeper: Keeper
  readonly ended: Ended
  /** Follows tasks for one screen, until it is closed. */
  news(options: NewsOptions): TaskNewsDesk
  /** Listens to the workspace's agents that work in this process, subagents included. */
  on(listener: AgentListener): () => void
  /** The agents that work now, by their events. Feed it with `desk.on(activity.take)`. */
  activity(): Activity
  /** True if processes on other machines may use the store too. */
  readonly isShared: boolean
  /** The store's time, in milliseconds: every time that a record carries goes by it. */
  now(): number
}

export interface DeskLedger {
  /** The usage of all model calls of kept sessions, in all processes. The most used first, by tokens. */
  totals(by: LedgerKey, query?: { readonly session?: string }): Promise<readonly LedgerRow[]>
}

export function createDesk(options: DeskOptions, parts: Omit<DeskScope, keyof DeskOwner>): Desk {
  const scope: DeskScope = { ...parts, ...toDeskOwner(options) }
  const { workspace, actor, store, tasks, clock, isShared, dataDirectory, onAgentEvent } = scope
  const inbox = createInbox(scope)
  const blocked = createBlocked(scope, inbox)
  const deskTasks = createDeskTasks(scope, { inbox, blocked })
  const ledger = createLedgerRecord(store)
  const ancestorsOf = createSessionAncestors(store)
  const turns = createTurns(scope, inbox)
  const now = (): number => clock.now()
  const marks = isShared ? createStoredMarks(store, scope) : createFileMarks(dataDirectory, scope)
  const expected = isShared
    ? createIdFiles<TaskId>(toStoreFolder(dataDirectory, toActorName("promised", actor), scope.storePlace))
    : null
  const ended = createEnded({ workspace, store, tasks, marks, ancestorsOf, now, expected })
  return {
    workspace,
    actor,
    sessions: createSessions({ ...scope, inbox, turns, ancestorsOf }),
    turns,
    tasks: deskTasks,
    inbox,
    blocked,
    groups: createDeskGroups(workspace, tasks.groups),
    workers: createDeskWorkers(tasks),
    ledger: { totals: (by, query) => ledger.ledgerTotals(by, { ...query, workspace }) },
    promptWork: createPromptWork(scope, { tasks: deskTasks, inbox, blocked }),
    keeper: createKeeper(scope, blocked),
    ended,
    news: (options) => createTaskNews({ ...scope, inbox, blocked, deskTasks, ended, ancestorsOf }, options),
    on: (listener) =>
      onAgentEvent((event, home) => {
        return home === workspace ? listener(event) : undefined
      }),
    activity: () => createActivity(() => clock.monotonic()),
    isShared,
    now,
  }
}
