import { MeanwhileError } from "../../base/error.ts"
import { unlessAborted } from "../../base/unless-aborted.ts"
import type { Tool } from "../../plugin/tool.ts"
import type { TaskService, ListedTask, TaskView } from "../../plugin/task-service.ts"
import type { CountFilter } from "../../plugin/task-filter.ts"
import { toGivenWorkspace } from "../../task/given-id.ts"
import type { TaskId, WorkspaceId } from "../../task/id.ts"
import { isTerminal, STOPPED_STATUSES } from "../../task/lifecycle.ts"
import type { Page, PageRequest, StatusCounts, TaskFilter as StoredTaskFilter } from "../../task/store.ts"
import type { TaskRecord } from "../../task/record.ts"
import { adopt } from "../start/adopt.ts"
import { cancelTask } from "../stop/cancel.ts"
import { changeLimit } from "../stop/change-limit.ts"
import { execute } from "../foreground/execute.ts"
import { toHarmlessOptions } from "../foreground/harmless-options.ts"
import { findArtifact } from "../result/find-artifact.ts"
import { findKnownTasks, findTask, notFound, toFullId } from "../result/find-task.ts"
import { toStoredFilter } from "../result/stored-filter.ts"
import { removeTask, removeTasks } from "../result/retention.ts"
import { resumeTask, sayToTask } from "../start/resume-task.ts"
import { retryTask } from "../start/begin-anew.ts"
import type { RunnerScope } from "../admit/scope.ts"
import { start } from "../start/start.ts"
import { readTaskOutput, waitForTaskOutput } from "../result/task-output.ts"
import { acknowledgeTasks, handOverResults, type ResultReader } from "../result/use-results.ts"
import { waitFor } from "../result/wait-for.ts"
import { checkPriority, parseInput, toShapeKey } from "../admit/details.ts"
import type { FenceScope, HasQueue, HasSpool, HasTools, WaitScope, HasStore } from "../run/scope.ts"
import { toDisplayText } from "../spool/display-text.ts"
import { waitForEnd } from "../run/wait-for-end.ts"
import { findMissingAbility } from "../queue/missing-ability.ts"
import { findWorker, listWorkers } from "../worker/worker-list.ts"
import { createGroupService } from "./group-service.ts"

/**
 * The commands over tasks, as front ends, vocabularies and tools get them. `store` is where they write: that of one run
 * refuses what the run may not write any more. What goes on after a command, as a run or its time limit does, writes to
 * the store of the runner.
 */
export function createTaskService(runner: RunnerScope, store = runner.store): TaskService {
  const scope: RunnerScope = { ...runner, store }
  return {
    execute: (call, options) => execute(runner, call, options && toHarmlessOptions(runner, options)),
    start: (call) => start(runner, call),
    adopt: (call, work) => adopt(runner, call, work),
    get: async (id, workspace) => toView(scope, await findTask(scope, id, workspace)),
    result: async (id, options = {}, workspace) => getResult(scope, id, options, toGivenWorkspace(workspace)),
    cancel: async (id, request, workspace) => cancelTask(scope, await findTask(scope, id, workspace), request),
    retry: async (id, workspace) => retryTask(scope, await findTask(scope, id, workspace)),
    resume: async (id, prompt, workspace) => resumeTask(scope, await findTask(scope, id, workspace), prompt),
    say: async (id, message, workspace) => sayToTask(scope, await findTask(scope, id, workspace), message),
    waitFor: async (request, workspace) =>
      waitFor(scope, request, { toView: (task) => toView(scope, task), workspace: toGivenWorkspace(workspace) }),
    groups: createGroupService(scope),
    async prioritize(id, priority, workspace) {
      checkPriority(priority)
      const { id: taskId } = await findTask(scope, id, workspace)
      const [task] = await scope.store.commit([{ op: "task.prioritize", taskId, priority }])
      return task
    },
    limit: async (id, timeoutMs, workspace) =>
      changeLimit(runner, await findTask(scope, id, workspace), timeoutMs, store),
    list: async (filter, page) => listTasks(scope, toStoredFilter(filter), page),
    output: async (id, request = {}, workspace) => readTaskOutput(scope, await findTask(scope, id, workspace), request),
    waitForOutput: async (id, request, workspace) =>
      waitForTaskOutput(scope, await findTask(scope, id, workspace), request),
    artifact: (hash, workspace) => findArtifact(scope, hash, workspace),
    async acknowledge(ids, workspace) {
      return acknowledgeTasks(scope, await findKnownTasks(scope, ids, workspace))
    },
    clear: async (filter) => removeTasks(scope, toStoredFilter(filter)),
    async remove(id, workspace) {
      const task = await findTask(scope, id, workspace)
      return isTerminal(task.status) && removeTask(scope, task)
    },
    async cleanupCompleted(maxAgeMs, scopedTo, plugin) {
      const workspace = toGivenWorkspace(scopedTo)
      if (!(maxAgeMs >= 0)) {
        throw new MeanwhileError("invalid_input", `The age must be 0 or more, not ${maxAgeMs}.`, { field: "maxAgeMs" })
      }
      const consumedBefore = Math.ceil(scope.clock.now() - maxAgeMs) + 1
      return removeTasks(scope, { workspace, consumedBefore, ...(plugin !== undefined && { plugin }) })
    },
    estimate: (call) => estimateCall(scope, call),
  }
}

const DEFAULT_PAGE_SIZE = 50
const LONGEST_PAGE = 1_000
const LAST_LINE_BYTES = 512
const LONGEST_GUESS_MS = 1_000

