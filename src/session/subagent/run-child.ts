import { MeanwhileError } from "../../base/error.ts"
import { type Act, actFreely, type AskingRun } from "../../plugin/context.ts"
import { callsOf, type Message, textOf } from "../../plugin/message.ts"
import type { ChildSendOptions, ChildTurn } from "../../plugin/sessions-port.ts"
import type { TaskId } from "../../task/id.ts"
import { type ChildAccount, openAccount } from "./account.ts"
import { type FollowedActivity, followActivity } from "./activity.ts"
import { ENDED_MESSAGE, noteUnreadMessages, hasEnds, LAST_ENDED_MESSAGE, SAID_MESSAGE } from "./news.ts"
import { stopTasks, waitForTasks, waitForTurn } from "./child-wait.ts"
import { WAITING_FOR_TASKS } from "../../task/progress.ts"
import { type Conversation, NEVER } from "../conversation/conversation.ts"
import { readTurns } from "../log/read-log.ts"
import type { Using } from "../conversation/scope.ts"
import type { Session } from "../conversation/session.ts"
import { isJsonObject, type JsonObject } from "../../base/json.ts"
import { FINISH_TOOL } from "../../plugin/agent-request.ts"
import { addTokens } from "../../plugin/token-usage.ts"
import { findBudgetEnd } from "../turn/turn-budget.ts"

/** The most times that the ends of its tasks wake an agent in one run. */
const MOST_WAKES = 5

/** The parts of the scope that one run of a subagent uses. */
export type RunChildScope = Using<"bus" | "clock" | "config" | "log" | "models" | "runner" | "store">

export interface ChildOptions {
  readonly session: Session
  readonly conversation: Conversation
  /** Null for a child that no call asked for. */
  readonly run: AskingRun | null
  /** True if the agent existed before: a crash came in between, or this run follows another. */
  readonly isFound: boolean
}

/** One run of an agent: the turn that was asked for, and the turns that ends of its tasks and messages to it add. */
interface Course extends ChildOptions {
  readonly scope: RunChildScope
  readonly account: ChildAccount
  readonly activity: FollowedActivity
  /** The turns of this run, oldest first. */
  readonly turns: TaskId[]
  /** Aborts when the run ends here, for whatever reason: then nobody waits any longer. */
  readonly left: AbortSignal
  /** Aborts when the run was stopped, and the agent must stop too. */
  readonly stopped: AbortSignal
}

/**
 * Sends the message, unless this run has sent it before, and goes on until the agent has nothing left to wait for. Turns
 * are named by their number in the run, so that a run that goes on after a crash finds the turns that it has begun and
 * sends only the next.
 */
export async function runChild(
  scope: RunChildScope,
  child: ChildOptions,
  message: string,
  options: ChildSendOptions,
): Promise<ChildTurn> {
  const { conversation, run } = child
  const { signal = NEVER, onSpent, budget } = options
  const before = child.isFound && run ? (await scope.store.task(run.taskId))?.progress?.activity : undefined
  const activity = followActivity(scope, conversation, options, before)
  const account = await openAccount(scope, {
    conversation,
    run,
    budget,
    onSpent(usage, spending) {
      activity.spend(usage.tokens)
      onSpent?.(usage, spending)
    },
  })
  const follower = followSignal(signal, run)
  const course: Course = { ...child, scope, account, activity, turns: [], left: signal, stopped: follower.signal }
  try {
    return await takeTurns(course, message, options.said)
  } finally {
    follower.release()
    account.close()
    activity.release()
  }
}

async function takeTurns(course: Course, message: string, said: string | undefined): Promise<ChildTurn> {
  let answer = await takeTurn(course, message, said)
  let wakes = 0
  for (;;) {
    if (answer.budgetEnd !== null) {
      const { budgetEnd } = answer
      await toAct(course.run)(() => stopTasks(course.scope, course.conversation, budgetEnd))
      return answer
    }
    const next = await findNext(course, wakes)
    if (next === null) return answer
    if (next !== SAID_MESSAGE) wakes += 1
    answer = joinTurns(answer, await takeTurn(course, next))
  }
}

/**
 * The next message to the agent; null if it has finished. An agent that ended its turn while its tasks still work has not
 * finished: their ends wake it.
 */
async function findNext(course: Course, wakes: number): Promise<string | null> {
  const { scope, conversation, run, activity, left } = course
  if (await findSent(course)) return ENDED_MESSAGE
  if (await noteUnreadMessages(scope, conversation)) return SAID_MESSAGE
  if (wakes >= MOST_WAKES) return null
  await waitForTasks(scope, conversation, { run, signal: left, onWait: () => activity.enter(WAITING_FOR_TASKS) })
  if (await noteUnreadMessages(scope, conversation)) return SAID_MESSAGE
  if (!(await hasEnds(scope, conversation))) return null
  return wakes + 1 < MOST_WAKES ? ENDED_MESSAGE : LAST_ENDED_MESSAGE
}

/**
 * Names the next message that the run sends, so that the run finds exactly that turn after a crash. Undefined for a log in
 * memory, whose turns do not survive the process.
 */
