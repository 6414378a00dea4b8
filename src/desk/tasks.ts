import type { OutputChunk, OutputRequest } from "../plugin/output.ts"
import type { StopRequest } from "../plugin/stop-request.ts"
import type {
  ExecuteOptions,
  Execution,
  ListedTask,
  SaidTo,
  TaskService,
  TaskView,
  ToolCall,
} from "../plugin/task-service.ts"
import type { Runner } from "../runner/runner.ts"
import type { WorkspaceId } from "../task/id.ts"
import type { TaskRecord } from "../task/record.ts"
import type { CountFilter, Page, PageRequest, TaskFilter } from "../task/store.ts"

/** A filter of tasks at a desk, which is bound to its workspace. */
export type DeskFilter = Omit<TaskFilter, "workspace">
export type DeskCall = Omit<ToolCall, "workspace">

/** The tasks of one workspace. Ids may be any unambiguous prefix. */
export interface DeskTasks {
  /** Newest first. */
  list(filter: DeskFilter, page: PageRequest): Promise<Page<ListedTask>>
  counts(filter: Omit<CountFilter, "workspace">): ReturnType<Runner["counts"]>
  find(id: string): Promise<TaskView>
  output(id: string, request: OutputRequest): Promise<OutputChunk>
  /** Runs a call in the foreground, until it ends or is promoted. */
  execute(call: DeskCall, options: ExecuteOptions): Execution
  start(call: DeskCall): Promise<TaskRecord>
  cancel(id: string, request: StopRequest): Promise<TaskRecord>
  retry(id: string): Promise<TaskRecord>
  resume(id: string, prompt: string): Promise<TaskRecord>
  /** Speaks to an agent: one that works hears it at its next tool boundary, one that has completed is resumed. */
  steer(id: string, message: string): Promise<SaidTo>
}

export function createDeskTasks(workspace: WorkspaceId, tasks: TaskService & Pick<Runner, "counts">): DeskTasks {
  return {
    list: (filter, page) => tasks.list({ ...filter, workspace }, page),
    counts: (filter) => tasks.counts({ ...filter, workspace }),
    find: (id) => tasks.get(id, workspace),
    output: (id, request) => tasks.output(id, request, workspace),
    execute: (call, options) => tasks.execute({ ...call, workspace }, options),
    start: (call) => tasks.start({ ...call, workspace }),
    cancel: (id, request) => tasks.cancel(id, request, workspace),
    retry: (id) => tasks.retry(id, workspace),
    resume: (id, prompt) => tasks.resume(id, prompt, workspace),
    steer: (id, message) => tasks.say(id, message, workspace),
  }
}
