import { toJson } from "../../base/json.ts"
import type { FunctionCall } from "../../plugin/message.ts"
import type { Answer } from "../../plugin/task-service.ts"
import type { FinishedStep } from "../log/open-turn.ts"
import { toOnCrash } from "./call-step.ts"
import type { ExecutedCall } from "./execute-call.ts"
import { toErrorResult } from "./tool-answer.ts"
import type { TurnScope } from "./turn-scope.ts"
import { toUnbegunStep } from "./unbegun-step.ts"

const SHUT_DOWN = "It was stopped because its worker was shut down; run it again if it is still wanted."

interface LeftCall {
  readonly call: FunctionCall
  readonly key: string
  /** By an earlier claim of the turn. */
  readonly wasBegun: boolean
}

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
  if (!answer) return hasBegun || wasBegun ? null : toUnbegunStep(key)
  if (answer.outcome === "completed") return { key, result: redactor.redactJson(toJson(result)).value }
  if (!isSurelyStopped(answer) || toOnCrash(scope, call) !== "fail") return null
  return { key, result: redactor.redactJson(toJson(toErrorResult(call, SHUT_DOWN))).value }
}

function isSurelyStopped(answer: Answer): boolean {
  return answer.outcome === "cancelled" && answer.survivors.length === 0
}
