import { createManualClock } from "../../../src/base/manual-clock.ts"
import { MeanwhileError } from "../../../src/base/error.ts"
import { createTaskId, DEFAULT_WORKSPACE, type WorkerId } from "../../../src/task/id.ts"
import { isTerminal } from "../../../src/task/lifecycle.ts"
import { toPatch } from "../../../src/task/patch.ts"
import { NO_USAGE } from "../../../src/task/progress.ts"
import { PLAIN_DETAILS, type RunState, type TaskRecord } from "../../../src/task/record.ts"
import type { Survivors } from "../../../src/task/stop.ts"
import type { TaskService, TaskView, ToolCall } from "../../../src/plugin/task-service.ts"

/** The clock of the service below. */
export const clock = createManualClock()
const running: RunState = { status: "running", worker: "worker" as WorkerId }

function createRecord(call: ToolCall): TaskRecord {
  const now = clock.now()
  return {
    ...PLAIN_DETAILS,
    id: createTaskId(),
    workspace: DEFAULT_WORKSPACE,
    kind: "tool",
    plugin: call.plugin ?? "",
    tool: call.tool,
    title: call.tool,
    input: null,
    metadata: call.metadata ?? {},
    limits: { ...PLAIN_DETAILS.limits, timeoutMs: call.timeoutMs ?? null },
    run: 1,
    fence: 1,
    queuedAt: now,
    startedAt: now,
    ranMs: 0,
    createdAt: now,
    lastSequence: 1,
    progress: null,
    usage: NO_USAGE,
    resumeCount: 0,
    retrievedAt: null,
    hasChildren: false,
    strippedAt: null,
    ...running,
  }
}

/** A task service over a Map. Tasks run until the test ends them, or until they are cancelled. */
export function createFakeService({
  survivors = [],
  ignoresStop = false,
}: {
  survivors?: Survivors
  ignoresStop?: boolean
} = {}) {
  const tasks = new Map<string, TaskRecord>()
  const consumedAt = new Map<string, number>()
  const ended = new Map<string, PromiseWithResolvers<void>>()
  const calls: ToolCall[] = []

  function add(call: ToolCall): TaskRecord {
    const record = createRecord(call)
    calls.push(call)
    tasks.set(record.id, record)
    ended.set(record.id, Promise.withResolvers())
    return record
  }
  function view(id: string): TaskView {
    const task = tasks.get(id)
    if (!task) throw new MeanwhileError("not_found", `There is no task ${id}.`)
    const estimate = { medianMs: 30_000, p90Ms: 60_000, source: "guess" } as const
    return {
      task,
      placeInQueue: null,
      missing: null,
      worker: null,
      estimate,
      outputBytes: 0,
      lastLine: null,
      outlived: [],
    }
  }
  function end(id: string, state: RunState): void {
    const { task } = view(id)
    tasks.set(id, { ...task, ranMs: 2_500, ...state })
    ended.get(id)?.resolve()
  }

  const service: Partial<TaskService> = {
    start: async (call) => add(call),
    adopt: async (call, work) => {
      const record = add(call)
      if (work instanceof Promise) {
        void work.then((value) =>
          end(record.id, { status: "completed", endedAt: clock.now(), patch: toPatch(String(value)) }),
        )
      }
      return record
    },
    get: async (id) => view(id),
    result: async (id, options = {}) => {
      if ((options.waitMs ?? 0) > 1_000_000) await ended.get(id)?.promise
      if (options.consume && isTerminal(view(id).task.status)) consumedAt.set(id, clock.now())
      return view(id)
    },
    cancel: async (id, { by = "person", reason = "" } = {}) => {
      const stop = { by, reason, requestedAt: clock.now() }
      const stopped = { status: "cancelled", endedAt: clock.now(), stop, survivors, patch: null } as const
      if (!ignoresStop) end(id, stopped)
      return view(id).task
    },
    list: async ({ plugin, statuses }, page = {}) => {
      const items = [...tasks.values()].filter((task) => task.plugin === plugin && statuses?.includes(task.status))
      const start = Number(page.cursor ?? 0)
      return { items: items.slice(start, start + 1), ...(start + 1 < items.length && { cursor: String(start + 1) }) }
    },
    cleanupCompleted: async (maxAgeMs, _, plugin) => {
      const gone = [...tasks.values()].filter(
        ({ id, plugin: owner }) =>
          owner === plugin && (consumedAt.get(id) ?? Number.POSITIVE_INFINITY) <= clock.now() - maxAgeMs,
      )
      for (const { id } of gone) tasks.delete(id)
      return gone.length
    },
    estimate: async () => ({ medianMs: 30_000, p90Ms: 60_000, source: "guess" }),
  }
  return { service: service as TaskService, calls, end, add }
}
