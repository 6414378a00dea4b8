import { isMeanwhileError } from "../../base/error.ts"
import type { StepElsewhere, Tool } from "../../plugin/tool.ts"
import type { LifecycleEvent } from "../../task/event.ts"
import type { WorkerId } from "../../task/id.ts"
import type { Operation } from "../../task/operation.ts"
import type { TaskSummary } from "../../task/record.ts"
import type { Step } from "../../task/step.ts"
import { type Survivors, toStopEvent } from "../../task/stop.ts"
import { beginClaimed } from "../execute/begin-claimed.ts"
import { toSlotKeys } from "../execute/begin-run.ts"
import { type StreamScope, storeLeftOutput } from "../output/deliver-output.ts"
import { track } from "../run/enter.ts"
import { toCallKey } from "../run/call-key.ts"
import { decideOnCrash, decideTurnOnCrash, toCrashEvent, toInterrupted, toSecretGone } from "../run/on-crash.ts"
import { redactSurvivors } from "../redaction/redactor.ts"
import type {
  CancelScope,
  ExecuteScope,
  HasActive,
  HasClock,
  HasConfig,
  HasSpool,
  HasStore,
  HasTools,
} from "../run/scope.ts"
import { wakeTurns } from "../turn/take-turns.ts"

interface EndProcessesScope extends StreamScope, HasActive, HasConfig, HasSpool, HasTools {}

export interface ReclaimOptions {
  /** Default true. False: the lost worker had another spool, so what its processes have left is not known here. */
  readonly hasSpool: boolean
  /** The machine of the lost worker, where there are several. */
  readonly host?: string | undefined
  /** The data folder of the lost worker. */
  readonly dataFolder?: string | null
}

/**
 * Decides what becomes of one run whose worker is gone. What a process has done is known from its spool; what code
 * inside the lost process has done is not, so there `onCrash` decides.
 */
export async function reclaimRun(
  scope: ExecuteScope,
  task: TaskSummary,
  lost: WorkerId,
  options: ReclaimOptions = { hasSpool: true },
): Promise<void> {
  for (let known: TaskSummary | undefined = task; known; known = await readAnew(scope, known)) {
    try {
      return await decide(scope, known, lost, options)
    } catch (error) {
      if (isMeanwhileError(error, "wrong_state")) return
      if (!isMeanwhileError(error, "stale_claim")) throw error
    }
  }
}

/** A slow worker may have written until it learns that its lease was taken. Undefined: nothing is left to decide. */
async function readAnew(scope: HasStore, known: TaskSummary): Promise<TaskSummary | undefined> {
  const task = await scope.store.task(known.id)
  const isSameClaim = task?.status === "running" && task.run === known.run && task.fence === known.fence
  return isSameClaim && task.lastSequence !== known.lastSequence ? task : undefined
}

async function decide(scope: ExecuteScope, task: TaskSummary, lost: WorkerId, options: ReclaimOptions): Promise<void> {
  if (task.status === "stopping") await finishStop(scope, task, options)
  else if (task.status === "queued" || task.status === "waiting") await apply(scope, task, toSecretGone("lost_worker"))
  else if (task.status === "running") await reclaimRunning(scope, task, lost, options)
}

async function finishStop(
  scope: CancelScope & EndProcessesScope,
  task: Extract<TaskSummary, { status: "stopping" }>,
  { hasSpool }: ReclaimOptions,
): Promise<void> {
  const steps = await scope.store.steps(task.id, task.run)
  const tool = findTool(scope, task)
  // The tool may have work elsewhere, which only a worker that has the tool can end.
  if (scope.queue.own && !tool && steps.length > 0) return
  const processes = hasSpool ? await endProcesses(scope, task) : "unknown"
  const isNothingElsewhere = (await tool?.endElsewhere?.(steps).catch(() => false)) ?? true
  const survivors = isNothingElsewhere ? processes : "unknown"
  const { by, reason } = task.stop
  await apply(scope, task, { type: toStopEvent(by), by, reason, survivors, late: null })
}

async function reclaimRunning(
  scope: ExecuteScope,
  task: TaskSummary,
  lost: WorkerId,
  { hasSpool, host, dataFolder = null }: ReclaimOptions,
): Promise<void> {
  const tool = findTool(scope, task)
  const found = tool?.reattaches && hasSpool ? await findProcesses(scope, task) : null
  const steps = await scope.store.steps(task.id, task.run)
  const inFlight = steps.filter((step) => step.state === "started").map((step) => step.onCrash)
  const isElsewhere = tool?.endElsewhere !== undefined && steps.length > 0 && inFlight.length === 0
  const cutOff = inFlight.length === 0 ? null : await findElsewhere(tool, task, steps)
  if (found === "reattachable" || isElsewhere || cutOff) return adopt(scope, task, cutOff)
  const mayHaveRun = found !== "never_ran"
  if (mayHaveRun && hasSpool) await endProcesses(scope, task)
  if (found === "lost") {
    return apply(scope, task, toInterrupted("lost_worker", "its process ended without leaving an exit code"))
  }
  // A run that this worker itself left behind can go on here with the input it holds.
  const isHeldHere = lost === scope.worker.id && scope.written.heldInputs.has(task.id)
  if (task.inputHeldBy === lost && !isHeldHere) return apply(scope, task, toSecretGone("lost_worker"))
  const betweenSteps = mayHaveRun ? (tool?.onCrash ?? "fail") : "retry"
  const decision = task.kind === "turn" ? decideTurnOnCrash(inFlight) : decideOnCrash(inFlight, betweenSteps)
  // Only a tool that is known to start no processes has certainly left none.
  const left = !hasSpool && (tool?.reattaches ?? tool === undefined) ? { dataFolder } : undefined
  // A question names a call by its tool: the title of a call may be a model's words.
  const title = task.kind === "turn" ? task.title : task.tool
  const crash = { ...task, title, by: "lost_worker", ranMs: null, host, left } as const
  // The steps were read after the task: a step that was begun or finished since then counts.
  await apply(scope, task, toCrashEvent(decision, crash), task.lastSequence)
}

