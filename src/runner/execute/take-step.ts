import { MeanwhileError } from "../../base/error.ts"
import { type JsonValue, toJson } from "../../base/json.ts"
import type { StepContext } from "../../plugin/context.ts"
import type { OnCrash } from "../../task/step.ts"
import type { ActiveRun } from "../run/active-run.ts"
import { checkName } from "../admit/details.ts"
import { SECRET_RESULT } from "../run/journal.ts"
import { act } from "../run/ownership.ts"
import { writeInAnyCase } from "../run/write-run.ts"
import type { FenceScope, HasClock, HasRedactor } from "../run/scope.ts"

/**
 * Takes a step, or returns its result if it was finished before. A result that held a secret is known only to the
 * process that made it: a later claim of the run cannot have it, and may not repeat the effect either.
 *
 * Dying before `step.start` is durable: nothing happened. After it: the step is in flight and `onCrash` decides. After
 * the effect and before `step.finish`: the same, which is why only idempotent steps may say `retry`.
 */
export async function takeStep<Result extends JsonValue>(
  scope: FenceScope & HasRedactor & HasClock,
  active: ActiveRun,
  key: string,
  effect: (step: StepContext) => Promise<Result>,
  onCrash: OnCrash,
): Promise<Result> {
  const known = active.steps.journal.get(key)
  if (known?.state === "finished") return requireKept(key, known.returned) as Result
  if (known?.isRunning) {
    throw new MeanwhileError("invalid_input", `The step ${key} is already being taken: give each step its own key.`)
  }
  if (!known) checkName(scope.redactor, "key of the step", key)
  active.steps.journal.set(key, { state: "started", onCrash, isRunning: true })
  try {
    await writeInAnyCase(scope, active, (run) => [{ op: "step.start", run, key, onCrash }])
    const { signal } = active.control.abort
    const idempotencyKey = `${active.taskId}/${active.run}/${key}`
    const returned = toJson(await act(scope, active, () => effect({ signal, idempotencyKey })))
    const result = scope.redactor.redactJson(returned).hasChanged ? SECRET_RESULT : returned
    // Last in the journal: a promotion writes finished steps in the order in which they finished.
    active.steps.journal.delete(key)
    active.steps.journal.set(key, { state: "finished", onCrash, result, returned })
    await writeInAnyCase(scope, active, (run) => [{ op: "step.finish", run, key, result }])
    return returned as Result
  } catch (error) {
    if (active.steps.journal.get(key)?.state === "started")
      active.steps.journal.set(key, { state: "started", onCrash, isRunning: false })
    throw error
  }
}

function requireKept(key: string, returned: JsonValue): JsonValue {
  if (returned !== SECRET_RESULT) return returned
  throw new MeanwhileError(
    "secret_not_kept",
    `The step ${key} was finished by a process that is gone, and its result held a secret, which is never stored. Return a reference to the secret from the step instead, such as the name of a variable or a file, and read the secret outside it.`,
    { step: key },
  )
}
