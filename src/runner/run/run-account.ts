import { isMeanwhileError, MeanwhileError, toErrorMessage } from "../../base/error.ts"
import type { FactEvent } from "../../task/event.ts"
import { type AgentActivity, NO_USAGE, type Progress, type Usage } from "../../task/progress.ts"
import type { ActiveRun } from "./active-run.ts"
import { writeUnderFence } from "./ownership.ts"
import type { FenceScope, HasClock, HasLog, HasRedactor, StopScope } from "./scope.ts"
import { stopRun } from "./stop-run.ts"
import { runsAbove } from "./runs-above.ts"

/** A tool may report a thousand times a second; the store hears of it so often. */
const SAVE_EVERY_MS = 500

const NO_PROGRESS: Progress = { done: null, total: null, phase: null, line: null }

export function reportProgress(
  scope: FenceScope & HasClock & HasLog & HasRedactor,
  active: ActiveRun,
  update: Partial<Progress>,
): void {
  const { done, total, phase, line, activity }: Progress = { ...(active.progress ?? NO_PROGRESS), ...update }
  const redact = (text: string | null) => (text === null ? null : scope.redactor.redactText(text))
  const own = { done, total, phase: redact(phase), line: redact(line) }
  active.progress = activity ? { ...own, activity: redactActivity(scope, activity) } : own
  active.unsaved.progress = true
  if (active.standing.in === "foreground") active.onProgress?.(active.progress)
  saveSoon(scope, active)
}

/** A model may call a tool by any name. */
function redactActivity({ redactor }: HasRedactor, activity: AgentActivity): AgentActivity {
  return { ...activity, lastTools: activity.lastTools.map((name) => redactor.redactText(name)) }
}

/** Adds up what was used, and stops the run once it is over its budget. What was paid for last is not thrown away. */
export function reportUsage(
  scope: StopScope,
  active: ActiveRun,
  usage: Partial<Usage>,
  { isLast = false }: { readonly isLast?: boolean } = {},
): void {
  const spent = { tokens: toSpent("tokens", usage.tokens), costMicros: toSpent("costMicros", usage.costMicros) }
  active.usage = add(active.usage, spent)
  active.unsaved.usage = add(active.unsaved.usage ?? NO_USAGE, spent)
  saveSoon(scope, active)
  const over = overBudget(active)
  if (over && !isLast) void stopRun(scope, active, { by: "budget", reason: over })
}

export function reportDropped(scope: FenceScope & HasClock & HasLog, active: ActiveRun, before: number): void {
  active.unsaved.droppedBefore = before
  saveSoon(scope, active)
}

/** Writes what was reported since the last time. Called once more before a run ends. */
export async function saveNotes(scope: FenceScope & HasLog, active: ActiveRun): Promise<void> {
  active.cancelSave?.()
  active.cancelSave = null
  if (active.standing.in === "foreground") return
  const unsaved = active.unsaved
  const facts = takeFacts(active)
  if (facts.length === 0) return
  try {
    await writeUnderFence(scope, active, (run) => [{ op: "task.note", run, facts }])
  } catch (error) {
    if (isMeanwhileError(error, "stale_claim")) return
    giveBackFacts(active, unsaved)
    scope.log.warn("progress could not be stored", { task: active.taskId, error: toErrorMessage(error) })
  }
}

export function takeFacts(active: ActiveRun): FactEvent[] {
  const { progress, usage, droppedBefore } = active.unsaved
  active.unsaved = { progress: false, usage: null, droppedBefore: null }
  const facts: FactEvent[] = []
  if (progress && active.progress) facts.push({ type: "task.progressed", progress: active.progress })
  if (usage) facts.push({ type: "task.spent", usage })
  if (droppedBefore !== null) facts.push({ type: "output.dropped", before: droppedBefore })
  return facts
}

