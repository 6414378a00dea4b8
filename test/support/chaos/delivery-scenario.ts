import { EXPECTED_LIVE } from "../../../src/engine/suite/oracle.ts"
import type { Runtime } from "../../../src/app.ts"
import { isMeanwhileError, toErrorMessage } from "../../../src/base/error.ts"
import type { Session } from "../../../src/session/conversation/session.ts"
import type { GroupId, SessionId } from "../../../src/task/id.ts"
import type { OpenDelivery } from "./delivery-house.ts"
import { findOverdue } from "./delivery-overdue.ts"
import { type DeliveryPlan, GROUPS, type Move, toSessionId } from "./delivery-plan.ts"
import { toPrompt, toToolOf } from "./delivery-story.ts"
import { toResultMark } from "./delivery-tools.ts"

/** Looks at an idle program after which nothing can come any more. */
const MOST_IDLE_LOOKS = 1_000
/** Quiet looks in a row that count as the end: what follows from an end, such as a group's question, takes a few turns. */
const QUIET_LOOKS = 3
const TURNS_BETWEEN_LOOKS = 4
const LAST_WORDS = "And then?"

/** One life of the program, with its conversations open. */
export interface DeliveryLife extends OpenDelivery {
  readonly plan: DeliveryPlan
  readonly number: number
  readonly sessions: readonly Session[]
  /** For each message, what went wrong with it, or null. None rejects. */
  readonly sent: Promise<string | null>[]
}

export async function openDelivery(open: OpenDelivery, plan: DeliveryPlan, number: number): Promise<DeliveryLife> {
  const sessions: Session[] = []
  for (const [index, { reports }] of plan.sessions.entries()) {
    const session = await openSession(open.runtime, toSessionId(plan, index))
    if (reports) session.enableReports()
    sessions.push(session)
  }
  return { ...open, plan, number, sessions, sent: [] }
}

/** Opens the session, or creates it: a session in which nothing was said yet is not in the store. */
async function openSession(runtime: Runtime, id: SessionId): Promise<Session> {
  try {
    return await runtime.openSession(id)
  } catch (error) {
    if (!isMeanwhileError(error, "not_found")) throw error
    return runtime.createSession({ id })
  }
}

export async function playMoves(life: DeliveryLife, moves: readonly Move[]): Promise<void> {
  for (const [index, move] of moves.entries()) await play(life, move, `${life.number}.${index}`)
}

async function play(life: DeliveryLife, move: Move, place: string): Promise<void> {
  const { runtime, world, sessions, sent } = life
  const [oldest] = world.held
  switch (move.do) {
    case "say":
      return void sent.push(say(sessions[move.session] as Session, toPrompt(place, move.story)))
    case "start":
      return startWork(life, move, place)
    case "end":
      return [...world.held].slice(0, move.count).forEach(({ release }) => release())
    case "cancel":
      if (!oldest) return
      await runtime.tasks.cancel(oldest.taskId, { by: "person", reason: toResultMark(oldest.mark, oldest.run) })
      return
    case "retry":
      return retryFailed(runtime)
    case "cancel_group":
      return cancelGroup(runtime)
    case "stop":
      return void sessions[move.session]?.stop()
    case "pass":
      return world.pass(move.turns)
  }
}

async function say(session: Session, text: string): Promise<string | null> {
  try {
    await session.send(text)
    return null
  } catch (error) {
    return `"${text}" was refused: ${toErrorMessage(error)}`
  }
}

async function startWork(
  { runtime: { tasks }, plan }: DeliveryLife,
  { session: index, marks, group: wanted, notify, seals }: Extract<Move, { do: "start" }>,
  place: string,
): Promise<void> {
  const session = toSessionId(plan, index)
  const name = wanted === "again" ? wanted : `${wanted}-${place}`
  const group = wanted && (await tasks.groups.open({ name, session, ...GROUPS[wanted] }))
  const started = marks.map((mark) =>
    tasks.start({ tool: toToolOf(mark), input: { mark }, session, notify, group: group?.id ?? null }),
  )
  // The end of a turn may have sealed the group in the meantime, which refuses the start.
  const answers = await Promise.allSettled(started)
  const refused = answers.find((answer) => answer.status === "rejected")
  if (refused && !isMeanwhileError(refused.reason, "wrong_state")) throw refused.reason
  if (group && seals) await tasks.groups.seal(group.id)
}

/** The retry is ignored if it comes too late, like the cancel of a group below. */
async function retryFailed({ tasks }: Runtime): Promise<void> {
  const { items } = await tasks.list({ statuses: ["failed"], kinds: ["tool"] })
  const [newest] = items
  if (newest) await unlessOver(tasks.retry(newest.id))
}

async function cancelGroup({ tasks }: Runtime): Promise<void> {
  const [newest] = await tasks.groups.list({ states: ["open", "sealed"] })
  if (newest) await unlessOver(tasks.groups.cancel(newest.id))
}

async function unlessOver(work: Promise<unknown>): Promise<void> {
  await work.catch((error: unknown) => {
    if (!isMeanwhileError(error, "wrong_state")) throw error
  })
}

/** Brings everything to its end and answers every question. Returns overdue reports and the problems of messages. */
export async function settleDelivery(life: DeliveryLife): Promise<readonly string[]> {
  const { runtime, world, store, sessions, plan } = life
  world.open()
  let overdue: readonly string[] = []
  for (let idle = 0, quiet = 0; idle < MOST_IDLE_LOOKS && quiet < QUIET_LOOKS; idle++) {
    const { items } = await runtime.tasks.list({ statuses: EXPECTED_LIVE })
    const open = await runtime.tasks.groups.list({ states: ["open"] })
    for (const { id } of open) await sealGroup(runtime, id)
    for (const task of items) {
      if (task.status === "waiting") await unlessOver(runtime.tasks.answer(task.wait.id, plan.isApplied, "a test"))
    }
    const isBusy = items.length > 0 || open.length > 0 || sessions.some((session) => session.isBusy)
    overdue = isBusy ? [] : await findOverdue(store, plan)
    quiet = isBusy || overdue.length > 0 ? 0 : quiet + 1
    if (isBusy) idle = 0
    await world.pass(TURNS_BETWEEN_LOOKS)
  }
  const refused = await Promise.all(life.sent)
  return [...overdue, ...refused.filter((one) => one !== null)]
}

function sealGroup({ tasks }: Runtime, id: GroupId): Promise<void> {
  return unlessOver(tasks.groups.seal(id))
}

/** Sends one more message in each conversation, with which the agent hears of what was not reported. */
export async function sayLastWords({ sessions }: DeliveryLife): Promise<void> {
  for (const session of sessions) await session.send(LAST_WORDS)
}
