import { isMeanwhileError, toErrorMessage } from "../../base/error.ts"
import type { FactEvent, LifecycleEvent } from "../../task/event.ts"
import type { TaskRecord } from "../../task/record.ts"
import type { OnCrash, Step } from "../../task/step.ts"
import { type Survivors, toStopEvent } from "../../task/stop.ts"
import { type JsonObject, type JsonValue, requireJson } from "../../base/json.ts"
import { isToolReturn, kindOf } from "../../plugin/tool.ts"
import type { ArtifactHash } from "../../task/id.ts"
import { type Patch, toPatch } from "../../task/patch.ts"
import type { ActiveRun, Outcome, RunControl, RunOutputs, TurnState } from "../run/active-run.ts"
import { countedMs } from "../run/deadline.ts"
import { takeFacts } from "../run/run-account.ts"
import { decideOnCrash, decideTurnOnCrash, toCrashEvent } from "../run/on-crash.ts"
import { thisHost } from "../worker/worker-identity.ts"
import { isTurn } from "../tool/tool-source.ts"
import { detachRun } from "../run/ownership.ts"
import { createStoreRetry, type StoreRetry } from "../run/store-retry.ts"
import { writeUnderFence } from "../run/write-run.ts"
import { storeOutput } from "../output/deliver-output.ts"
import type { FenceScope, HasActive, HasClock, HasEngine, HasLog, HasRedactor, HasStore } from "../run/scope.ts"
import { type Redactor, redactSurvivors } from "../redaction/redactor.ts"

interface EndRunScope extends FenceScope, HasClock, HasLog, HasRedactor, HasActive, HasEngine {}

/**
 * Writes the end of a run that the store knows. Tries again until the end is written, is no longer ours to write, or the
 * runner closes. A crash before the end is durable leaves the run to the worker that reclaims it; nothing was announced.
 * Null: this worker did not write the end.
 */
export async function endRun(
  scope: EndRunScope,
  active: ActiveRun,
  outcome: Outcome | undefined,
): Promise<TaskRecord | null> {
  const facts = await takeLastFacts(active)
  const flushed = await flushOutput(scope, active.output, outcome)
  await storeOutput(scope, active)
  for (const retry = createStoreRetry(scope); ; await retry.pause()) {
    const written = await writeEnd(scope, active, { handedBack: flushed, facts, retry })
    if (written !== "retry") return written
    if (retry.isOver()) {
      detachRun(active)
      return null
    }
  }
}

/** The end of a run as it is written: again and again with the same content. */
interface EndWrite {
  readonly handedBack: Outcome | undefined
  /** Written in one transaction with the end, and before it. */
  readonly facts: readonly FactEvent[]
  readonly retry: StoreRetry
}

async function writeEnd(
  scope: EndRunScope,
  active: ActiveRun,
  { handedBack, facts, retry }: EndWrite,
): Promise<TaskRecord | null | "retry"> {
  let outcome = handedBack
  let isStopKnown = true
  for (;;) {
    try {
      const events = await toEndEvents(scope, active, outcome, isStopKnown)
      const isOver = events.some(({ type }) => type !== "task.released" && type !== "task.waited")
      const toBeside = isOver ? active.turn.endOperations : null
      const written = await writeUnderFence(scope, active, (run) => [
        ...(toBeside?.(run) ?? []),
        ...(facts.length > 0 ? [{ op: "task.note", run, facts } as const] : []),
        ...events.map((event) => ({ op: "task.apply", run, event }) as const),
      ])
      return (written?.at(-1) as TaskRecord | undefined) ?? null
    } catch (error) {
      if (isFinal(error)) return null
      if (active.turn.endOperations && isMeanwhileError(error, "version_conflict")) {
        outcome = giveUpBeside(active.turn, outcome)
        continue
      }
      if (!isMeanwhileError(error, "wrong_state")) {
        const fields = { task: active.taskId, error: toErrorMessage(error) }
        scope.log.error(describeUnwritten(active.control, retry.isOver()), fields)
        return "retry"
      }
    }
    const found = await lookAgain(scope, active)
    if (found === "ended") {
      await noteLate(scope, active, outcome)
      return null
    }
    if (found === "unreadable" || (found === "running" && !isStopKnown)) return "retry"
    isStopKnown = found === "stopping"
  }
}

