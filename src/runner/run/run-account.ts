import { isMeanwhileError, MeanwhileError, toErrorMessage } from "../../base/error.ts"
import { toOneLine } from "../../base/one-line.ts"
import { shorten } from "../../base/shorten.ts"
import type { FactEvent } from "../../task/event.ts"
import { NO_USAGE, type Progress, type ReportedProgress, type Usage, type AgentActivity } from "../../task/progress.ts"
import type { TaskLimits } from "../../task/record.ts"
import { type ActiveRun, noNotes, type RunNotes } from "./active-run.ts"
import { writeUnderFence } from "./write-run.ts"
import type { FenceScope, HasClock, HasLog, HasRedactor, StopScope } from "./scope.ts"
import { stopRun } from "./stop-run.ts"

/** A tool may report a thousand times a second. The store is told this often. */
const SAVE_EVERY_MS = 500

const LONGEST_CHARACTERS = 1_000
const LONGEST_PHASE = 80
const LONGEST_WORDS = 300

const NO_PROGRESS: Progress = { done: null, total: null, phase: null, line: null }

export function reportProgress(
  scope: FenceScope & HasClock & HasLog & HasRedactor,
  active: ActiveRun,
  update: Partial<Progress>,
): void {
  const { done, total, phase, line, activity }: Progress = { ...(active.notes.progress ?? NO_PROGRESS), ...update }
  // A plugin in JavaScript may report anything. It is shown to people, and listed with the task.
  const toText = (value: unknown): string | null =>
    typeof value === "string" ? shorten(scope.redactor.redactText(value), LONGEST_CHARACTERS) : null
  const own = { done: toCount(done), total: toCount(total), phase: toText(phase), line: toText(line) }
  active.notes.progress = activity ? { ...own, activity: toKeptActivity(scope, activity) } : own
  active.notes.unsaved.progress = true
  if (active.standing.in === "foreground") active.listeners.onProgress?.(active.notes.progress)
  saveSoon(scope, active)
}

/** A model may use any text as a tool's name or as its own words, a secret too. */
function toKeptActivity(scope: HasRedactor, { reported, ...activity }: AgentActivity): AgentActivity {
  const lastTools = activity.lastTools.map((name) => scope.redactor.redactText(name))
  return { ...activity, lastTools, ...(reported && { reported: toKeptReport(scope, reported) }) }
}

/** How far an agent says it is, as it is stored and shown. */
export function toKeptReport(
  { redactor }: HasRedactor,
  { fraction, phase, words }: Partial<ReportedProgress>,
): ReportedProgress {
  const toText = (text: unknown, most: number): string | null =>
    typeof text === "string" ? shorten(toOneLine(redactor.redactText(text)), most) || null : null
  const count = toCount(fraction ?? null)
  return {
    fraction: count === null ? null : Math.min(1, Math.max(0, count)),
    phase: toText(phase, LONGEST_PHASE),
    words: toText(words, LONGEST_WORDS),
  }
}

const toCount = (value: number | null): number | null => (Number.isFinite(value) ? value : null)

/** Adds up what was used and stops a run over its budget, but not with `isLast`: the last answer is already paid for. */
export function reportUsage(
  scope: StopScope,
  active: ActiveRun,
  usage: Partial<Usage>,
  { isLast = false }: { readonly isLast?: boolean } = {},
): void {
  const spent = { tokens: toSpent("tokens", usage.tokens), costMicros: toSpent("costMicros", usage.costMicros) }
  active.notes.usage = add(active.notes.usage, spent)
  active.notes.unsaved.usage = add(active.notes.unsaved.usage ?? NO_USAGE, spent)
  saveSoon(scope, active)
  const over = overBudget(active.notes, active.call.limits)
  if (over && !isLast) void stopRun(scope, active, { by: "budget", reason: over })
}

export function reportDropped(scope: FenceScope & HasClock & HasLog, active: ActiveRun, before: number): void {
  active.notes.unsaved.droppedBefore = before
  saveSoon(scope, active)
}

/** Writes what was reported since the last time. */
async function saveNotes(scope: FenceScope & HasLog, active: ActiveRun): Promise<void> {
  active.notes.cancelSave?.()
  active.notes.cancelSave = null
  if (active.standing.in === "foreground") return
  const unsaved = active.notes.unsaved
  const facts = takeFacts(active.notes)
  if (facts.length === 0) return
  try {
    await writeUnderFence(scope, active, (run) => [{ op: "task.note", run, facts }])
  } catch (error) {
    if (isMeanwhileError(error, "stale_claim")) return
    giveBackFacts(active.notes, unsaved)
    scope.log.warn("progress could not be stored", { task: active.taskId, error: toErrorMessage(error) })
  }
}

export function takeFacts(notes: RunNotes): FactEvent[] {
  const { progress, milestones, usage, droppedBefore } = notes.unsaved
  notes.unsaved = noNotes()
  const facts: FactEvent[] = []
  if (progress && notes.progress) facts.push({ type: "task.progressed", progress: notes.progress })
  for (const reported of milestones) facts.push({ type: "task.milestone_reached", reported })
  if (usage) facts.push({ type: "task.spent", usage })
  if (droppedBefore !== null) facts.push({ type: "output.dropped", before: droppedBefore })
  return facts
}

/** Facts that could not be written are written with the next ones. */
export function giveBackFacts(notes: RunNotes, unsaved: RunNotes["unsaved"]): void {
  if (notes.unsaved === unsaved) return
  const { progress, milestones, usage, droppedBefore } = notes.unsaved
  notes.unsaved = {
    progress: progress || unsaved.progress,
    milestones: [...unsaved.milestones, ...milestones],
    usage: unsaved.usage ? add(usage ?? NO_USAGE, unsaved.usage) : usage,
    droppedBefore: droppedBefore ?? unsaved.droppedBefore,
  }
}

function toSpent(field: keyof Usage, value = 0): number {
  // A store keeps whole numbers. Rounded up, so that a fraction counts against a budget.
  if (Number.isFinite(value) && value >= 0) return Math.ceil(value)
  throw new MeanwhileError("invalid_input", `What a task spends must be 0 or more: \`${field}\` is ${value}.`, {
    field,
  })
}

function saveSoon(scope: FenceScope & HasClock & HasLog, active: ActiveRun): void {
  if (active.standing.in === "foreground") return
  active.notes.cancelSave ??= scope.clock.schedule(SAVE_EVERY_MS, () => void saveNotes(scope, active))
}

function overBudget({ usage }: RunNotes, limits: TaskLimits): string | null {
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
