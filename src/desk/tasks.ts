import { follow } from "../base/follow.ts"
import { lookUntil } from "../base/look-until.ts"
import type { OutputChunk, OutputRequest } from "../plugin/output.ts"
import type { StopRequest } from "../plugin/stop-request.ts"
import { type PlacedTask, placeBelow } from "../plugin/task-family.ts"
import type {
  ExecuteOptions,
  Execution,
  ListedTask,
  SaidTo,
  TaskService,
  TaskView,
  ToolCall,
} from "../plugin/task-service.ts"
import type { ArtifactRecord } from "../task/document.ts"
import type { TaskEvent } from "../task/event.ts"
import type { GroupRecord } from "../task/group.ts"
import type { ArtifactHash, TaskId } from "../task/id.ts"
import { type ArtifactReference, matchArtifacts } from "../task/patch.ts"
import type { TaskRecord } from "../task/record.ts"
import type { Page, PageRequest } from "../task/store.ts"
import { findAskingHost, isAskedElsewhere } from "./asking-place.ts"
import type { Blocked } from "./blocked.ts"
import { type Cleared, clearAll, clearOwn, type OwnWork } from "./clear-ended.ts"
import type { DeskScope } from "./desk-options.ts"
import { followOutput, type FollowRequest } from "./follow-output.ts"
import type { AnswerOptions, Inbox, InboxItem } from "./inbox.ts"
import { listAll, toReading } from "./list-all.ts"
import { type DeskFilter, toTaskFilter } from "./task-filter.ts"
import { findFirstStart, type ListRow, toListRows } from "./list-row.ts"
import { placeWithAbove, readBelow, readTree, type TaskBranch } from "./task-tree.ts"

/** The workspace is the desk's. */
export type DeskCall = Omit<ToolCall, "workspace">

/** All that is known about one task. */
export interface TaskDetails extends Pick<ListRow, "firstStartedAt" | "heldUpBy"> {
  readonly view: TaskView
  readonly group: GroupRecord | null
  /** The questions that the task, or something below it, waits for. */
  readonly questions: readonly InboxItem[]
  /** The work that was started below it, without turns, each after the task that started it. */
  readonly below: readonly PlacedTask<ListedTask>[]
}

/** A task list in which what a task has started stands behind it. */
export interface TaskOutline {
  /** `depth`: how many tasks of the list stand above. */
  readonly rows: readonly (ListRow & { readonly depth: number })[]
  /** True if the filter selects more tasks. */
  readonly hasMore: boolean
}

/** How a task stands that may not go on by itself. */
export interface Standing {
  readonly view: TaskView
  /** The question that a person has to answer before the task goes on. */
  readonly question: InboxItem | null
}

/** Wake-ups may be lost, and a worker that leaves publishes none: after so long a task is looked at in any case. */
const LOOK_EVERY_MS = 1_000