/** The facts that are not stored yet. A save that is under way is waited for: what it cannot write is among them. */
async function takeLastFacts(active: ActiveRun): Promise<readonly FactEvent[]> {
  active.notes.cancelSave?.()
  active.notes.cancelSave = null
  // The writes of a turn are its messages, which its end follows without waiting.
  if (!isTurn(active.call)) await active.undecided
  return takeFacts(active.notes)
}

/** The operations beside the end can never be written: they refer to something that is not in the store. */
function giveUpBeside(turn: TurnState, outcome: Outcome | undefined): Outcome | undefined {
  turn.endOperations = null
  if (!outcome?.succeeded) return outcome
  const message = "The result could not be stored, because an earlier write of this turn failed."
  return { succeeded: false, failure: { code: "version_conflict", message, details: {} }, patch: outcome.patch }
}

function isFinal(error: unknown): boolean {
  return (["stale_claim", "closed", "not_found", "store_gone"] as const).some((code) => isMeanwhileError(error, code))
}

/** Output that could not be kept fails the task: what it printed is part of its result. */
async function flushOutput(scope: HasRedactor, { spool }: RunOutputs, outcome: Outcome | undefined) {
  try {
    await spool?.flush()
    return outcome
  } catch (error) {
    return outcome?.succeeded ? { ...toFailedOutcome(scope.redactor, error), patch: outcome.patch } : outcome
  }
}

/** A stop that could not be stored, or that came while the call was being promoted, is written with the end. */
async function toEndEvents(
  scope: HasStore & HasClock & HasRedactor & HasEngine,
  active: ActiveRun,
  outcome: Outcome | undefined,
  isStopKnown: boolean,
): Promise<readonly LifecycleEvent[]> {
  const { stop, isHandedBack } = active.control
  const { workedMs } = active.times
  const ran = workedMs === null ? {} : { ranMs: workedMs }
  if (!stop && outcome?.succeeded) return [{ type: "task.completed", patch: outcome.patch, ...ran }]
  if (!stop && isHandedBack) return [await toHandBack(scope, active)]
  if (!stop && outcome?.succeeded === false) {
    return [{ type: "task.failed", failure: outcome.failure, patch: outcome.patch, ...ran }]
  }
  const { by, reason } = stop ?? { by: "lost_worker", reason: "it was given up" }
  const survivors = toSurvivors(scope, active, outcome)
  const end: LifecycleEvent = { type: toStopEvent(by), by, reason, survivors, late: outcome?.patch ?? null }
  return isStopKnown ? [end] : [{ type: "task.stop_requested", by, reason, ...ran }, end]
}

/** At a shutdown the run goes back to the queue, unless a step was in flight that may not simply be repeated. */
async function toHandBack(scope: HasStore & HasClock & HasEngine, active: ActiveRun): Promise<LifecycleEvent> {
  const { taskId, run, call, times, steps } = active
  const { name: tool } = call.tool
  const crash = { by: "shutdown", title: tool, tool, ranMs: countedMs(scope, times), host: thisHost(scope) } as const
  if (!isTurn(call)) {
    const betweenSteps = kindOf(call.tool) === "tool" ? (call.tool.onCrash ?? "fail") : "retry"
    return toCrashEvent(decideOnCrash(inFlightOf([...steps.journal.values()]), betweenSteps), crash)
  }
  // A turn's steps are its calls, which the conversation writes: the store knows them, and the run's journal does not.
  const [taken, task] = await Promise.all([scope.store.steps(taskId, run), scope.store.task(taskId)])
  return toCrashEvent(decideTurnOnCrash(inFlightOf(taken)), { ...crash, title: task?.title ?? tool })
}

function inFlightOf(steps: readonly Pick<Step, "state" | "onCrash">[]): readonly OnCrash[] {
  return steps.flatMap(({ state, onCrash }) => (state === "started" ? [onCrash] : []))
}

/**
 * Work inside this process cannot be ended by force: once given up, it is listed as a survivor. `unknown` if processes
 * were still being ended when the run was given up. Redacted, because a command line may hold a secret.
 */
