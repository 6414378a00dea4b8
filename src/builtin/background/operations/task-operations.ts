import type { GroupState } from "../../../task/group.ts"
import type { OutputRequest } from "../../../plugin/output.ts"
import type { TaskView } from "../../../plugin/task-service.ts"
import type { BackgroundCall } from "./background-call.ts"
import {
  cancelAndLook,
  cancelOwn,
  clearOwn,
  listOwn,
  listWork,
  type OwnFilter,
  type OwnWait,
  requireOwn,
  requireTask,
  waitForTasks,
} from "./own-tasks.ts"
import { type ResultView, showResults } from "./show-results.ts"
import { type AgentStart, startAgent, startTask, type TaskStart } from "./start-task.ts"

export type TaskOperations = ReturnType<typeof createTaskOperations>

/**
 * All that a vocabulary can do, for one call of it. Ids may be any unambiguous prefix. What changes something reaches
 * the tasks of the asking conversation only; what reads by id reaches the workspace.
 */
export function createTaskOperations(call: BackgroundCall) {
  const { tasks } = call.context
  return {
    call,
    /** The same work of this conversation that is alive is found, not started a second time, unless `again` is said. */
    start: (request: TaskStart) => startTask(call, request),
    /** Refused as `not_background_capable` where no tool of kind `agent` is offered. */
    startAgent: (request: AgentStart) => startAgent(call, request),
    /** How it stands. Claims nothing. */
    look: (id: string) => requireTask(call, id),
    /** The same; a result that is there counts as used once this turn has kept the answer. Never waits. */
    async read(id: string) {
      const { task } = await requireTask(call, id)
      return tasks.result(task.id, { consume: true })
    },
    async output(id: string, request: OutputRequest) {
      const { task } = await requireTask(call, id)
      return tasks.output(task.id, request)
    },
    /** Claims nothing. A new message of the person ends it. Without `tasks` and `group`: for all unused work. */
    wait: (request: OwnWait) => waitForTasks(call, request),
    /** As many of them as an answer holds. What has ended and is shown counts as used; the rest is told by itself. */
    show: (views: readonly TaskView[], how: ResultView) => showResults(call, views, how),
    /** Newest first, at most a thousand. */
    list: (filter: OwnFilter) => listOwn(call, filter),
    /** The same without what a person is asked, which is reached only by its id. */
    listWork: (filter: OwnFilter) => listWork(call, filter),
    /** Returns once the stop is accepted. */
    cancel: (id: string, reason?: string) => cancelOwn(call, id, reason),
    /** True when nothing of it runs any more. */
    cancelAndLook: (id: string) => cancelAndLook(call, id),
    /** To a running agent at its next tool boundary; a completed one is resumed. */
    async send(id: string, message: string) {
      const { task } = await requireOwn(call, id)
      return tasks.say(task.id, message)
    },
    async resume(id: string, prompt: string) {
      const { task } = await requireOwn(call, id)
      return tasks.resume(task.id, prompt)
    },
    acknowledge: (ids: readonly string[]) => tasks.acknowledge(ids),
    async prioritize(id: string, priority: number) {
      const { task } = await requireOwn(call, id)
      return tasks.prioritize(task.id, priority)
    },
    /** Removes ended tasks, used or not; returns how many. */
    clear: (filter: OwnFilter) => clearOwn(call, filter),
    groups: createGroupOperations(call),
  }
}

/** The groups of this conversation, by name or id. */
function createGroupOperations({ context: { session, tasks } }: BackgroundCall) {
  return {
    get: (id: string) => tasks.groups.get(id, { session }),
    /** Newest first. */
    list: (states: readonly GroupState[] | undefined) => tasks.groups.list({ session, ...(states && { states }) }),
    seal: (id: string) => tasks.groups.seal(id, { session }),
    /** Stops its live members and releases everyone who waits for it. */
    cancel: (id: string, reason = "the agent cancelled its group") =>
      tasks.groups.cancel(id, { by: "model", reason }, { session }),
    /** The question to a person about a `human_gated` group. */
    gate: (id: string) => tasks.groups.gate(id, { session }),
    /** Decides if the result of such a group is used. `apply` only with the word of the named person. */
    decide: (id: string, decision: "apply" | "reject", by = "model") =>
      tasks.groups.decide(id, decision, by, { session }),
  }
}
