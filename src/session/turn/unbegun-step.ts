import { isJsonObject } from "../../base/json.ts"
import type { Step } from "../../task/step.ts"
import type { FinishedStep } from "../log/open-turn.ts"

/** In place of an answer: nothing was done. */
const UNBEGUN = { unbegun: true } as const

/** The step of a call that was not begun. */
export function toUnbegunStep(key: string): FinishedStep {
  return { key, result: UNBEGUN }
}

/** The step under which the call was, or is to be, begun: each time that it was not, the next one counts. */
export function findCurrentKey(steps: ReadonlyMap<string, Step>, first: string): string {
  let key = first
  while (isUnbegun(steps.get(key))) key = toNextKey(key)
  return key
}

/** The key of the step that follows one that was not begun. */
export function toNextKey(key: string): string {
  return `${key}/again`
}

function isUnbegun(step: Step | undefined): boolean {
  return step?.state === "finished" && isJsonObject(step.result) && "unbegun" in step.result
}