/**
 * Takes over a living or ended process with its full output, or work elsewhere. The run goes on here under a new fence.
 */
async function adopt(scope: ExecuteScope, task: TaskSummary, cutOff: StepElsewhere | null): Promise<void> {
  const run = { taskId: task.id, run: task.run }
  const spool = openRun(scope, task)
  const end = spool.foundEnd()
  const released = { type: "task.released", reason: "adopted", ...toRan(scope, task, end?.atMs) } as const
  const operations = [
    { op: "task.apply", run: { ...run, fence: task.fence }, event: released },
    { op: "task.apply", run, event: { type: "task.started", worker: scope.worker.id } },
    { op: "task.note", run, facts: [{ type: "task.adopted", pids: spool.pids() }] },
    ...(cutOff ? [{ op: "step.finish", run, ...cutOff } as const] : []),
  ] as const satisfies readonly Operation[]
  await track(scope, async () => {
    const [, adopted] = await scope.store.commit(operations).catch((error: unknown) => {
      spool.abandon()
      throw error
    })
    scope.slots.take(toSlotKeys(adopted))
    beginClaimed(scope, adopted, { isAdopted: true, hasEndedInTime: end?.isInTime ?? false })
  })
}

/** What a step began that the crash cut off. A plugin that cannot be asked now does not know. */
async function findElsewhere(
  tool: Tool | undefined,
  { id: taskId, run, askedBy }: TaskSummary,
  steps: readonly Step[],
): Promise<StepElsewhere | null> {
  const callKey = toCallKey({ taskId, run, origin: { askedBy } })
  return (await tool?.findElsewhere?.({ callKey, run }, steps).catch(() => null)) ?? null
}

/** A command that ended while nobody watched ran until it ended. The file's time is this machine's, `startedAt` the store's. */
function toRan({ clock }: HasClock, { startedAt }: TaskSummary, endedAtMs: number | undefined): { ranMs?: number } {
  if (startedAt === null || endedAtMs === undefined) return {}
  const sinceEndMs = Math.max(0, Date.now() - endedAtMs)
  return { ranMs: Math.max(0, Math.round(clock.now() - sinceEndMs - startedAt)) }
}

async function findProcesses(scope: HasConfig & HasSpool, task: TaskSummary) {
  const spool = openRun(scope, task)
  const found = await spool.reattach()
  if (found === "never_ran") await spool.close()
  return found
}

/**
 * Ends the processes of a run. A worker that was suspended before its first command, and so has no folder, can no longer
 * start it. A tool that is not known here may be one that starts commands.
 */
async function endProcesses(scope: EndProcessesScope, task: TaskSummary): Promise<Survivors> {
  const tool = findTool(scope, task)
  if (!scope.spool.hasRun(task.id, task.run) && tool && !tool.reattaches) return []
  const spool = openRun(scope, task)
  const survivors = await spool.stopAll(scope.config.stopGraceSeconds * 1_000)
  const { id: taskId, run, fence, inputHeldBy } = task
  await storeLeftOutput(scope, spool, { taskId, run, fence }, inputHeldBy !== null)
  await spool.close()
  return redactSurvivors(scope.redactor, survivors)
}

function openRun(scope: HasConfig & HasSpool, task: TaskSummary) {
  const outputLimitBytes = task.limits.outputBytes ?? scope.config.outputLimitBytes
  return scope.spool.openRun(task.id, task.run, { outputLimitBytes })
}

function findTool(scope: HasTools, task: TaskSummary) {
  try {
    return scope.tools.find(task.tool, task.plugin).tool
  } catch {
    return undefined
  }
}

async function apply(
  scope: CancelScope,
  task: TaskSummary,
  event: LifecycleEvent,
  lastSequence?: number,
): Promise<void> {
  const run = { taskId: task.id, run: task.run, fence: task.fence }
  const operation = { op: "task.apply", run, event, ...(lastSequence !== undefined && { lastSequence }) } as const
  await scope.store.commit([operation] satisfies readonly Operation[])
  if (event.type === "task.released") wakeTurns(scope, task)
}