/** Facts that could not be written are written with the next ones. */
export function giveBackFacts(active: ActiveRun, unsaved: ActiveRun["unsaved"]): void {
  if (active.unsaved === unsaved) return
  const { progress, usage, droppedBefore } = active.unsaved
  active.unsaved = {
    progress: progress || unsaved.progress,
    usage: unsaved.usage ? add(usage ?? NO_USAGE, unsaved.usage) : usage,
    droppedBefore: droppedBefore ?? unsaved.droppedBefore,
  }
}

function toSpent(field: keyof Usage, value = 0): number {
  // A store keeps whole numbers, and a part of one counts against a budget.
  if (Number.isFinite(value) && value >= 0) return Math.ceil(value)
  throw new MeanwhileError("invalid_input", `What a task spends must be 0 or more: \`${field}\` is ${value}.`, {
    field,
  })
}

function saveSoon(scope: FenceScope & HasClock & HasLog, active: ActiveRun): void {
  if (active.standing.in === "foreground") return
  active.cancelSave ??= scope.clock.schedule(SAVE_EVERY_MS, () => void saveNotes(scope, active))
}

function overBudget({ usage, limits }: ActiveRun): string | null {
  if (limits.tokens !== null && usage.tokens > limits.tokens)
    return `it used ${usage.tokens} of ${limits.tokens} tokens`
  if (limits.costMicros !== null && usage.costMicros > limits.costMicros) {
    return `it cost ${usage.costMicros} of ${limits.costMicros} millionths of a dollar`
  }
  return null
}

function add(a: Usage, b: Usage): Usage {
  return { tokens: a.tokens + b.tokens, costMicros: a.costMicros + b.costMicros }
}

/** By monotonic time: a suspended machine or a moved clock costs a run nothing. */
export function armDeadline(scope: StopScope, active: ActiveRun): void {
  const { timeoutMs } = active.limits
  if (timeoutMs === null) return
  const leftMs = timeoutMs - active.ranBeforeMs - countedMs(scope, active)
  active.cancelDeadline = scope.clock.schedule(Math.max(leftMs, 0), () => {
    void stopRun(scope, active, { by: "deadline", reason: `it ran longer than its limit of ${timeoutMs / 1_000} s` })
  })
}

/** How long this worker has had it, without the time that does not count against its limit. Whole, as a store keeps it. */
export function countedMs({ clock }: HasClock, { startedMonotonicMs, rest }: ActiveRun): number {
  const now = clock.monotonic()
  const restingMs = rest && rest.waiters > 0 ? now - rest.sinceMonotonicMs : 0
  return Math.round(now - startedMonotonicMs - (rest?.restedMs ?? 0) - restingMs)
}

/**
 * Until the returned function is called, no time counts against the limits of the run and of those above it: they wait
 * for somebody else. A stop that comes meanwhile has its own deadline, which is left alone.
 */
export function restDeadlines(scope: StopScope, active: ActiveRun): () => void {
  const resting = runsAbove(scope, active).filter(hasDeadline)
  for (const run of resting) {
    run.rest ??= { restedMs: 0, sinceMonotonicMs: 0, waiters: 0 }
    if (run.rest.waiters === 0) {
      run.cancelDeadline?.()
      run.rest.sinceMonotonicMs = scope.clock.monotonic()
    }
    run.rest.waiters += 1
  }
  return () => {
    for (const run of resting.splice(0)) goOn(scope, run)
  }
}

function hasDeadline({ limits, stop, isHandedBack }: ActiveRun): boolean {
  return limits.timeoutMs !== null && !stop && !isHandedBack
}

function goOn(scope: StopScope, run: ActiveRun): void {
  if (!run.rest) return
  run.rest.waiters -= 1
  if (run.rest.waiters > 0) return
  run.rest.restedMs += scope.clock.monotonic() - run.rest.sinceMonotonicMs
  if (hasDeadline(run) && scope.active.get(run.taskId) === run) armDeadline(scope, run)
}
