import { toJson } from "../../base/json.ts"
import { callsOf, type Message, type ToolResult, userMessage } from "../../plugin/message.ts"
import type { FinishedStep, LogChange } from "../log/session-log.ts"
import { type CallPlace, createCallPlace, toStepKey, toOnCrash, toUnbegunStep } from "./call-step.ts"
import { type ExecutedCall, executeCall } from "./execute-call.ts"
import { type RecalledCalls, recallAnswers } from "./recall-answers.ts"
import type { TurnScope } from "./turn-scope.ts"
import type { Answer } from "../../plugin/task-service.ts"
import type { AskingStep } from "../../task/record.ts"
import type { Notice } from "../../task/notice.ts"
import { toHops } from "../../runner/run/hops.ts"
import { isNothing, keepEnded } from "../results/delivery.ts"
import { readPending, toPendingText, toTold, usePending } from "../results/pending-context.ts"
import { toErrorResult } from "./tool-answer.ts"

export interface AnswerOptions {
  /** The position of the message in the log. */
  readonly position: number
  /** True if an earlier claim left the message: its calls may have run already. */
  readonly isLeft: boolean
}

/**
 * Runs all calls of the model's last message at once, and gives each its one answer. An answer is kept as soon as its call
 * ends, so that no finished call is repeated; the last one is kept together with the message that holds them all.
 *
 * After a crash before a call's end is kept, its tool's `onCrash` decides. After that, its answer is known.
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
  /** The call that ends last is kept with the message, unless a shutdown comes in between. */
  let keepLast = (): void => {}
  const ended = await Promise.all(
    places.map(async (place) => {
      const { call } = place
      const known = answers.get(call.id)
      const executed = known ? null : await executeCall(scope, place)
      unanswered -= 1
      if (executed && turn.isHandedBack()) keepLeft(scope, place, executed)
      else if (executed && unanswered > 0) keep(scope, place.key, executed.result)
      else if (executed) keepLast = () => keep(scope, place.key, executed.result)
      const result = known ?? (executed as ExecutedCall).result
      return { result, finished: toFinished(place.key, result, executed?.answer ?? null) }
    }),
  )
  if (turn.isHandedBack()) {
    keepLast()
    throw turn.signal.reason
  }
  const parts = ended.map(({ result }) => result)
  const finished = ended.map((each) => each.finished)
  const answer = { kind: "message", message: { role: "tool", parts }, turn: turn.id } as const
  const news = await takeNews(scope)
  // This commit does not wait for the disk: the model's next answer, or the turn's end, does.
  turn.saveSoon({ ...news, entries: [answer, ...news.entries], finished }, { waitsForDisk: false })
}

/** The calls of a message that an earlier claim left, as far as they are known. */
interface LeftCalls extends Pick<RecalledCalls, "answers" | "keys"> {
  /** Keys of calls that the earlier claim began and that are run again: they may have done something already. */
  readonly begun: ReadonlySet<string>
}

async function recallLeft(scope: TurnScope, message: Message, position: number): Promise<LeftCalls> {
  const { answers, keys, unshown, unbegun } = await recallAnswers(scope, message, position)
  const repeated = [...keys].flatMap(([id, key]) => (answers.has(id) ? [] : [key]))
  await freeClaims(scope, [...repeated, ...unshown])
  // A crash from here on finds the calls in flight.
  if (unbegun.length > 0) await scope.turn.save({ entries: [], started: unbegun })
  const begun = new Set(repeated).difference(new Set(unbegun.map(({ key }) => key)))
  return { answers, keys, begun }
}

/**
 * A failed call showed none of the results that it had claimed, so they are free again when the turn ends. If the call has
 * a task of its own, its answer does show one result: that task's end.
 */
function toFinished(key: string, { isError }: ToolResult, answer: Answer | null): FinishedStep {
  const tellsOwnEnd = answer !== null && "taskId" in answer
  return isError && !tellsOwnEnd ? { key, result: null } : { key, result: null, settlesClaims: true }
}

const NOTHING: LeftCalls = { answers: new Map(), keys: new Map(), begun: new Set() }