/** The tasks of one workspace. An id may be any unambiguous prefix of one. */
export interface DeskTasks {
  /** Newest first. */
  list(filter: DeskFilter, page: PageRequest): Promise<Page<ListedTask>>
  /** The same page, with what a list on a screen shows beside each task. */
  rows(filter: DeskFilter, page: PageRequest): Promise<Page<ListRow>>
  /**
   * The rows of the newest tasks that the filter selects, at most `limit`, and of the tasks of these kinds above them, each
   * after the task that started it.
   */
  outline(filter: DeskFilter, limit: number): Promise<TaskOutline>
  /** All that the filter selects, newest first, read page by page. */
  each(filter: DeskFilter): AsyncGenerator<ListedTask, void>
  /** The newest tasks that the filter selects, at most `limit`, below the tasks that started them. */
  tree(filter: DeskFilter, limit: number): Promise<readonly TaskBranch[]>
  /** Everything that was started below a task. */
  below(id: string): Promise<readonly TaskBranch[]>
  counts(filter: Pick<DeskFilter, "kinds" | "statuses">): ReturnType<DeskScope["tasks"]["counts"]>
  find(id: string): Promise<TaskView>
  details(id: string): Promise<TaskDetails>
  /** When the run was first started, where several workers have had it; else null. */
  firstStart(task: TaskRecord): Promise<number | null>
  /** The other machine on which the call was asked for. Null for this machine, or if nobody runs the asking task now. */
  askingHost(task: TaskRecord): Promise<string | null>
  /** True if the end of the task may wake its session: its notice is a `wake`, and its group, if it has one, reports. */
  isReported(task: Pick<TaskRecord, "notify" | "group">): Promise<boolean>
  /** The events of a task after this sequence number; at most `limit`, and at most 1,000. */
  events(id: string, afterSequence: number, limit: number): Promise<readonly TaskEvent[]>
  output(id: string, request: OutputRequest): Promise<OutputChunk>
  /** All output from an offset on, by default from the beginning and until the run has ended. Ends with the runtime too. */
  followOutput(id: string, request?: FollowRequest): AsyncGenerator<OutputChunk, void>
  /** The artifacts that the task's last run handed back. `wanted`: those with this name, or whose hash begins like this. */
  artifacts(id: string, wanted?: string): Promise<readonly ArtifactReference[]>
  artifact(hash: ArtifactHash): Promise<ArtifactRecord | undefined>
  /** Waits for the end, at most `waitMs`, and returns the task as it is then. */
  wait(id: string, options: { readonly waitMs: number; readonly signal?: AbortSignal }): Promise<TaskView>
  /**
   * Waits like `wait`, and returns earlier when the task does not go on by itself: a person has to answer first, or no live
   * worker has the folder that the task names.
   */
  settle(id: string, options: { readonly waitMs: number; readonly signal: AbortSignal }): Promise<Standing>

  /** Runs a call in the foreground, until it ends or is promoted. */
  execute(call: DeskCall, options?: ExecuteOptions): Execution
  start(call: DeskCall): Promise<TaskRecord>
  /** Returns once the stop is accepted. */
  cancel(id: string, request?: StopRequest): Promise<TaskRecord>
  retry(id: string, options?: AnswerOptions): Promise<TaskRecord>
  /** Changes the time limit of a live task; null: none. */
  limit(id: string, timeoutMs: number | null): Promise<TaskRecord>
  resume(id: string, prompt: string): Promise<TaskRecord>
  /** Speaks to an agent: one that works hears it at its next tool boundary, one that has completed is resumed. */
  steer(id: string, message: string): Promise<SaidTo>
  /**
   * Removes ended work, of one person or, for null, of the whole workspace. Results that a session has not used yet stay.
   */
  clear(own: OwnWork | null): Promise<Cleared>
}

interface TasksScope extends Pick<DeskScope, "workspace" | "store" | "bus" | "clock" | "closing" | "isShared"> {
  readonly tasks: TaskService & Pick<DeskScope["tasks"], "counts" | "workers" | "leaveToOthers">
}

