import type { TaskService, ToolCall } from "../../plugin/task-service.ts"
import type { ActiveRun } from "./active-run.ts"

/**
 * The same commands for what one run does with them. Whatever a call, a filter or a scope says, nothing crosses the
 * run's workspace, and all it starts is below it, or below whoever called a tool that only passes on: the limits of
 * depth and number cannot be got round. A call that names no session belongs to the run's, and one that names no trace
 * to the run's too.
 */
export function bindToRun(service: TaskService, active: ActiveRun): TaskService {
  const { taskId, workspace, session, traceId, tool, parentTask } = active
  const bind = (call: ToolCall): ToolCall => ({
    ...call,
    workspace,
    parentTask: tool.startsForCaller ? parentTask : taskId,
    session: call.session ?? session,
    ...(traceId !== null && { traceId: call.traceId ?? traceId }),
  })
  return {
    execute: (call, options) => service.execute(bind(call), options),
    start: (call) => service.start(bind(call)),
    adopt: (call, work) => service.adopt(bind(call), work),
    get: (id) => service.get(id, workspace),
    result: (id, options) => service.result(id, options, workspace),
    cancel: (id, request) => service.cancel(id, request, workspace),
    retry: (id) => service.retry(id, workspace),
    prioritize: (id, priority) => service.prioritize(id, priority, workspace),
    list: (filter, page) => service.list({ ...filter, workspace }, page),
    output: (id, request) => service.output(id, request, workspace),
    waitForOutput: (id, request) => service.waitForOutput(id, request, workspace),
    acknowledge: (ids) => service.acknowledge(ids, workspace),
    clear: (filter) => service.clear({ ...filter, workspace }),
    cleanupCompleted: (maxAgeMs) => service.cleanupCompleted(maxAgeMs, workspace),
    estimate: (call) => service.estimate({ ...call, workspace }),
  }
}
