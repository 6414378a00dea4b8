import { MeanwhileError } from "../../base/error.ts"
import type { TaskService } from "../../plugin/task-service.ts"
import { DEFAULT_WORKSPACE } from "../../task/id.ts"
import { isTerminal } from "../../task/lifecycle.ts"
import type { TaskFilter } from "../../task/store.ts"
import { adopt } from "../start/adopt.ts"
import { cancelTask } from "../stop/cancel.ts"
import { estimateCall, getResult, listTasks, toView } from "./task-view.ts"
import { execute } from "../foreground/execute.ts"
import { createGroupService } from "./group-service.ts"
import { findTask } from "../result/find-task.ts"
import { removeTask, removeTasks } from "../result/retention.ts"
import { resumeTask, sayToTask } from "../start/resume-task.ts"
import { retryTask } from "../start/begin-anew.ts"
import type { RunnerScope } from "../admit/scope.ts"
import { start } from "../start/start.ts"
import { readTaskOutput, waitForTaskOutput } from "../result/task-output.ts"
import { acknowledgeTasks } from "../result/use-results.ts"
import { waitFor } from "../result/wait-for.ts"

/** The commands over tasks, as front ends, vocabularies and tools get them. */
export function createTaskService(scope: RunnerScope): TaskService {
  return {
    execute: (call, options) => execute(scope, call, options),
    start: (call) => start(scope, call),
    adopt: (call, work) => adopt(scope, call, work),
    get: async (id, workspace) => toView(scope, await findTask(scope, id, workspace)),
    result: (id, options = {}, workspace) => getResult(scope, id, options, workspace),
    cancel: async (id, request, workspace) => cancelTask(scope, await findTask(scope, id, workspace), request),
    retry: async (id, workspace) => retryTask(scope, await findTask(scope, id, workspace)),
    resume: async (id, prompt, workspace) => resumeTask(scope, await findTask(scope, id, workspace), prompt),
    say: async (id, message, workspace) => sayToTask(scope, await findTask(scope, id, workspace), message),
    waitFor: (request, workspace) =>
      waitFor(scope, request, { toView: (task) => toView(scope, task), ...(workspace && { workspace }) }),
    groups: createGroupService(scope),
    async prioritize(id, priority, workspace) {
      if (!Number.isSafeInteger(priority)) {
        throw new MeanwhileError("invalid_input", `\`priority\` must be a whole number, not ${priority}.`, {
          field: "priority",
        })
      }
      const { id: taskId } = await findTask(scope, id, workspace)
      const [task] = await scope.store.commit([{ op: "task.prioritize", taskId, priority }])
      return task
    },
    list: (filter, page) => listTasks(scope, inWorkspace(filter), page),
    output: async (id, request = {}, workspace) => readTaskOutput(scope, await findTask(scope, id, workspace), request),
    waitForOutput: async (id, request, workspace) =>
      waitForTaskOutput(scope, await findTask(scope, id, workspace), request),
    async acknowledge(ids, workspace) {
      return acknowledgeTasks(scope, await Promise.all(ids.map((id) => findTask(scope, id, workspace))))
    },
    clear: (filter) => removeTasks(scope, inWorkspace(filter)),
    async remove(id, workspace) {
      const task = await findTask(scope, id, workspace)
      return isTerminal(task.status) && removeTask(scope, task)
    },
    async cleanupCompleted(maxAgeMs, workspace = DEFAULT_WORKSPACE, plugin) {
      if (!(maxAgeMs >= 0)) {
        throw new MeanwhileError("invalid_input", `The age must be 0 or more, not ${maxAgeMs}.`, { field: "maxAgeMs" })
      }
      const consumedBefore = Math.ceil(scope.clock.now() - maxAgeMs) + 1
      return removeTasks(scope, { workspace, consumedBefore, ...(plugin !== undefined && { plugin }) })
    },
    estimate: (call) => estimateCall(scope, call),
  }
}

/** No filter reaches beyond one workspace, not even one that leaves it undefined. */
function inWorkspace(filter: TaskFilter): TaskFilter {
  return { ...filter, workspace: filter.workspace ?? DEFAULT_WORKSPACE }
}
