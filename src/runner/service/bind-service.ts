import { MeanwhileError } from "../../base/error.ts"
import type { GroupFilter, GroupService } from "../../plugin/group-service.ts"
import type { TaskService, ToolCall } from "../../plugin/task-service.ts"
import type { AskingStep, TaskRecord } from "../../task/record.ts"
import { requireHopsLeft } from "../admit/child-limits.ts"
import { findArtifact } from "../result/find-artifact.ts"
import { findKnownTasks, findTask } from "../result/find-task.ts"
import { resumeTask, sayToTask } from "../start/resume-task.ts"
import { retryTask } from "../start/begin-anew.ts"
import { acknowledgeTasks, type ResultReader } from "../result/use-results.ts"
import { waitFor } from "../result/wait-for.ts"
import { isWithheld, withhold } from "../group/gate.ts"
import { toClaimedStore } from "../run/claimed-store.ts"
import { toAct } from "../run/ownership.ts"
import type { HasActive, HasStore } from "../run/scope.ts"
import type { RunnerScope } from "../admit/scope.ts"
import type { ActiveRun, RunOrigin } from "../run/active-run.ts"
import { executeOwn } from "../run/own-executions.ts"
import { runsAbove } from "../run/runs-above.ts"
import { createTaskService, getResult, toView } from "./task-service.ts"

/**
 * The task service of one run. Whatever a call or a filter says, nothing crosses the run's workspace. All that the run
 * starts is below it, or below its caller if the tool `startsForCaller`: so no run gets round the limits of depth and
 * number. A call that names no session, trace, message or batch has the run's. What the run writes is refused once
 * another worker has the run, or the turn whose call it is.
 */
export function bindToRun(runner: RunnerScope, active: ActiveRun): TaskService {
  const { workspace, hops } = active.origin
  const { tool } = active.call
  const store = toClaimedStore(runner, active)
  const scope: RunnerScope = { ...runner, store }
  const service = createTaskService(runner, store)
  const reader = toReader(runner, active)
  const bind = (call: ToolCall): ToolCall => toOwnCall(active, call)
  const act = toAct(runner, active)
  return {
    execute: (call, options) => executeOwn(runner, active, (own) => service.execute(bind(call), own), options),
    async start(call) {
      const task = await act(() => service.start(bind(call)))
      active.listeners.onStarted?.(task.id)
      return task
    },
    adopt: (call, work) => service.adopt(bind(call), work),
    get: async (id) => withhold(scope, await service.get(id, workspace)),
    result: async (id, options = {}) => withhold(scope, await getResult(scope, id, options, workspace, reader)),
    cancel: (id, request) => service.cancel(id, request, workspace),
    async retry(id) {
      requireHopsLeft(scope.admission, hops, tool)
      const task = await findTask(scope, id, workspace)
      return act(() => retryTask(scope, task, hops))
    },
    async resume(id, prompt) {
      requireHopsLeft(scope.admission, hops, tool)
      const task = await findTask(scope, id, workspace)
      return act(() => resumeTask(scope, task, prompt, hops))
    },
    async say(id, message) {
      const task = await findTask(scope, id, workspace)
      if (task.status === "completed") requireHopsLeft(scope.admission, hops, tool)
      return act(() => sayToTask(scope, task, message, hops))
    },
    waitFor: (request) =>
      waitFor(scope, request, { toView: (task) => toView(scope, task), workspace, run: active, reader }),
    groups: bindGroups(service.groups, active.origin),
    prioritize: (id, priority) => service.prioritize(id, priority, workspace),
    limit: (id, timeoutMs) => service.limit(id, timeoutMs, workspace),
    list: (filter, page) => service.list({ ...filter, workspace }, page),
    async output(id, request) {
      await requireShown(scope, await findTask(scope, id, workspace))
      return service.output(id, request, workspace)
    },
    waitForOutput: (id, request) => service.waitForOutput(id, request, workspace),
    async artifact(hash) {
      const artifact = await findArtifact(scope, hash, workspace)
      await requireShown(scope, await findTask(scope, artifact.taskId, workspace))
      return artifact
    },
    async acknowledge(ids) {
      return acknowledgeTasks(scope, await findKnownTasks(scope, ids, workspace), reader)
    },
    clear: (filter) => service.clear({ ...filter, workspace }),
    remove: (id) => service.remove(id, workspace),
    cleanupCompleted: (maxAgeMs, _, plugin) => service.cleanupCompleted(maxAgeMs, workspace, plugin),
    estimate: (call) => service.estimate({ ...call, workspace }),
  }
}

/** Output and artifacts are often the whole result of a task, so they are withheld as the result is. */
async function requireShown(scope: HasStore, task: TaskRecord): Promise<void> {
  if (!(await isWithheld(scope, task))) return
  const message = `What task ${task.id} printed or kept is shown once a person has said that the results of its group are used.`
  throw new MeanwhileError("wrong_state", message, { taskId: task.id })
}

function toOwnCall(active: ActiveRun, call: ToolCall): ToolCall {
  const { workspace, session, traceId, parentTask, parentMessage, batch, hops } = active.origin
  return {
    ...call,
    workspace,
    parentTask: active.call.tool.startsForCaller ? parentTask : active.taskId,
    session: call.session ?? session,
    parentMessage: call.parentMessage ?? parentMessage,
    batch: call.batch ?? batch,
    hops: Math.max(call.hops ?? 0, hops),
    ...(traceId !== null && { traceId: call.traceId ?? traceId }),
  }
}

/**
 * A result that the run reads is used by the turn whose call the run is. If it is no turn's call, the run itself uses the
 * result, at once.
 */
function toReader(scope: HasActive, active: ActiveRun): ResultReader {
  return { claimant: toClaimant(scope, active), session: active.origin.session }
}

/** The turn's step that the run answers, directly or through foreground calls. Null: a task's answer is in no turn. */
function toClaimant(scope: HasActive, active: ActiveRun): AskingStep | null {
  for (const run of runsAbove(scope, active)) {
    if (run.standing.in !== "foreground") return null
    if (run.origin.askedBy) return run.origin.askedBy
  }
  return null
}

function bindGroups(groups: GroupService, { workspace, session }: RunOrigin): GroupService {
  const bind = (filter: GroupFilter = {}): GroupFilter => ({ session, ...filter, workspace })
  return {
    open: (request) => groups.open({ session, ...request, workspace }),
    get: (id, filter) => groups.get(id, bind(filter)),
    list: (filter) => groups.list(bind(filter)),
    seal: (id, filter) => groups.seal(id, bind(filter)),
    cancel: (id, request, filter) => groups.cancel(id, request, bind(filter)),
    gate: (id, filter) => groups.gate(id, bind(filter)),
    decide: (id, decision, by, filter) => groups.decide(id, decision, by, bind(filter)),
  }
}