export function toSurvivors(scope: HasRedactor, active: ActiveRun, outcome: Outcome | undefined): Survivors {
  return redactSurvivors(scope.redactor, outcome ? active.control.survivors : toGivenUp(active))
}

function toGivenUp({ output, control, call }: ActiveRun): Survivors {
  if ((output.spool?.pids().length ?? 0) > 0) return "unknown"
  return [...control.survivors, { pid: process.pid, command: `${call.tool.name} (inside this process)` }]
}

/** Why the store refused the end. When another stop got in first, its cause is taken over. */
async function lookAgain(scope: HasStore, active: ActiveRun): Promise<"ended" | "stopping" | "running" | "unreadable"> {
  try {
    const task = await scope.store.task(active.taskId)
    if (task?.run !== active.run) return "ended"
    if (task.status === "running") return "running"
    if (task.status !== "stopping") return "ended"
    active.control.stop = { by: task.stop.by, reason: task.stop.reason }
    return "stopping"
  } catch {
    return "unreadable"
  }
}

/** A result that comes after the end is kept beside it, and changes nothing. */
export async function noteLate(
  scope: HasStore & HasLog,
  active: ActiveRun,
  outcome: Outcome | undefined,
): Promise<void> {
  if (!outcome) return
  const run = { taskId: active.taskId, run: active.run }
  try {
    await scope.store.commit([{ op: "task.note", run, facts: [{ type: "task.finished_late", patch: outcome.patch }] }])
  } catch (error) {
    if (isMeanwhileError(error, "closed")) return
    scope.log.warn("a late result could not be stored", { task: active.taskId, error: toErrorMessage(error) })
  }
}

/** The log line for an end that the store refuses. `isGivenUp`: a closing runner leaves the task as it is. */
function describeUnwritten({ isHandedBack, stop }: RunControl, isGivenUp: boolean): string {
  const what =
    isHandedBack && !stop ? "a task could not be handed back to the queue" : "the end of a task could not be stored"
  return `${what}; ${isGivenUp ? "another worker will take it over" : "trying again"}`
}

/** Throws for a result that JSON cannot hold: kept in part, it would be taken for the whole. */
export function toOutcome(redactor: Redactor, value: unknown): Outcome {
  if (!isToolReturn(value)) return { succeeded: true, patch: toPatch(toKept(redactor, value, "result")) }
  if ("patch" in value) return { succeeded: true, patch: redactPatch(redactor, value.patch) }
  const { code, message } = value.failure
  const failure = { code: redactor.redactText(code), message: redactor.redactText(message), details: {} }
  return { succeeded: false, failure, patch: toPatch(toKept(redactor, value.payload, "payload")) }
}

export function toFailedOutcome(redactor: Redactor, error: unknown): Extract<Outcome, { succeeded: false }> {
  const code = isMeanwhileError(error) ? error.code : "tool_error"
  const failure = { code, message: redactor.redactText(toErrorMessage(error)), details: {} }
  return { succeeded: false, failure, patch: null }
}

function toKept(redactor: Redactor, value: unknown, name: string): JsonValue {
  try {
    return redactor.redactJson(requireJson(value, name)).value
  } catch (error) {
    const [reason] = toErrorMessage(error).split("\n")
    throw new TypeError(`It returned what cannot be written as JSON: ${reason}. Return plain data instead.`, {
      cause: error,
    })
  }
}

/** A plugin in JavaScript may hand back anything. */
const toText = (value: unknown): string => String(value)

function redactPatch(redactor: Redactor, patch: Patch): Patch {
  return {
    digest: patch.digest.map((line) => redactor.redactText(line)),
    facts: toKept(redactor, { ...patch.facts }, "facts") as JsonObject,
    artifacts: patch.artifacts.map(({ hash, name, mediaType, bytes }) => ({
      hash: toText(hash) as ArtifactHash,
      name: redactor.redactText(toText(name)),
      mediaType: toText(mediaType),
      bytes,
    })),
    nextSteps: patch.nextSteps.map((line) => redactor.redactText(line)),
    payload: toKept(redactor, patch.payload, "payload"),
  }
}
