import type { TaskService } from "../plugin/task-service.ts"
import type { WorkspaceId } from "../task/id.ts"

/** The same commands in one workspace: whatever a call, a filter or a scope says, nothing crosses it. */
export function bindWorkspace(service: TaskService, workspace: WorkspaceId): TaskService {
  return {
    execute: (call, options) => service.execute({ ...call, workspace }, options),
    start: (call) => service.start({ ...call, workspace }),
    adopt: (call, work) => service.adopt({ ...call, workspace }, work),
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
