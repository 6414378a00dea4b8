import { toJson } from "../../base/json.ts"
import { callsOf, type Message, type ToolResult } from "../../plugin/message.ts"
import { takeNews } from "./hand-over.ts"
import type { FinishedStep } from "../log/open-turn.ts"
import { createCallPlace } from "./call-place.ts"
import { toStepKey } from "./call-step.ts"
import { type ExecutedCall, executeCall } from "./execute-call.ts"
import { freeClaims } from "./free-claims.ts"
import { toLeftStep } from "./left-call.ts"
import { type RecalledCalls, recallAnswers } from "./recall-answers.ts"
import { saveSoon, type TurnScope } from "./turn-scope.ts"
import { toUnbegunStep } from "./unbegun-step.ts"

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
  const { answers, keys, begun } = isLeft ? await recallLeft(scope, message, position) : NOTHING
  const places = calls.map((call) => {
    const key = keys.get(call.id) ?? toStepKey(position, call)
    return createCallPlace(scope, { call, position, key, wasBegun: begun.has(key) })
  })
  let unanswered = calls.length
  /** The last one to end is kept with the message, unless a shutdown comes in between. */
  let keepLast = (): void => {}
  const parts = await Promise.all(
    places.map(async (place) => {
      const { call } = place
      const known = answers.get(call.id)
      const executed = known ? null : await executeCall(scope, place)
      unanswered -= 1
      if (executed && turn.isHandedBack()) keepLeft(scope, toLeftStep(scope, place, executed))
      else if (executed && unanswered > 0) keep(scope, place.key, executed.result)
      else if (executed) keepLast = () => keep(scope, place.key, executed.result)
      return known ?? (executed as ExecutedCall).result
    }),
  )
  if (turn.isHandedBack()) {
    keepLast()
    throw turn.signal.reason
  }
  const answer = { kind: "message", message: { role: "tool", parts }, turn: turn.taskId } as const
  const news = await takeNews(scope)
  const finished = places.map(({ key }, index) => toFinished(key, parts[index]))
  // What the model says to it, or the turn's end, waits for the disk.
  saveSoon(scope, { ...news, entries: [answer, ...news.entries], finished }, { waitsForDisk: false })
}

/** What is known of the calls of a message that the claim before this one left. */
interface LeftCalls extends Pick<RecalledCalls, "answers" | "keys"> {
  /** Keys of those that were begun then, and are to be run again: they may have done something, whatever comes of it now. */
  readonly begun: ReadonlySet<string>
}

async function recallLeft(scope: TurnScope, message: Message, position: number): Promise<LeftCalls> {
  const { answers, keys, unbegun } = await recallAnswers(scope, message, position)
  const repeated = [...keys].flatMap(([id, key]) => (answers.has(id) ? [] : [key]))
  await freeClaims(scope, repeated)
  // From here on a crash finds them in flight.
  if (unbegun.length > 0) await scope.turn.save({ entries: [], started: unbegun })
  const begun = new Set(repeated).difference(new Set(unbegun.map(({ key }) => key)))
  return { answers, keys, begun }
}

/** A call that failed showed nothing of the results it had claimed: they are free again when the turn ends. */
function toFinished(key: string, result: ToolResult | undefined): FinishedStep {
  return result?.isError === false ? { key, result: null, settlesClaims: true } : { key, result: null }
}

const NOTHING: LeftCalls = { answers: new Map(), keys: new Map(), begun: new Set() }

function keep(scope: TurnScope, key: string, result: ToolResult): void {
  const { value } = scope.agents.redactor.redactJson(toJson(result))
  saveSoon(scope, { entries: [], finished: [{ key, result: value }] })
}

function keepLeft(scope: TurnScope, step: FinishedStep | null): void {
  if (step) saveSoon(scope, { entries: [], finished: [step] })
}

/** A shutdown came before any of its calls was tried. */
export function leaveUntried(scope: TurnScope, message: Message, position: number): void {
  const finished = callsOf(message).map((call) => toUnbegunStep(toStepKey(position, call)))
  saveSoon(scope, { entries: [], finished })
}