function keep(scope: TurnScope, key: string, result: ToolResult): void {
  scope.turn.saveSoon({ entries: [], finished: [toKeptStep(scope, key, result)] })
}

function toKeptStep({ services }: TurnScope, key: string, result: ToolResult): FinishedStep {
  return { key, result: services.redactor.redactJson(toJson(result)).value }
}

/** Keeps that no call of the message was begun, because a shutdown came first. */
export function leaveUntried(scope: TurnScope, message: Message, position: number): void {
  const finished = callsOf(message).map((call) => toUnbegunStep(toStepKey(position, call)))
  scope.turn.saveSoon({ entries: [], finished })
}

const MOST_CLAIMS = 10_000

/**
 * Releases the results claimed by calls whose answers have changed: only what an answer shows counts as used. If the
 * process dies before the release, the process that continues the turn does it. After it, the results are told like any
 * other.
 */
async function freeClaims(
  { services: { store }, conversation: { log }, turn }: TurnScope,
  stepKeys: readonly string[],
): Promise<void> {
  const steps = stepKeys.flatMap((key) => turn.askingStep(key) ?? [])
  if (steps.length === 0) return
  const { id: session, workspace } = log
  const claimed = await store.notices({ workspace, session, states: ["claimed"] }, MOST_CLAIMS)
  const releases = steps.flatMap((by) => {
    const keys = claimed.filter((notice) => isClaimedBy(notice, by))
    return keys.length > 0 ? [{ op: "notice.release", keys, by } as const] : []
  })
  if (releases.length > 0) await store.commit(releases)
}

function isClaimedBy(notice: Notice, { taskId, run, key }: AskingStep): boolean {
  if (notice.state !== "claimed") return false
  const { claimedBy } = notice
  return claimedBy.taskId === taskId && claimedBy.run === run && claimedBy.key === key
}

const NO_NEWS: LogChange = { entries: [] }

/**
 * Tells the model what has happened since the turn began, in a message behind the answers to its calls and in the same
 * commit. If nothing has happened, nothing is read. A turn that is being stopped is told nothing more.
 */
async function takeNews(scope: TurnScope): Promise<LogChange> {
  const { services, conversation, turn, hops } = scope
  if (!conversation.hasNews || turn.signal.aborted) return NO_NEWS
  const found = await readPending(services, conversation)
  if (!found) return NO_NEWS
  // Tasks that a report started are told by the next report, so that reports in a row are counted.
  const delivery = hops > 0 ? keepEnded(found.delivery, ({ task }) => toHops(task.metadata) < hops) : found.delivery
  const pending = await usePending(services, conversation, { ...found, delivery })
  if (isNothing(pending.delivery) && pending.said.length === 0) return NO_NEWS
  const message = userMessage(toPendingText(services, conversation, pending))
  return { entries: [{ kind: "message", message, turn: turn.id, said: null }], ...toTold(conversation, pending) }
}

const SHUT_DOWN = "It was stopped because its worker was shut down; run it again if it is still wanted."

/** Keeps what is known of a call that a shutdown cut off. */
function keepLeft(scope: TurnScope, place: CallPlace, executed: ExecutedCall): void {
  const step = toLeftStep(scope, place, executed)
  if (step) scope.turn.saveSoon({ entries: [], finished: [step] })
}

/**
 * The result of a call that a shutdown cut off, for the next claim of the turn. Null if the result is not known: then the
 * call is in flight, as after a crash, and its tool's `onCrash` decides.
 */
function toLeftStep(
  scope: TurnScope,
  { call, key, wasBegun }: CallPlace,
  { result, answer, hasBegun }: ExecutedCall,
): FinishedStep | null {
  if (!answer) return hasBegun || wasBegun ? null : toUnbegunStep(key)
  if (answer.outcome === "completed") return toKeptStep(scope, key, result)
  const isSurelyStopped = answer.outcome === "cancelled" && answer.survivors.length === 0
  if (!isSurelyStopped || toOnCrash(scope, call) !== "fail") return null
  return toKeptStep(scope, key, toErrorResult(call, SHUT_DOWN))
}
