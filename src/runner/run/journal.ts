import type { JsonValue } from "../../base/json.ts"
import type { OnCrash, Step, StepTaken } from "../../task/step.ts"

/** The steps of one run, as far as this process knows them. */
export type Journal = Map<string, JournalEntry>

type JournalEntry =
  | { readonly state: "started"; readonly onCrash: OnCrash; readonly isRunning: boolean }
  | {
      readonly state: "finished"
      readonly onCrash: OnCrash
      /** The result as it is stored. */
      readonly result: JsonValue
      /** The result as the effect returned it, in the process that ran the effect. Elsewhere the stored result. */
      readonly returned: JsonValue
    }

/** Stored in place of a whole result that held a secret: half of it would be taken for the truth. */
export const SECRET_RESULT = "[meanwhile: this result held a secret and was not kept]"

export function toJournal(steps: readonly Step[]): Journal {
  return new Map(
    steps.map(({ key, onCrash, ...step }) => [
      key,
      step.state === "finished"
        ? { state: "finished", onCrash, result: step.result, returned: step.result }
        : { state: "started", onCrash, isRunning: false },
    ]),
  )
}

/** Steps taken in the foreground, as a promotion writes them. */
export function toStepsTaken(journal: Journal): readonly StepTaken[] {
  return [...journal].map(([key, entry]) =>
    entry.state === "finished"
      ? { key, onCrash: entry.onCrash, state: "finished", result: entry.result }
      : { key, onCrash: entry.onCrash, state: "started" },
  )
}
