import { toJson } from "../../base/json.ts"
import { callsOf, type FunctionCall, type Message, type ToolResult } from "../../plugin/message.ts"
import { takeNews } from "../delivery/hand-over.ts"
import type { FinishedStep } from "../log/open-turn.ts"
import { toStepKey } from "./call-step.ts"
import { executeCall } from "./execute-call.ts"
import { freeClaims } from "./free-claims.ts"
import { recallAnswers } from "./recall-answers.ts"
import { saveSoon, type TurnScope } from "./turn-scope.ts"

export interface AnswerOptions {
  /** Of the message in the log. */
  readonly position: number
  /** The claim before this one left the message: its calls may have run already. */
  readonly isLeft: boolean
}

/**
 * Gives every call of the model's last message its one answer, all at once. What has ended is kept as it ends, so that
 * no finished call is repeated; the last is kept together with the message that holds them all.
 *
 * Dying before a call's end is kept: its tool's `onCrash` decides. After it: its answer is known.
 */
export async function answerCalls(scope: TurnScope, message: Message, options: AnswerOptions): Promise<void> {
  const { turn } = scope
  const { position, isLeft } = options
  const calls = callsOf(message)
  const known = isLeft ? await recallLeft(scope, message, position) : NOTHING
  let unanswered = calls.length
  const parts = await Promise.all(
    calls.map(async (call) => {
      const result = known.get(call.id) ?? (await executeCall(scope, call, position))
      unanswered -= 1
      if (unanswered > 0 && !known.has(call.id)) keep(scope, call, position, result)
      return result
    }),
  )
  requireNotHandedBack(scope)
  const answer = { kind: "message", message: { role: "tool", parts }, turn: turn.taskId } as const
  const news = await takeNews(scope)
  const finished = calls.map((call, index) => toFinished(call, position, parts[index]))
  saveSoon(scope, { ...news, entries: [answer, ...news.entries], finished })
}

async function recallLeft(scope: TurnScope, message: Message, position: number) {
  const known = await recallAnswers(scope, message, position)
  const repeated = callsOf(message).filter(({ id }) => !known.has(id))
  await freeClaims(
    scope,
    repeated.map((call) => toStepKey(position, call)),
  )
  return known
}

/** A call that failed showed nothing of the results it had claimed: they are free again when the turn ends. */
function toFinished(call: FunctionCall, position: number, result: ToolResult | undefined): FinishedStep {
  const key = toStepKey(position, call)
  return result?.isError === false ? { key, result: null, settlesClaims: true } : { key, result: null }
}

const NOTHING: ReadonlyMap<string, ToolResult> = new Map()

function keep(scope: TurnScope, call: FunctionCall, position: number, result: ToolResult): void {
  if (scope.turn.isHandedBack()) return
  const { value } = scope.agents.redactor.redactJson(toJson(result))
  saveSoon(scope, { entries: [], finished: [{ key: toStepKey(position, call), result: value }] })
}

/** What a shutdown cut off is not an answer: the next claim asks the tool's `onCrash`. */
function requireNotHandedBack({ turn }: TurnScope): void {
  if (turn.isHandedBack()) throw turn.signal.reason
}
