import { MeanwhileError, isMeanwhileError } from "../../base/error.ts"
import type { JsonValue } from "../../base/json.ts"
import { toOneLine } from "../../base/one-line.ts"
import { toReasonOfNo } from "../../base/reason-of-no.ts"
import type { PersonAnswer } from "../../plugin/person-port.ts"
import type { LifecycleEvent } from "../../task/event.ts"
import { DEFAULT_WORKSPACE, type WaitId, type WorkspaceId } from "../../task/id.ts"
import type { TaskRecord } from "../../task/record.ts"
import type { WaitRecord } from "../../task/wait.ts"
import { ADMISSION_QUESTION } from "../admit/approval.ts"
import { checkName } from "../admit/details.ts"
import { answerGate, toGatedGroup } from "../group/answer-gate.ts"
import { REPEAT_QUESTION, toInterrupted } from "../run/on-crash.ts"
import type { FenceScope, HasQueue, HasRedactor, HasStore, HasClock } from "../run/scope.ts"
import { wakeTurns } from "../turn/take-turns.ts"
import { toDecision, toDefaultAnswer, toPersonAnswer } from "./person-answer.ts"
import { toAnswerPatch, toAskedQuestion } from "./question-wait.ts"

const EXPIRY = "expiry"
const REASON_CHARACTERS = 1_000
const NOT_ALLOWED_IN_TIME: LifecycleEvent = {
  type: "task.cancelled",
  by: "limit",
  reason: "nobody allowed it in time",
  survivors: [],
  late: null,
}
const REJECTED = { by: "person", reason: "its results were rejected" } as const
const NOT_DECIDED_IN_TIME = { by: "limit", reason: "nobody decided in time whether its results are used" } as const

/**
 * Answers what a run waits for. The answer to a question ends it. "No" to running it, or to repeating what was
 * interrupted, ends it, and "yes" puts it in the queue; an approval takes nothing else. The first answer counts, and a
 * later one is refused as `wrong_state`. One that holds a secret is refused too: without the secret it would be another
 * answer.
 */
export async function answerWait(
  scope: FenceScope & HasRedactor & HasQueue,
  waitId: WaitId,
  said: JsonValue,
  answeredBy: string,
  workspace: WorkspaceId = DEFAULT_WORKSPACE,
): Promise<TaskRecord> {
  requireNoSecret(scope, said, answeredBy)
  const wait = await scope.store.wait(waitId)
  if (wait?.workspace !== workspace) {
    throw new MeanwhileError("not_found", `Nothing waits under ${waitId}.`, { waitId })
  }
  const question = toAskedQuestion(wait)
  if (question) return endQuestion(scope, wait, said, toPersonAnswer(question, said, answeredBy))
  const group = toGatedGroup(wait)
  const answer = group || isAdmission(wait) || isRepeat(wait) ? toDecision(said) : said
  const because = toBecause(answer)
  const refusal = { ...REJECTED, reason: `${REJECTED.reason}${because}` }
  if (group) return answerGate(scope, wait, group, { answer, answeredBy, refusal })
  const reason = `${isAdmission(wait) ? "it was not allowed" : "not run again after an interruption"}${because}`
  return settle(scope, wait, answer, answeredBy, {
    type: "task.cancelled",
    by: "person",
    reason,
    survivors: [],
    late: null,
  })
}

/** Gives the answer the wait was opened with. Nobody said no: what may not be repeated is as interrupted as it was. */
export async function expireWait(scope: FenceScope & HasQueue, wait: WaitRecord): Promise<TaskRecord> {
  const question = toAskedQuestion(wait)
  if (question) return endQuestion(scope, wait, wait.onExpiry, toDefaultAnswer(question))
  const group = toGatedGroup(wait)
  const expired = { answer: wait.onExpiry, answeredBy: EXPIRY, refusal: NOT_DECIDED_IN_TIME }
  if (group) return answerGate(scope, wait, group, expired)
  if (isAdmission(wait)) return settle(scope, wait, wait.onExpiry, EXPIRY, NOT_ALLOWED_IN_TIME)
  const message = "it was running when its worker was lost, and nobody said in time whether to run it again"
  return settle(scope, wait, wait.onExpiry, EXPIRY, toInterrupted("lost_worker", message))
}

async function settle(
  scope: HasStore & HasQueue,
  wait: WaitRecord,
  answer: JsonValue,
  answeredBy: string,
  whenRefused: LifecycleEvent,
): Promise<TaskRecord> {
  const answering = { op: "wait.answer", waitId: wait.id, answer, answeredBy } as const
  if ((isAdmission(wait) || isRepeat(wait)) && answer !== true) {
    const run = { taskId: wait.taskId, run: wait.run }
    const [, ended] = await scope.store.commit([answering, { op: "task.apply", run, event: whenRefused }])
    return ended
  }
  const [answered] = await scope.store.commit([answering])
  if (answeredBy !== EXPIRY) scope.queue.own?.add(answered.id)
  scope.queue.nudge()
  wakeTurns(scope, answered)
  return answered
}

/** One commit ends the question: no slot is needed, and the asker reads the answer from the record. */
async function endQuestion(
  { store, worker }: FenceScope,
  { id, taskId, run }: WaitRecord,
  answer: JsonValue,
  answered: PersonAnswer,
): Promise<TaskRecord> {
  const reference = { taskId, run }
  const answeredBy = answered.isAnswered ? answered.by : EXPIRY
  const [, , ended] = await store.commit([
    { op: "wait.answer", waitId: id, answer, answeredBy },
    { op: "task.apply", run: reference, event: { type: "task.started", worker: worker.id } },
    { op: "task.apply", run: reference, event: { type: "task.completed", patch: toAnswerPatch(answered) } },
    { op: "notice.consume", keys: [{ ...reference, kind: "ended" }], by: null },
  ])
  return ended
}

/** A no may give a reason, which the asker of the call is told. */
function toBecause(answer: JsonValue): string {
  const reason = typeof answer === "string" ? toReasonOfNo(answer) : ""
  return reason === "" ? "" : `: ${toOneLine(reason).slice(0, REASON_CHARACTERS)}`
}

function requireNoSecret({ redactor }: HasRedactor, answer: JsonValue, answeredBy: string): void {
  checkName(redactor, "name of who answers", answeredBy)
  if (!redactor.redactJson(answer).hasChanged) return
  const message = "The answer holds a secret, which is never stored. Answer with where the secret is found instead."
  throw new MeanwhileError("invalid_input", message)
}

function isRepeat(wait: WaitRecord): boolean {
  return kindOf(wait) === REPEAT_QUESTION
}

function isAdmission(wait: WaitRecord): boolean {
  return kindOf(wait) === ADMISSION_QUESTION
}

function kindOf({ question }: WaitRecord): JsonValue | undefined {
  return typeof question === "object" && question !== null && "kind" in question ? question["kind"] : undefined
}

/**
 * Gives waits whose time is over the answer they were opened with. Nothing waits for ever that was not meant to. One
 * that cannot be answered now keeps no other one open.
 */
export async function expireWaits(scope: FenceScope & HasClock & HasQueue): Promise<void> {
  const overdue = await scope.store.waits({ isOpen: true, expiresBy: scope.clock.now() })
  const outcomes = await Promise.allSettled(overdue.map((wait) => expireWait(scope, wait)))
  for (const outcome of outcomes)
    if (outcome.status === "rejected" && !isMeanwhileError(outcome.reason, "wrong_state")) throw outcome.reason
}