function toKey({ conversation: { log }, run, turns }: Course): string | undefined {
  return run && log.isKept ? `agent/${log.id}/${run.run}/${turns.length + 1}` : undefined
}

/** The next turn, if it was begun before a crash. */
async function findSent(course: Course): Promise<TaskId | undefined> {
  const idempotencyKey = course.isFound ? toKey(course) : undefined
  if (idempotencyKey === undefined) return undefined
  const filter = { workspace: course.conversation.log.workspace, idempotencyKey, kinds: ["turn"] } as const
  return (await course.scope.store.tasks(filter, { limit: 1 })).items[0]?.id
}

async function takeTurn(course: Course, message: string, said?: string): Promise<ChildTurn> {
  const sent = await findSent(course)
  course.activity.enter("thinking")
  return sent ? pickUp(course, sent) : send(course, message, said)
}

async function send(course: Course, message: string, said: string | undefined): Promise<ChildTurn> {
  const { scope, session, conversation, run, account, activity, stopped } = course
  const budget = account.left()
  const key = toKey(course)
  const sending = {
    parentTask: run?.taskId ?? null,
    ...(run?.traceId && { traceId: run.traceId }),
    ...(said !== undefined && { said }),
    ...(key !== undefined && { idempotencyKey: key }),
    ...(budget && { budget }),
    signal: stopped,
  }
  // Between two turns the run may have been lost: whoever has it now sends the next message.
  const { turn, outcome, accounting } = await toAct(run)(() => session.send(message, sending))
  account.takeTime(accounting.durationMs)
  if (outcome === "stopped") throw new MeanwhileError("closed", `The subagent ${session.name} was stopped.`)
  if (conversation.log.isKept) {
    course.turns.push(turn)
    const { messages } = await readTurns(scope.store, session.id, new Set([turn]))
    return { turn, usage: accounting.usage, ...toAnswer(messages) }
  }
  // The model's last answer directly follows the message that says why it is the last.
  const { text, budgetEnd } = toAnswer(conversation.log.history.slice(-2))
  return { turn, usage: accounting.usage, text, budgetEnd, handedBack: activity.handedBack() }
}

/** Waits for a turn that was begun before. Its cost counts however it ended. */
async function pickUp(course: Course, id: TaskId): Promise<ChildTurn> {
  const { scope, session, conversation, run, account, activity, turns, left, stopped } = course
  turns.push(id)
  if (run) scope.runner.noteFound(run.taskId, id)
  const readFound = () => readTurns(scope.store, session.id, new Set(turns))
  activity.catchUp((await readFound()).messages.flatMap(callsOf))
  try {
    const { ranMs } = await waitForTurn(scope, id, session, { left, stopped })
    account.takeTime(ranMs)
    // If the turn went on here, its groups are sealed after its end, and only then can their ends be told.
    await conversation.queue.done
  } finally {
    const { messages, usage, costMicros } = await readFound()
    account.catchUp({ tokens: usage.inputTokens + usage.outputTokens, costMicros })
    activity.catchUp(messages.flatMap(callsOf))
  }
  const { messages, usage } = await readTurns(scope.store, session.id, new Set([id]))
  return { turn: id, usage, ...toAnswer(messages) }
}

const toAct = (run: AskingRun | null): Act => run?.act ?? actFreely

/**
 * Aborts with the signal, unless this process only leaves the run: then it leaves the child too, which goes on elsewhere.
 */
function followSignal(signal: AbortSignal, run: AskingRun | null) {
  const stopping = new AbortController()
  const stop = (): void => {
    if (!run?.isLeft) stopping.abort(signal.reason)
  }
  if (signal.aborted) stop()
  signal.addEventListener("abort", stop)
  return { signal: stopping.signal, release: () => signal.removeEventListener("abort", stop) }
}

/** The answer of a turn, from its messages. */
function toAnswer(messages: readonly Message[]): Pick<ChildTurn, "text" | "handedBack" | "budgetEnd"> {
  const last = messages.findLast(({ role }) => role === "assistant")
  const budgetEnd = messages.map(findBudgetEnd).findLast((reason) => reason !== null) ?? null
  return { text: last ? textOf(last) : "", handedBack: findHandedBack(messages), budgetEnd }
}

/** The input of the last call of `finish` that was not refused. */
function findHandedBack(messages: readonly Message[]): JsonObject | null {
  const parts = messages.flatMap((message) => [...message.parts])
  const refused = new Set(parts.flatMap((part) => (part.type === "result" && part.isError ? [part.callId] : [])))
  const call = messages.flatMap(callsOf).findLast(({ tool, id }) => tool === FINISH_TOOL && !refused.has(id))
  const input = call?.input
  return isJsonObject(input) ? input : null
}

/** The result of several turns in one run: the text is the last turn's, and the usage is that of all. */
function joinTurns(before: ChildTurn, next: ChildTurn): ChildTurn {
  const handedBack = next.handedBack ?? before.handedBack
  return { ...next, usage: addTokens(before.usage, next.usage), handedBack }
}
