import { isDeepStrictEqual } from "node:util"
import type { JsonValue } from "../../../src/base/json.ts"
import type { TaskId } from "../../../src/task/id.ts"
import type { TaskRecord } from "../../../src/task/record.ts"
import type { OnCrash, Step } from "../../../src/task/step.ts"
import type { TaskStore } from "../../../src/task/store.ts"
import { STEP_TOOLS, stepsInputSchema, toOnCrash, toStepResult } from "./chaos-tools.ts"
import { type Effect, countClaims, findRepeatedEffects } from "./effects.ts"
import { findBrokenHistories, findUnfinished, readHistories, type StoredHistory } from "./store-invariants.ts"

/** What callers were told, and what they asked for, before the crashes. */
export interface Expectations {
  /** Ids that were handed to the caller. */
  readonly answered: Iterable<string>
  /** Ids that the caller asked to stop, with or without an answer. */
  readonly mayBeCancelled: ReadonlySet<string>
  /** Ids whose stop was accepted. */
  readonly mustBeStopped: Iterable<string>
  /** Ids that were begun again, and how often. */
  readonly mustHaveRun?: ReadonlyMap<string, number>
  /** Ids whose result was handed over as used. */
  readonly mustBeUsed?: Iterable<string>
  readonly effects: readonly Effect[]
}

/** All violations in a store after crashes and a last start without one. */
export async function findViolations(store: TaskStore, expected: Expectations): Promise<readonly string[]> {
  const histories = await readHistories(store)
  const byId = new Map<string, StoredHistory>(histories.map((history) => [history.task.id, history]))
  const lost = [...expected.answered].filter((id) => !byId.has(id)).map((id) => `${id} was answered and is lost`)
  const resurrected = [...expected.mustBeStopped].flatMap((id) => {
    const status = byId.get(id)?.task.status
    return status === "cancelled" || status === "timed_out" ? [] : [`the stop of ${id} was accepted, it is ${status}`]
  })
  const forgotten = [...(expected.mustHaveRun ?? [])].flatMap(([id, run]) =>
    (byId.get(id)?.task.run ?? 0) >= run ? [] : [`run ${run} of ${id} was answered and is lost`],
  )
  const claimsOf = (id: string, run: number): number | undefined => {
    const history = byId.get(id)
    return history && countClaims(history.events, run)
  }
  const health = await store.checkIntegrity()
  const violations = [
    ...lost,
    ...resurrected,
    ...forgotten,
    ...(await findUnused(store, expected.mustBeUsed ?? [])),
    ...health.problems,
    ...(await findBrokenHistories(store, histories)),
    ...(await findUnfinished(store, histories)),
    ...findRepeatedEffects(expected.effects, claimsOf),
    ...(await findWrongOutcomes(store, histories, expected)),
  ]
  return violations.map((violation) => explain(violation, histories))
}

async function findUnused(store: TaskStore, ids: Iterable<string>): Promise<readonly string[]> {
  const violations: string[] = []
  for (const id of ids) {
    const pending = await store.notices({ taskId: id as TaskId, states: ["pending", "claimed"] }, 10)
    if (pending.length > 0) violations.push(`the result of ${id} was used and would be told again`)
  }
  return violations
}

/** The violation with the events of the task that it names. */
export function explain(violation: string, histories: readonly StoredHistory[]): string {
  const history = histories.find(({ task }) => violation.includes(task.id))
  const log = history?.events.map(({ sequence, run, body }) => `  ${sequence} (run ${run}) ${JSON.stringify(body)}`)
  return [violation, ...(log ?? [])].join("\n")
}

async function findWrongOutcomes(
  store: TaskStore,
  histories: readonly StoredHistory[],
  { mayBeCancelled, effects }: Expectations,
): Promise<readonly string[]> {
  const acted = new Set(effects.map((effect) => effect.key))
  const violations: string[] = []
  for (const run of histories.flatMap((history) => history.runs)) {
    const steps = await store.steps(run.id, run.run)
    const problem =
      findWrongStop(run, mayBeCancelled) ??
      (run.tool in STEP_TOOLS ? findWrongStepRun(run, steps) : findWrongRun(run)) ??
      findImaginaryStep(steps, acted)
    if (problem) violations.push(`${run.tool} ${run.id} run ${run.run} is ${run.status}: ${problem}`)
  }
  return violations
}

function findWrongStop(run: TaskRecord, mayBeCancelled: ReadonlySet<string>): string | undefined {
  if (run.status !== "cancelled" && run.status !== "timed_out") return undefined
  if (run.survivors === "unknown" || run.survivors.length > 0) return "something of it lives"
  const { by } = run.stop
  if (by === "person") return mayBeCancelled.has(run.id) ? undefined : "nobody asked to stop it"
  if (by === "deadline") return run.limits.timeoutMs === null ? "it has no time limit" : undefined
  return by === "shutdown" ? undefined : `it was stopped by ${by}`
}

/** Judges a run of a tool without steps. */
function findWrongRun(run: TaskRecord): string | undefined {
  if (run.tool === "endless") return run.status === "completed" ? "it never ends" : undefined
  if (run.status === "interrupted") return "it can be repeated or taken over, and was not"
  return run.status === "failed" && run.tool !== "run_command" ? run.failure.message : undefined
}

function findWrongStepRun(run: TaskRecord, steps: readonly Step[]): string | undefined {
  const input = stepsInputSchema.parse(run.input)
  const inFlight = steps.filter((step) => step.state === "started").map((step) => step.key)
  const onCrash = decide(run, inFlight)
  switch (run.status) {
    case "completed":
      if (input.ending === "fail") return "it was meant to fail"
      return hasAllResults(run.patch.payload, input.steps, steps) ? undefined : "its results are not all there"
    case "failed":
      return input.ending === "fail" ? undefined : run.failure.message
    case "interrupted":
      return onCrash === "fail" ? undefined : `its crash was to ${onCrash}`
    case "waiting":
      return onCrash === "ask" ? undefined : `its crash was to ${onCrash}`
    default:
      return undefined
  }
}

/** The `onCrash` that decides: that of steps in flight goes before the tool's, and the most careful of them counts. */
function decide(run: TaskRecord, inFlight: readonly string[]): OnCrash {
  const tool = STEP_TOOLS[run.tool as keyof typeof STEP_TOOLS]
  const decisions = inFlight.length > 0 ? inFlight.map(toOnCrash) : [tool]
  return decisions.includes("fail") ? "fail" : decisions.includes("ask") ? "ask" : "retry"
}

function hasAllResults(payload: JsonValue, expected: readonly string[], steps: readonly Step[]): boolean {
  const finished = steps.filter((step) => step.state === "finished").toSorted((a, b) => a.completion - b.completion)
  return (
    isDeepStrictEqual(payload, expected.map(toStepResult)) &&
    isDeepStrictEqual(
      finished.map((step) => step.key),
      expected,
    )
  )
}

function findImaginaryStep(steps: readonly Step[], acted: ReadonlySet<string>): string | undefined {
  const imaginary = steps.find(
    ({ taskId, run, key, state }) => state === "finished" && key !== "child" && !acted.has(`${taskId}/${run}/${key}`),
  )
  return imaginary && `step ${imaginary.key} is finished and never happened`
}