export async function toView(scope: FenceScope & HasSpool & HasQueue & HasTools, task: TaskRecord): Promise<TaskView> {
  const isQueued = task.status === "queued"
  const placeInQueue = isQueued ? ((await scope.store.placeInQueue(task.id)) ?? null) : null
  const missing = isQueued ? (findMissingAbility(scope, task, await listWorkers(scope)) ?? null) : null
  const worker = "worker" in task ? await findWorker(scope, task.worker) : null
  const estimate = await estimateFor(scope, task)
  const outputBytes = await scope.spool.totalBytes(task.id, task.run)
  const lastLine = task.progress?.line ?? (outputBytes > 0 ? await toLastLine(scope, task) : null)
  const outlived = await findOutlived(scope, task)
  return { task, placeInQueue, missing, worker, estimate, outputBytes, lastLine, outlived }
}

/** A stop, and the end that confirms it, write a handful of events; the note is among the last of the task. */
const EVENTS_READ = 100

/** The tasks of lifetime `forever` that go on although this task, which had started them, was stopped. */
async function findOutlived(scope: HasStore, task: TaskRecord): Promise<readonly TaskId[]> {
  if (!task.hasChildren || !STOPPED_STATUSES.has(task.status)) return []
  const events = await scope.store.events(task.id, Math.max(0, task.lastSequence - EVENTS_READ), EVENTS_READ)
  const noted = events.flatMap(({ run, body }) => (body.type === "task.outlived" && run === task.run ? body.by : []))
  return [...new Set(noted)]
}

export async function getResult(
  scope: WaitScope & FenceScope & HasSpool & HasQueue & HasTools,
  id: string,
  options: NonNullable<Parameters<TaskService["result"]>[1]>,
  workspace: WorkspaceId,
  reader?: ResultReader,
): Promise<TaskView> {
  const taskId = await toFullId(scope, id, workspace)
  const { waitMs = 0, signal, consume = false } = options
  if (!(waitMs >= 0))
    throw new MeanwhileError("invalid_input", `\`waitMs\` must be 0 or more, not ${waitMs}.`, { field: "waitMs" })
  const task = await waitForEnd(scope, taskId, { workspace, timeoutMs: waitMs, ...(signal && { signal }) })
  if (!task) throw notFound(id)
  if (consume && isTerminal(task.status)) await handOverResults(scope, [task], reader)
  return toView(scope, task)
}

async function listTasks(
  scope: FenceScope & HasQueue,
  filter: StoredTaskFilter,
  page: Partial<PageRequest> = {},
): Promise<Page<ListedTask>> {
  const limit = page.limit ?? DEFAULT_PAGE_SIZE
  if (!Number.isSafeInteger(limit) || limit < 1 || limit > LONGEST_PAGE) {
    throw new MeanwhileError("invalid_input", `\`limit\` must be from 1 to ${LONGEST_PAGE}, not ${limit}.`, {
      field: "limit",
    })
  }
  const found = await scope.store.tasks(filter, { ...page, limit })
  if (!found.items.some(({ status }) => status === "queued")) return found
  const workers = await listWorkers(scope)
  const items = found.items.map((task) => {
    const missing = task.status === "queued" ? findMissingAbility(scope, task, workers) : undefined
    return missing ? { ...task, missing } : task
  })
  return { ...found, items }
}

async function estimateCall(scope: HasTools, call: Parameters<TaskService["estimate"]>[0]) {
  const { plugin, tool } = scope.tools.find(call.tool, call.plugin)
  const input = parseInput(tool, call.input)
  const workspace = toGivenWorkspace(call.workspace)
  return scope.tools.durations.estimate(workspace, toShapeKey(plugin, tool, input), await guessMs(tool, input))
}

async function estimateFor(scope: HasTools, task: TaskRecord): Promise<TaskView["estimate"]> {
  if (isTerminal(task.status) || task.strippedAt !== null) return null
  return estimateCall(scope, task).catch(() => null)
}

/** The tool's own guess. Undefined if it throws, takes too long or is no duration: readers of a task do not wait for it. */
async function guessMs(tool: Tool, input: unknown): Promise<number | undefined> {
  const limit = new AbortController()
  using _ = setTimeout(() => limit.abort(), LONGEST_GUESS_MS)
  try {
    const guess: unknown = await unlessAborted(limit.signal, Promise.resolve(tool.estimateMs?.(input)))
    return typeof guess === "number" && guess >= 0 ? guess : undefined
  } catch {
    return undefined
  }
}

async function toLastLine(scope: HasSpool, task: TaskRecord): Promise<string | null> {
  const { text } = await scope.spool.read(
    task.id,
    task.run,
    { tailBytes: LAST_LINE_BYTES },
    { isComplete: isTerminal(task.status) },
  )
  return toDisplayText(text).trimEnd().split("\n").at(-1)?.trim() || null
}

export interface TaskCounts {
  readonly byStatus: StatusCounts
  /** How long the oldest task that could run has been in the queue; null when there is none. */
  readonly queueAgeMs: number | null
}

/** One query for each of the two figures. */
export async function countTasks({ store }: HasStore, filter: CountFilter): Promise<TaskCounts> {
  const inWorkspace = { ...filter, workspace: toGivenWorkspace(filter.workspace) }
  const { statuses: _, ...queued } = inWorkspace
  const [byStatus, queueAgeMs = null] = await Promise.all([store.countByStatus(inWorkspace), store.queueAgeMs(queued)])
  return { byStatus, queueAgeMs }
}
