import { MeanwhileError, toErrorMessage } from "../../base/error.ts"
import { toJson } from "../../base/json.ts"
import type { AskingRun } from "../../plugin/context.ts"
import type { PersonAnswer, Question } from "../../plugin/person-port.ts"
import { createTaskId, type TaskId } from "../../task/id.ts"
import { isTerminal } from "../../task/lifecycle.ts"
import { PLAIN_DETAILS, type TaskDetails, type TaskRecord } from "../../task/record.ts"
import type { DetailsScope } from "../admit/scope.ts"
import { writeBelow } from "../run/begun-below.ts"
import { toCallKey } from "../run/call-key.ts"
import { enter } from "../run/enter.ts"
import { cancelTask } from "../stop/cancel.ts"
import { acknowledgeTasks } from "../result/use-results.ts"
import { waitForEnd } from "../run/wait-for-end.ts"
import type { ActiveRun, RunSteps } from "../run/active-run.ts"
import { restRun } from "../run/yield-slots.ts"
import { runsAbove } from "../run/runs-above.ts"
import type {
  CancelScope,
  FenceScope,
  HasActive,
  HasClock,
  HasConfig,
  HasEngine,
  HasRedactor,
  HasStore,
  HasWritten,
  SlotScope,
  StopScope,
} from "../run/scope.ts"
import { QUESTION_PREFIX, QUESTION_TOOL, TURN_PLUGIN } from "../tool/tool-source.ts"
import { describeShutdown } from "../worker/worker-identity.ts"
import { toKeptAnswer, toQuestionHash, toQuestionTitle, toQuestionWait } from "./question-wait.ts"

interface QuestionScope extends FenceScope, HasClock, HasConfig, HasRedactor, HasActive, HasWritten {}

/**
 * Puts the question of a run in the background into the inbox and waits for the answer. Meanwhile the run, and those
 * above it, rest. The same call made again after a crash finds the same question, and the answer if there is one.
 *
 * A crash before the question is written: nobody was asked. After it: the question stays in the inbox until it is
 * answered, its time is over, or its asker has ended.
 */
export async function askPerson(
  scope: StopScope & SlotScope & DetailsScope & HasEngine,
  run: Pick<AskingRun, "taskId" | "isLeft">,
  question: Question,
  signal: AbortSignal,
): Promise<PersonAnswer> {
  const active = scope.active.get(run.taskId)
  if (!active) throw new MeanwhileError("wrong_state", `The call ${run.taskId} has ended: it can ask nobody any more.`)
  signal.throwIfAborted()
  // Rests from before the write: a person may see the question before the write returns.
  const goOn = restRun(scope, active.taskId)
  let asked: TaskRecord
  try {
    asked = await enter(scope, () => writeQuestion(scope, active, question), { parentTask: toRecorded(scope, active) })
    const ended = await waitForEnd(scope, asked.id, { signal })
    if (ended && isTerminal(ended.status)) return await toAnswer(scope, ended)
  } finally {
    goOn()
  }
  if (!run.isLeft)
    await withdraw(scope, asked, "its asker no longer waits for the answer").catch((error: unknown) => {
      scope.log.warn("a question could not be withdrawn", { task: asked.id, error: toErrorMessage(error) })
    })
  signal.throwIfAborted()
  return { isAnswered: false, reason: `${describeShutdown(scope)} before anybody answered` }
}

async function writeQuestion(scope: QuestionScope, active: ActiveRun, question: Question): Promise<TaskRecord> {
  scope.written.sessions.note(active.origin.session)
  const details = toQuestionDetails(scope, active, question)
  const entry = { as: "waiting", wait: toQuestionWait(scope, question) } as const
  const { task } = await writeBelow(scope, active, details, (placed) => [{ op: "task.create", details: placed, entry }])
  return task
}

function toQuestionDetails(scope: HasRedactor & HasActive, active: ActiveRun, question: Question): TaskDetails {
  return {
    ...PLAIN_DETAILS,
    id: createTaskId(),
    workspace: active.origin.workspace,
    session: active.origin.session,
    parentTask: active.taskId,
    parentMessage: active.origin.parentMessage,
    kind: "tool",
    plugin: TURN_PLUGIN,
    tool: QUESTION_TOOL,
    title: toQuestionTitle(scope, question),
    input: scope.redactor.redactJson(toJson(question)).value,
    notify: "next_turn",
    idempotencyKey: `${QUESTION_PREFIX}${toAsker(active)}/${toNumbered(active.steps, toQuestionHash(question))}`,
    depth: active.origin.depth + 1,
    traceId: active.origin.traceId,
  }
}

/** A call in the foreground has no record; the nearest run above it that has one stands for it. */
function toRecorded(scope: HasActive, active: ActiveRun): TaskId | null {
  return runsAbove(scope, active).find(({ standing }) => standing.in === "background")?.taskId ?? null
}

/** A call in the foreground is known by the step that makes it, a task by its run: a retry asks anew. */
function toAsker(active: ActiveRun): string {
  return active.standing.in === "foreground" ? toCallKey(active) : `${active.taskId}/${active.run}`
}

/** Counts equal questions of a run: the same question asked a second time is another one. */
function toNumbered(steps: RunSteps, hash: string): string {
  steps.questions ??= new Map()
  const number = (steps.questions.get(hash) ?? 0) + 1
  steps.questions.set(hash, number)
  return `${hash}/${number}`
}

/** The asker gets the answer here: nobody else has to hear how the question ended. */
async function toAnswer(scope: HasStore, task: TaskRecord): Promise<PersonAnswer> {
  if (task.status === "completed") return toKeptAnswer(task.patch)
  await acknowledgeTasks(scope, [task])
  const reason = "stop" in task ? task.stop.reason : `the question is ${task.status}`
  return { isAnswered: false, reason: `the question was withdrawn: ${reason}` }
}

async function withdraw(scope: CancelScope, question: TaskRecord, reason: string): Promise<void> {
  await acknowledgeTasks(scope, [await cancelTask(scope, question, { by: "lifetime", reason })])
}
