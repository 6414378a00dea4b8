import { MeanwhileError, isMeanwhileError } from "../../base/error.ts"
import type { JsonValue } from "../../base/json.ts"
import { toOneLine } from "../../base/one-line.ts"
import { toReasonOfNo } from "../../base/reason-of-no.ts"
import type { PersonAnswer } from "../../plugin/person-port.ts"
import type { LifecycleEvent } from "../../task/event.ts"
import { DEFAULT_WORKSPACE, type GroupId, type WaitId, type WorkspaceId } from "../../task/id.ts"
import type { Operation, OperationOf } from "../../task/operation.ts"
import type { Patch } from "../../task/patch.ts"
import type { TaskRecord } from "../../task/record.ts"
import type { Stopper } from "../../task/stop.ts"
import type { WaitRecord } from "../../task/wait.ts"
import { ADMISSION_QUESTION } from "../admit/approval.ts"
import { checkName } from "../admit/details.ts"
import { combineResults } from "../group/combine-results.ts"
import { readMembers } from "../group/find-group.ts"
import { REPEAT_QUESTION, toInterrupted } from "../run/on-crash.ts"
import type { FenceScope, HasClock, HasQueue, HasRedactor } from "../run/scope.ts"
import { GATE_QUESTION } from "../tool/tool-source.ts"
import { wakeTurns } from "../turn/take-turns.ts"
import { toDecision, toDefaultAnswer, toPersonAnswer } from "./person-answer.ts"
import { toAnswerPatch, toAskedQuestion } from "./question-wait.ts"

const EXPIRY = "expiry"
const REASON_CHARACTERS = 1_000

const NOT_REPEATED_IN_TIME = "it was running when its worker was lost, and nobody said in time whether to run it again"
const NOT_DECIDED_IN_TIME = "nobody decided in time whether its results are used"

/**
 * The questions that take only yes or no, and how a run ends that gets no yes. `refused` is the reason when somebody says
 * no, `expired` the end when nobody answers in time. A run that may not be repeated then ends as interrupted, not as
 * cancelled: nobody said no.
 */
const DECISIONS: ReadonlyMap<unknown, { readonly refused: string; readonly expired: LifecycleEvent }> = new Map([
  [ADMISSION_QUESTION, { refused: "it was not allowed", expired: toCancelled("limit", "nobody allowed it in time") }],
  [
    REPEAT_QUESTION,
    { refused: "not run again after an interruption", expired: toInterrupted("lost_worker", NOT_REPEATED_IN_TIME) },
  ],
  [GATE_QUESTION, { refused: "its results were rejected", expired: toCancelled("limit", NOT_DECIDED_IN_TIME) }],
])

function toCancelled(by: Stopper, reason: string): LifecycleEvent {
  return { type: "task.cancelled", by, reason, survivors: [], late: null }
}

/**
 * Answers what a run waits for. The answer to a question ends the question. "No" to running a task, to repeating an
 * interrupted one, or to using results ends the task; "yes" puts it in the queue, or hands the results back. An approval
 * takes no other answer. The first answer counts, and a later one is refused as `wrong_state`. An answer that holds a
 * secret is refused, too: without the secret it would be another answer.
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
    throw new MeanwhileError("not_found", `There is no wait with the id ${waitId} in this workspace.`, { waitId })
  }
  const question = toAskedQuestion(wait)
  if (question) return endQuestion(scope, wait, said, toPersonAnswer(question, said, answeredBy))
  const decision = DECISIONS.get(kindOf(wait))
  const answer = decision || wait.reason === "approval" ? toDecision(said) : said
  if (!decision) return settle(scope, wait, answer, answeredBy)
  return settle(scope, wait, answer, answeredBy, toCancelled("person", `${decision.refused}${toBecause(answer)}`))
}

/** Answers an overdue wait with the default that it was opened with. */
async function expireWait(scope: FenceScope & HasQueue, wait: WaitRecord): Promise<TaskRecord> {
  const question = toAskedQuestion(wait)
  if (question) return endQuestion(scope, wait, wait.onExpiry, toDefaultAnswer(question))
  return settle(scope, wait, wait.onExpiry, EXPIRY, DECISIONS.get(kindOf(wait))?.expired)
}

/** `whenRefused` ends the run when the answer to a decision is anything but yes. */
async function settle(
  scope: FenceScope & HasQueue,
  wait: WaitRecord,
  answer: JsonValue,
  answeredBy: string,
  whenRefused?: LifecycleEvent,
): Promise<TaskRecord> {
  const answering = { op: "wait.answer", waitId: wait.id, answer, answeredBy } as const
  if (whenRefused && answer !== true) {
    const run = { taskId: wait.taskId, run: wait.run }
    const [, ended] = await scope.store.commit([answering, { op: "task.apply", run, event: whenRefused }])
    return ended
  }
  if (kindOf(wait) === GATE_QUESTION) {
    const { group: groupId } = wait.question as { readonly group: GroupId }
    const group = await scope.store.group(groupId)
    if (!group) throw new MeanwhileError("not_found", `There is no group ${groupId} any more.`, { groupId })
    return complete(scope, wait, answering, combineResults(group, await readMembers(scope, groupId)))
  }
  const [answered] = await scope.store.commit([answering])
  if (answeredBy !== EXPIRY) scope.queue.own?.add(answered.id)
  scope.queue.nudge()
  wakeTurns(scope, answered)
  return answered
}

/** Ends the task of a question. The asker reads the answer from the record, so its notice counts as used. */
function endQuestion(
  scope: FenceScope,
  wait: WaitRecord,
  answer: JsonValue,
  answered: PersonAnswer,
): Promise<TaskRecord> {
  const answeredBy = answered.isAnswered ? answered.by : EXPIRY
  const answering = { op: "wait.answer", waitId: wait.id, answer, answeredBy } as const
  const key = { taskId: wait.taskId, run: wait.run, kind: "ended" } as const
  return complete(scope, wait, answering, toAnswerPatch(answered), [{ op: "notice.consume", keys: [key], by: null }])
}

/** One commit answers the wait and ends its task: no slot is needed, and a crash before it leaves the question open. */
async function complete(
  { store, worker }: FenceScope,
  { taskId, run }: WaitRecord,
  answering: OperationOf<"wait.answer">,
  patch: Patch,
  beside: readonly Operation[] = [],
): Promise<TaskRecord> {
  const reference = { taskId, run }
  const [, , ended] = await store.commit([
    answering,
    { op: "task.apply", run: reference, event: { type: "task.started", worker: worker.id } },
    { op: "task.apply", run: reference, event: { type: "task.completed", patch } },
    ...beside,
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

function kindOf({ question }: WaitRecord): JsonValue | undefined {
  return typeof question === "object" && question !== null && "kind" in question ? question["kind"] : undefined
}

/**
 * Answers overdue waits with the default that they were opened with. So nothing waits for ever unless it was meant to. A
 * wait that cannot be answered now does not keep others open.
 */
export async function expireWaits(scope: FenceScope & HasClock & HasQueue): Promise<void> {
  const overdue = await scope.store.waits({ isOpen: true, expiresBy: scope.clock.now() })
  const outcomes = await Promise.allSettled(overdue.map((wait) => expireWait(scope, wait)))
  for (const outcome of outcomes)
    if (outcome.status === "rejected" && !isMeanwhileError(outcome.reason, "wrong_state")) throw outcome.reason
}
