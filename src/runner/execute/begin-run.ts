import { kindOf, type Tool } from "../../plugin/tool.ts"
import type { TaskRecord } from "../../task/record.ts"
import { toErrorMessage } from "../../base/error.ts"
import type { Answer } from "../../plugin/task-service.ts"
import { isTerminal } from "../../task/lifecycle.ts"
import { toStopEvent } from "../../task/stop.ts"
import {
  createActiveRun,
  type RunPlan,
  type ActiveRun,
  type Outcome,
  type RunOutputs,
  toOrigin,
  ranMs,
} from "../run/active-run.ts"
import { armDeadline } from "../run/deadline.ts"
import { endBegun, isEndOwed } from "../run/begun-below.ts"
import { endOwnExecutions, hasOwnExecutions } from "../run/own-executions.ts"
import { act, markLost } from "../run/ownership.ts"
import type {
  ExecuteScope,
  FenceScope,
  HasActive,
  HasClock,
  HasConfig,
  HasEngine,
  HasLog,
  HasPorts,
  HasRedactor,
  OutputScope,
  SlotScope,
  HasSpool,
  HasTools,
  StopScope,
  HasQueue,
  HasWritten,
} from "../run/scope.ts"
import type { SlotKeys } from "../limits/slots.ts"
import { yieldNewSlot } from "../run/yield-slots.ts"
import { toJournal } from "../run/journal.ts"
import { continueOutput } from "../output/continue-output.ts"
import { spoolOf, finishFollowing } from "../output/deliver-output.ts"
import { toShapeKey } from "../admit/details.ts"
import type { RunSpool } from "../spool/run-spool.ts"
import { toFailedOutcome, toOutcome, endRun, noteLate, toSurvivors } from "./end-run.ts"
import { createToolContext } from "./tool-context.ts"
import { endLostProcesses } from "./lost-processes.ts"

interface ConcludeRunScope extends StopScope, SlotScope, HasRedactor, HasEngine, HasSpool, HasTools {}

interface FailRunScope extends SlotScope, FenceScope, HasClock, HasLog, HasRedactor, HasEngine {}

/** Creates the run and lets its work begin. The caller has written, or will never write, its record. */
export function beginRun(scope: ExecuteScope, plan: RunPlan): ActiveRun {
  const active = createActiveRun(scope.clock, plan)
  note(scope, active)
  if (active.slots.held) yieldNewSlot(scope, active)
  if (!plan.hasEndedInTime) armDeadline(scope, active)
  void concludeRun(scope, active, plan.work ?? beginWork(scope, active))
  return active
}

/** Ends a run whose tool cannot be called, in the way every run ends. The caller has written its record. */
export function failRun(scope: FailRunScope, plan: RunPlan, outcome: Outcome): void {
  const active = createActiveRun(scope.clock, plan)
  note(scope, active)
  // The run has no work: nothing of it can be measured or come late.
  void endRun(scope, active, outcome).then((task) => {
    release(scope, active, task)
    active.ended.resolve(task)
  })
}

/** If this worker was taken for lost, it may claim a run that it still works on. Its older work is then lost. */
function note({ active: known }: HasActive, active: ActiveRun): void {
  const before = known.get(active.taskId)
  if (before) markLost(before)
  known.set(active.taskId, active)
}

/** The plan for a task that the store knows and this worker has claimed. */
export function toBackgroundPlan(task: TaskRecord, tool: Tool, input: unknown): RunPlan {
  const { plugin, lifetime, limits } = task
  return {
    taskId: task.id,
    run: task.run,
    origin: toOrigin(task),
    call: { plugin, tool, input, lifetime, limits, isInputHeld: task.inputHeldBy !== null },
    standing: { in: "background", fence: task.fence, worker: "worker" in task ? task.worker : null },
    slot: task.kind === "turn" ? null : toSlotKeys(task),
    ranBeforeMs: task.ranMs,
    usage: task.usage,
  }
}

export function toSlotKeys({ workspace, session, plugin, model }: SlotKeys): SlotKeys {
  return { workspace, session, plugin, model }
}

/** Notes a task that this process has written: for own work, its session and listeners. */
export function noteCreated(scope: HasQueue & HasWritten, task: TaskRecord): void {
  scope.queue.own?.add(task.id)
  scope.written.sessions.note(task.session)
  scope.written.onTask(task, 0)
}

function beginWork(scope: OutputScope & HasActive & HasPorts, active: ActiveRun): Promise<Outcome> {
  async function work(): Promise<Outcome> {
    try {
      return toOutcome(scope.redactor, await callTool(scope, active))
    } catch (error) {
      return toFailedOutcome(scope.redactor, error)
    }
  }
  return active.span?.within(work) ?? work()
}

/** The run can be stopped before its tool is called. What earlier claims of it have started is then ended here. */
async function callTool(scope: OutputScope & HasActive & HasPorts, active: ActiveRun): Promise<unknown> {
  const { standing, call } = active
  let isCalled = false
  try {
    if (standing.in === "background" && standing.fence > 1) await recall(scope, active, standing.fence)
    return await act(scope, active, () => {
      isCalled = true
      return call.tool.run(call.input, createToolContext(scope, active))
    })
  } catch (error) {
    if (!isCalled) await endProcesses(scope, active)
    throw error
  }
}

/**
 * Restores what earlier claims of the run left, before the tool is called again: its steps, its processes, which were
 * started or forbidden to start, and its output.
 */
async function recall(scope: OutputScope & HasActive, active: ActiveRun, fence: number): Promise<void> {
  for (const [key, step] of toJournal(await scope.store.steps(active.taskId, active.run))) {
    active.steps.journal.set(key, step)
  }
  await continueOutput(scope, active, fence)
}

