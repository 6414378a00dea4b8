import type { GroupRecord, GroupState } from "../../../task/group.ts"
import type { TaskRecord } from "../../../task/record.ts"
import type { Wait } from "../../../task/wait.ts"
import type { OutputChunk, OutputRequest } from "../../../plugin/output.ts"
import type { ListedTask, SaidTo, TaskView } from "../../../plugin/task-service.ts"
import { type PlacedTask, placeBelow } from "../../../plugin/task-family.ts"
import type { WaitAnswer } from "../../../plugin/wait-request.ts"
import type { BackgroundCall } from "./background-call.ts"
import {
  cancelAndLook,
  cancelOwn,
  clearOwn,
  listFamily,
  listOwn,
  listWork,
  type OwnFilter,
  type OwnWait,
  requireOwn,
  requireTask,
  waitForTasks,
} from "./own-tasks.ts"
import { type Acknowledged, acknowledge } from "./acknowledge.ts"
import { type ArtifactRequest, readArtifact, type ReadArtifact } from "./read-artifact.ts"
import { type ResultView, type ShownResults, showResults } from "./show-results.ts"
import { type AgentStart, startAgent, type Started, startTask, type TaskStart } from "./start-task.ts"

/**
 * All operations of a vocabulary, for one call of one of its tools. Any unambiguous prefix stands for an id. Changes
 * reach only the tasks of the asking conversation; reads by id reach the whole workspace.
 */
export interface TaskOperations {
  readonly call: BackgroundCall
  /** Unless `again` is set, finds a live task of this conversation with the same work and starts no second one. */
  start(request: TaskStart): Promise<Started>
  /** Refused as `not_background_capable` where no tool of kind `agent` is offered. */
  startAgent(request: AgentStart): Promise<Started>
  /** Reads the task as it stands. Claims nothing. */
  look(id: string): Promise<TaskView>
  /** As `look`, but the result of an ended task counts as used once this turn has kept the answer. Never waits. */
  read(id: string): Promise<TaskView>
  output(id: string, request: OutputRequest): Promise<OutputChunk>
  /** Reads an artifact that a task of the workspace keeps. Claims nothing. */
  artifact(request: ArtifactRequest): Promise<ReadArtifact>
  /** Waits, without `tasks` and `group` for all unused work. A new message of the person ends it. Claims nothing. */
  wait(request: OwnWait): Promise<WaitAnswer>
  /** Shows as many tasks as fit into an answer. A shown result counts as used; the other results are told by themselves. */
  show(views: readonly TaskView[], how: ResultView): Promise<ShownResults>
  /** Newest first, at most a thousand. */
  list(filter: OwnFilter): Promise<readonly ListedTask[]>
  /** As `list`, with the work that those tasks have started as far as it is wanted, each after the task that started it. */
  listFamily(filter: OwnFilter, isWanted?: (task: ListedTask) => boolean): Promise<readonly PlacedTask<ListedTask>[]>
  /** The work that was started below a task, each after the task that started it. */
  below(task: TaskRecord): Promise<readonly PlacedTask<ListedTask>[]>
  /** As `list`, without gates and questions, which are reached only by their ids. */
  listWork(filter: OwnFilter): Promise<readonly ListedTask[]>
  /** Returns once the stop is accepted. */
  cancel(id: string, reason?: string): Promise<TaskRecord>
  /** True if nothing of the task runs any more. */
  cancelAndLook(id: string): Promise<boolean>
  /** Reaches a running agent at its next tool boundary; resumes a completed one. */
  send(id: string, message: string): Promise<SaidTo>
  resume(id: string, prompt: string): Promise<TaskRecord>
  /** An id that names no task is left out, unless none of them does. */
  acknowledge(ids: readonly string[]): Promise<Acknowledged>
  prioritize(id: string, priority: number): Promise<TaskRecord>
  /** Changes the time limit of a live task; null: none. */
  limit(id: string, timeoutMs: number | null): Promise<TaskRecord>
  /** Removes ended tasks, used or not; returns how many. */
  clear(filter: OwnFilter): Promise<number>
  readonly groups: GroupOperations
}

export function createTaskOperations(call: BackgroundCall): TaskOperations {
  const { tasks } = call.context
  return {
    call,
    start: (request) => startTask(call, request),
    startAgent: (request) => startAgent(call, request),
    look: (id) => requireTask(call, id),
    async read(id) {
      const { task } = await requireTask(call, id)
      return tasks.result(task.id, { consume: true })
    },
    async output(id, request) {
      const { task } = await requireTask(call, id)
      return tasks.output(task.id, request)
    },
    artifact: (request) => readArtifact(call, request),
    wait: (request) => waitForTasks(call, request),
    show: (views, how) => showResults(call, views, how),
    list: (filter) => listOwn(call, filter),
    listFamily: (filter, isWanted) => listFamily(call, filter, isWanted),
    below: (task) => placeBelow(tasks.list, task),
    listWork: (filter) => listWork(call, filter),
    cancel: (id, reason) => cancelOwn(call, id, reason),
    cancelAndLook: (id) => cancelAndLook(call, id),
    async send(id, message) {
      const { task } = await requireOwn(call, id)
      return tasks.say(task.id, message)
    },
    async resume(id, prompt) {
      const { task } = await requireOwn(call, id)
      return tasks.resume(task.id, prompt)
    },
    acknowledge: (ids) => acknowledge(call, ids),
    async prioritize(id, priority) {
      const { task } = await requireOwn(call, id)
      return tasks.prioritize(task.id, priority)
    },
    async limit(id, timeoutMs) {
      const { task } = await requireOwn(call, id)
      return tasks.limit(task.id, timeoutMs)
    },
    clear: (filter) => clearOwn(call, filter),
    groups: createGroupOperations(call),
  }
}

/** The groups of this conversation, by name or id. */
interface GroupOperations {
  get(id: string): Promise<GroupRecord>
  /** Newest first. */
  list(states: readonly GroupState[] | undefined): Promise<readonly GroupRecord[]>
  seal(id: string): Promise<GroupRecord>
  /** Stops the group's live members and releases everyone who waits for the group. */
  cancel(id: string, reason?: string): Promise<GroupRecord>
  /** The question to a person about a `human_gated` group. */
  gate(id: string): Promise<Wait>
  /** Decides whether the results of a gated group are used. `apply` needs the word of the person that `by` names. */
  decide(id: string, decision: "apply" | "reject", by?: string): Promise<GroupRecord>
}

function createGroupOperations({ context: { session, tasks } }: BackgroundCall): GroupOperations {
  return {
    get: (id) => tasks.groups.get(id, { session }),
    list: (states) => tasks.groups.list({ session, ...(states && { states }) }),
    seal: (id) => tasks.groups.seal(id, { session }),
    cancel: (id, reason = "the agent cancelled its group") =>
      tasks.groups.cancel(id, { by: "model", reason }, { session }),
    gate: (id) => tasks.groups.gate(id, { session }),
    decide: (id, decision, by = "model") => tasks.groups.decide(id, decision, by, { session }),
  }
}
