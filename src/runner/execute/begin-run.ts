import type { Tool } from "../../plugin/tool.ts"
import { NO_USAGE, type Usage } from "../../task/progress.ts"
import type { TaskRecord } from "../../task/record.ts"
import type { ActiveRun, RunSubject, Standing } from "../run/active-run.ts"
import { concludeRun, concludeUnbegun } from "./conclude-run.ts"
import { type Outcome, toFailedOutcome, toOutcome } from "../run/outcome.ts"
import { toHops } from "../limits/hops.ts"
import { armDeadline } from "../run/deadline.ts"
import { markLost, requireOwned } from "../run/ownership.ts"
import { beginRunSpan } from "../run/run-span.ts"
import type {
  ExecuteScope,
  FenceScope,
  HasActive,
  HasClock,
  HasEngine,
  HasLog,
  HasPorts,
  HasRedactor,
  OutputScope,
  SlotScope,
} from "../run/scope.ts"
import type { SlotKeys } from "../limits/slots.ts"
import { yieldNewSlot } from "../run/yield-slots.ts"
import { createToolContext } from "./tool-context.ts"
import { toJournal } from "../run/journal.ts"
import { spoolOf } from "../output/spool-of.ts"

interface FailRunScope extends SlotScope, FenceScope, HasClock, HasLog, HasRedactor, HasEngine {}

export interface RunPlan extends RunSubject {
  readonly standing: Standing
  readonly slot: SlotKeys | null
  readonly ranBeforeMs?: number
  readonly usage?: Usage
  /** Work that runs already, instead of calling the tool. */
  readonly work?: Promise<Outcome>
}

/** Creates the run and lets its work begin. The caller has written, or will never write, its record. */
export function beginRun(scope: ExecuteScope, plan: RunPlan): ActiveRun {
  const active = createActiveRun(scope, plan)
  note(scope, active)
  if (active.slot) yieldNewSlot(scope, active)
  armDeadline(scope, active)
  active.work = plan.work ?? beginWork(scope, active)
  void concludeRun(scope, active, active.work)
  return active
}

/** Ends a run whose tool cannot be called, in the way every run ends. The caller has written its record. */
export function failRun(scope: FailRunScope, plan: RunPlan, outcome: Outcome): void {
  const active = createActiveRun(scope, plan)
  note(scope, active)
  void concludeUnbegun(scope, active, outcome)
}

/** Others may have taken this worker for lost, and it now claims a run it still works on: that older work is lost. */
function note({ active: known }: HasActive, active: ActiveRun): void {
  const before = known.get(active.taskId)
  if (before) markLost(before)
  known.set(active.taskId, active)
}

/** The plan for a task that the store knows and this worker has claimed. */
export function toBackgroundPlan(task: TaskRecord, tool: Tool, input: unknown): RunPlan {
  return {
    taskId: task.id,
    run: task.run,
    workspace: task.workspace,
    session: task.session,
    parentTask: task.parentTask,
    parentMessage: task.parentMessage,
    batch: task.batch,
    hops: toHops(task.metadata),
    depth: task.depth,
    plugin: task.plugin,
    tool,
    input,
    lifetime: task.lifetime,
    limits: task.limits,
    traceId: task.traceId,
    askedBy: task.askedBy,
    isInputHeld: task.inputHeldBy !== null,
    standing: { in: "background", fence: task.fence },
    slot: task.kind === "turn" ? null : toSlotKeys(task),
    ranBeforeMs: task.ranMs,
    usage: task.usage,
  }
}

export function toSlotKeys({ workspace, session, plugin, model }: SlotKeys): SlotKeys {
  return { workspace, session, plugin, model }
}

function createActiveRun(scope: HasClock, plan: RunPlan): ActiveRun {
  const span = beginRunSpan(plan)
  return {
    ...plan,
    traceId: plan.traceId ?? span?.traceId ?? null,
    span,
    spool: null,
    stream: null,
    journal: new Map(),
    abort: new AbortController(),
    processAbort: new AbortController(),
    abandoned: Promise.withResolvers(),
    ended: Promise.withResolvers(),
    startedMonotonicMs: scope.clock.monotonic(),
    ranBeforeMs: plan.ranBeforeMs ?? 0,
    yielded: null,
    rest: null,
    questions: null,
    stop: null,
    isHandedBack: false,
    survivors: [],
    hasUnknownSurvivors: false,
    progress: null,
    usage: plan.usage ?? NO_USAGE,
    unsaved: { progress: false, usage: null, droppedBefore: null },
    cancelSave: null,
    cancelDeadline: null,
    outputFollower: null,
    onOutput: null,
    onProgress: null,
    onStarted: null,
    onLeft: null,
    work: null,
    workedMs: null,
    endOperations: null,
    parentsOfTasks: null,
  }
}

function beginWork(scope: OutputScope & HasActive & HasPorts, active: ActiveRun): Promise<Outcome> {
  const work = (): Promise<Outcome> => performWork(scope, active)
  return active.span ? active.span.within(work) : work()
}

async function performWork(scope: OutputScope & HasActive & HasPorts, active: ActiveRun): Promise<Outcome> {
  try {
    const { standing } = active
    if (standing.in === "background") await (standing.fence > 1 ? recall : requireOwned)(scope, active)
    return toOutcome(scope.redactor, await active.tool.run(active.input, createToolContext(scope, active)))
  } catch (error) {
    return toFailedOutcome(scope.redactor, error)
  }
}

/**
 * Before the tool is called again: what earlier claims of the run left behind, its steps and the processes that were
 * started or forbidden to start. This takes a while, and the run can be stopped meanwhile: the tool is then not called,
 * and what the earlier claims started is ended here.
 */
async function recall(scope: OutputScope, active: ActiveRun): Promise<void> {
  try {
    for (const [key, step] of toJournal(await scope.store.steps(active.taskId, active.run))) {
      active.journal.set(key, step)
    }
    if (active.tool.reattaches) await spoolOf(scope, active).reattach()
    const printed = await scope.engine.outputs?.extent(active.taskId, active.run)
    if (printed) spoolOf(scope, active).goOnAt(printed.totalBytes)
    await requireOwned(scope, active)
  } catch (error) {
    await endProcesses(scope, active)
    throw error
  }
}

/** Not of a run that was lost: they are another worker's. */
async function endProcesses(scope: OutputScope, active: ActiveRun): Promise<void> {
  const { taskId, run, standing } = active
  if (standing.in !== "background" || !active.tool.reattaches || !scope.spool.hasRun(taskId, run)) return
  const survivors = await spoolOf(scope, active).stopAll(scope.config.stopGraceSeconds * 1_000)
  if (survivors === "unknown") active.hasUnknownSurvivors = true
  else active.survivors.push(...survivors)
}