/** Leaves the processes of a lost run alone: they are another worker's. */
async function endProcesses(scope: OutputScope, active: ActiveRun): Promise<void> {
  const { taskId, run, standing } = active
  if (standing.in !== "background" || !active.call.tool.reattaches || !scope.spool.hasRun(taskId, run)) return
  const survivors = await spoolOf(scope, active).stopAll(scope.config.stopGraceSeconds * 1_000)
  active.control.survivors.push(...survivors)
}

/** Waits for the work to end, or to be given up, and tells the caller or the store. Never rejects. */
async function concludeRun(scope: ConcludeRunScope, active: ActiveRun, work: Promise<Outcome>): Promise<void> {
  const outcome = await Promise.race([work, active.control.abandoned.promise])
  const workedMs = ranMs(active.times, scope.clock)
  active.times.workedMs = workedMs
  active.times.cancelDeadline?.()
  if (isCutOff(scope, active, outcome)) active.control.isHandedBack = true
  while (isUnsettled(scope, active, outcome)) await settle(scope, active, outcome)
  // Nothing may be awaited between that check and this one: a promotion could begin, and nobody would end its task.
  const { standing } = active
  if (outcome && !active.control.stop) observeDuration(scope, active, workedMs)
  if (standing.in === "foreground") {
    active.standing = { in: "answered" }
    active.listeners.onOutput = null
    const answer = toAnswer(scope, active, outcome)
    active.span?.end(answer)
    standing.answer(answer)
    void closeSpool(scope, active, (spool) => spool.discard())
  }
  const task = standing.in === "background" ? await endRun(scope, active, outcome) : null
  release(scope, active, task)
  if (standing.in !== "foreground") await closeSpool(scope, active, (spool) => leaveSpool(active.output, task, spool))
  active.ended.resolve(task)
  if (active.standing.in === "lost") void endLostProcesses(scope, active)
  if (!outcome && active.control.stop && standing.in === "background")
    void work.then((late) => noteLate(scope, active, late))
}

/**
 * True for an agent or a turn that found its conversation closed, because this process closes, before it was handed back:
 * that is no failure of its own.
 */
function isCutOff({ active: { isClosing } }: HasActive, { call, standing }: ActiveRun, outcome?: Outcome): boolean {
  if (!isClosing || standing.in !== "background" || kindOf(call.tool) === "tool") return false
  return outcome?.succeeded === false && outcome.failure.code === "closed"
}

/**
 * True while calls of the run go on, output is passed on, a promotion is written, or tasks that the call began must hear of
 * its end. A promotion may begin meanwhile.
 */
function isUnsettled(scope: HasActive, active: ActiveRun, outcome: Outcome | undefined): boolean {
  const { standing, output } = active
  if (hasOwnExecutions(active)) return true
  return (
    standing.in === "promotion" || output.follower !== null || isEndOwed(scope, active, outcome?.succeeded === true)
  )
}

async function settle(
  scope: FenceScope & HasClock & HasLog & HasConfig,
  active: ActiveRun,
  outcome: Outcome | undefined,
): Promise<void> {
  if (hasOwnExecutions(active)) await endOwnExecutions(scope, active)
  else if (active.standing.in === "promotion") await active.standing.written
  else if (active.output.follower !== null) await finishFollowing(scope, active, { isComplete: true })
  else await endBegun(scope, active, outcome?.succeeded === true)
}

function release(scope: SlotScope, active: ActiveRun, task: TaskRecord | null): void {
  active.listeners.onLeft?.(task)
  active.span?.end(task)
  if (task && isTerminal(task.status)) scope.queue.own?.remove(task.id)
  active.notes.cancelSave?.()
  // Cancelled again: a stop that came while the end was written has set another deadline.
  active.times.cancelDeadline?.()
  if (scope.active.get(active.taskId) === active) scope.active.delete(active.taskId)
  if (!active.slots.held) return
  scope.slots.release(active.slots.held)
  if (scope.queue.hint.mayHaveQueued) scope.queue.nudge()
}

function toAnswer(scope: HasRedactor, active: ActiveRun, outcome: Outcome | undefined): Answer {
  const { stop } = active.control
  if (stop || !outcome) {
    const { by, reason } = stop ?? { by: "lost_worker", reason: "it was given up" }
    const ended = toStopEvent(by) === "task.timed_out" ? "timed_out" : "cancelled"
    return { outcome: ended, by, reason, survivors: toSurvivors(scope, active, outcome) }
  }
  if (outcome.succeeded) return { outcome: "completed", patch: outcome.patch }
  return { outcome: "failed", failure: outcome.failure, patch: outcome.patch }
}

/** Output that the store has is not kept here as well: nobody here would learn when to remove it. */
function leaveSpool({ stream }: RunOutputs, task: TaskRecord | null, spool: RunSpool): Promise<void> {
  return stream?.isFinished && task && isTerminal(task.status) ? spool.discard() : spool.close()
}

async function closeSpool(
  scope: HasLog,
  { output: { spool }, taskId }: ActiveRun,
  close: (spool: RunSpool) => Promise<void>,
): Promise<void> {
  if (!spool) return
  await close(spool).catch((error: unknown) => {
    scope.log.warn("a spool folder could not be closed", { task: taskId, error: toErrorMessage(error) })
  })
}

function observeDuration(scope: HasLog & HasTools, { call, origin, times }: ActiveRun, workedMs: number): void {
  const { plugin, tool, input } = call
  try {
    const shape = toShapeKey(plugin, tool, input)
    scope.tools.durations.observe(origin.workspace, shape, times.ranBeforeMs + workedMs)
  } catch (error) {
    const fields = { tool: tool.name, error: toErrorMessage(error) }
    scope.log.warn("a tool could not name the shape of its call", fields)
  }
}
