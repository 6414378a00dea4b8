import { type JsonValue, toJson } from "../../base/json.ts"
import type { FunctionCall } from "../../plugin/message.ts"
import type { Answer } from "../../plugin/task-service.ts"
import type { Step } from "../../task/step.ts"
import type { FinishedStep } from "../log/open-turn.ts"
import { toOnCrash } from "./call-step.ts"
import type { ExecutedCall } from "./execute-call.ts"
import { toErrorResult } from "./tool-answer.ts"
import type { TurnScope } from "./turn-scope.ts"

const SHUT_DOWN = "It was stopped because its worker was shut down; run it again if it is still wanted."

interface LeftCall {
  readonly call: FunctionCall
  readonly key: string
  /** By an earlier claim of the turn. */
  readonly wasBegun: boolean
}

/** In place of an answer: nothing was done. */
const UNBEGUN = { unbegun: true } as const

/**
 * What a shutdown can say of a call that it cut off, for the next claim of the turn; null when it can say nothing: then
 * the call is in flight, as after a crash, and its tool's `onCrash` decides.
 */
export function toLeftStep(
  scope: TurnScope,
  { call, key, wasBegun }: LeftCall,
  { result, answer, hasBegun }: ExecutedCall,
): FinishedStep | null {
  const { redactor } = scope.agents
  if (!answer) return hasBegun || wasBegun ? null : { key, result: UNBEGUN }
  if (answer.outcome === "completed") return { key, result: redactor.redactJson(toJson(result)).value }
  if (!isSurelyStopped(answer) || toOnCrash(scope, call) !== "fail") return null
  return { key, result: redactor.redactJson(toJson(toErrorResult(call, SHUT_DOWN))).value }
}

/** Of a call that was not begun. */
export function toUnbegunStep(key: string): FinishedStep {
  return { key, result: UNBEGUN }
}

/** The step under which the call was, or is to be, begun: each time that it was not, the next one counts. */
export function findCurrentKey(steps: ReadonlyMap<string, Step>, first: string): string {
  let key = first
  while (isUnbegun(steps.get(key))) key = toNextKey(key)
  return key
}

/** Of the step that counts when the call was not begun under this one. */
export function toNextKey(key: string): string {
  return `${key}/again`
}

function isUnbegun(step: Step | undefined): boolean {
  return step?.state === "finished" && isMark(step.result)
}

function isMark(result: JsonValue): boolean {
  return typeof result === "object" && result !== null && "unbegun" in result
}

function isSurelyStopped(answer: Answer): boolean {
  return answer.outcome === "cancelled" && answer.survivors.length === 0
}