export function createDeskTasks(
  scope: TasksScope,
  { inbox, blocked }: { readonly inbox: Pick<Inbox, "below" | "of">; readonly blocked: Pick<Blocked, "byQuestion"> },
): DeskTasks {
  const { workspace, store, bus, tasks, clock, closing } = scope
  const toRows = (items: readonly ListedTask[]) => toListRows({ store, tasks, blocked }, items)
  const find = async (id: string): Promise<TaskRecord> => (await tasks.get(id, workspace)).task
  const readStanding = async (id: TaskId): Promise<Standing> => {
    const view = await tasks.get(id, workspace)
    return { view, question: view.task.status === "waiting" ? ((await inbox.of(id)) ?? null) : null }
  }
  return {
    list: (filter, page) => tasks.list(toTaskFilter(workspace, filter), page),
    async rows(filter, page) {
      const { items, ...next } = await tasks.list(toTaskFilter(workspace, filter), page)
      return { items: await toRows(items), ...next }
    },
    async outline(filter, limit) {
      const { items, cursor } = await tasks.list(toTaskFilter(workspace, filter), { limit })
      const placed = await placeWithAbove(store, items, toTaskFilter(workspace, filter).kinds)
      const rows = await toRows(placed.map(({ task }) => task))
      const depths = new Map(placed.map(({ task, depth }) => [task.id, depth]))
      return {
        rows: rows.map((row) => ({ ...row, depth: depths.get(row.task.id) ?? 0 })),
        hasMore: cursor !== undefined,
      }
    },
    each: (filter) => listAll(tasks, toTaskFilter(workspace, filter)),
    tree: (filter, limit) => readTree(store, toTaskFilter(workspace, filter), limit),
    below: async (id) => readBelow(store, await find(id)),
    counts: (filter) => tasks.counts(toTaskFilter(workspace, filter)),
    find: (id) => tasks.get(id, workspace),
    async details(id) {
      const view = await tasks.get(id, workspace)
      const { task } = view
      const [group, questions, held, firstStartedAt, below] = await Promise.all([
        task.group ? store.group(task.group) : undefined,
        inbox.below(task.id),
        blocked.byQuestion(),
        findFirstStart(store, task),
        placeBelow((filter, page) => tasks.list({ ...filter, workspace }, page), task),
      ])
      return { view, group: group ?? null, questions, heldUpBy: held.get(task.id) ?? [], firstStartedAt, below }
    },
    firstStart: (task) => findFirstStart(store, task),
    askingHost: (task) => findAskingHost(scope, task),
    async isReported({ notify, group }) {
      if (notify !== "wake") return false
      return group === null || (await store.group(group))?.report !== "none"
    },
    async events(id, afterSequence, wanted) {
      const { after, limit } = toReading("events", { after: afterSequence, limit: wanted })
      return store.events((await find(id)).id, after, limit)
    },
    output: (id, request) => tasks.output(id, request, workspace),
    followOutput: (id, { signal: own, ...request } = {}) =>
      follow(own ? [own, closing] : [closing], (signal) =>
        followOutput((part) => tasks.output(id, part, workspace), clock, request, signal),
      ),
    async artifacts(id, wanted) {
      const task = await find(id)
      const all = "patch" in task ? (task.patch?.artifacts ?? []) : []
      return wanted === undefined ? all : matchArtifacts(all, wanted)
    },
    artifact: (hash) => store.artifact(workspace, hash),
    wait: (id, options) => tasks.result(id, options, workspace),
    async settle(wanted, { waitMs, signal }) {
      const { id } = await find(wanted)
      let last: Standing | undefined
      const settled = await lookUntil({
        clock,
        pollMs: LOOK_EVERY_MS,
        timeoutMs: waitMs,
        signals: [signal, closing],
        keepsProcessAlive: true,
        subscribe: (wake) => bus.subscribeTask(id, wake),
        async look() {
          last = await readStanding(id)
          const { view, question } = last
          return "endedAt" in view.task || question || view.missing?.needs === "folder" ? last : undefined
        },
      })
      if (settled) return settled
      // The store of a runtime that closes may not answer any more.
      return closing.aborted && last ? last : readStanding(id)
    },

    execute: (call, options) => tasks.execute({ ...call, workspace }, options),
    start: (call) => tasks.start({ ...call, workspace }),
    cancel: (id, request) => tasks.cancel(id, request, workspace),
    async retry(id, { folder } = {}) {
      const task = await find(id)
      const retry = () => tasks.retry(task.id, workspace)
      if (folder === undefined || !(await isAskedElsewhere(scope, task, folder))) return retry()
      return tasks.leaveToOthers({ taskId: task.id, run: task.run + 1 }, retry)
    },
    limit: (id, timeoutMs) => tasks.limit(id, timeoutMs, workspace),
    resume: (id, prompt) => tasks.resume(id, prompt, workspace),
    steer: (id, message) => tasks.say(id, message, workspace),
    clear: (own) => (own ? clearOwn(scope, own) : clearAll(scope)),
  }
}
