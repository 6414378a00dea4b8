import type { ActiveRun } from "../run/active-run.ts"

/** Of an end that a store refuses, what that means for its task. Given up is one that a closing runner leaves as it is. */
export function describeUnwritten({ isHandedBack, stop }: ActiveRun, isGivenUp: boolean): string {
  const what =
    isHandedBack && !stop ? "a task could not be handed back to the queue" : "the end of a task could not be stored"
  return `${what}; ${isGivenUp ? "the next one that looks takes it over" : "trying again"}`
}
