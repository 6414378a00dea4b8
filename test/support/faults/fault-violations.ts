import { isDeepStrictEqual } from "node:util"
import { callsOf, textOf } from "../../../src/plugin/message.ts"
import { parseSessionData } from "../../../src/session/log/session-data.ts"
import { DEFAULT_WORKSPACE } from "../../../src/task/id.ts"
import type { TaskRecord } from "../../../src/task/record.ts"
import type { TaskStore } from "../../../src/task/store.ts"
import { findBrokenHistories, findUnfinished, readHistories, type StoredHistory } from "../chaos/store-invariants.ts"
import { findBrokenConversation } from "../chaos/turn-conversation.ts"
import { readStoredSession, type StoredSession } from "../chaos/turn-record.ts"
import type { FaultStage } from "./fault-stage.ts"

const MOST = 1_000
/** More than one play has. Those that changed last come first. */
const MOST_SESSIONS = 20

/** Everything that a fault may not have changed. Two plays of one scenario have the same outcome. */
export interface FaultOutcome {
  readonly effects: readonly string[]
  /** How often each model was asked. */
  readonly asked: Readonly<Record<string, number>>
  readonly tasks: readonly string[]
  /** The words of each conversation, by the name of its agent. */
  readonly conversations: Readonly<Record<string, readonly string[]>>
}

/** What the store has of one play. */
export interface StoredPlay {
  readonly histories: readonly StoredHistory[]
  /** By the names of their agents, of which each scenario has no two alike. */
  readonly sessions: ReadonlyMap<string, StoredSession>
}

export async function readPlay({ store, since }: FaultStage): Promise<StoredPlay> {
  return { histories: await readHistories(store, since), sessions: await readSessions(store, since) }
}

/** Violations of what holds after every fault, once everything had time to end. */
export async function findFaultViolations(
  { store, session, said }: FaultStage,
  { histories, sessions }: StoredPlay,
): Promise<readonly string[]> {
  const main = await readStoredSession(store, session.id)
  return [
    ...(await findBrokenHistories(store, histories)),
    ...(await findUnfinished(store, histories)),
    ...[...sessions].flatMap(([name, stored]) => findBrokenSession(name, stored)),
    ...said.flatMap(({ text, outcome, answer }) =>
      outcome === "completed" && main?.spoken.includes(answer) ? [] : [`${text} is ${outcome} with ${answer}`],
    ),
    ...(isDeepStrictEqual(main?.messages, session.history()) ? [] : ["the stored log is not what the session shows"]),
    ...findLostAnswers(histories, sessions),
    ...(await findWronglyTold(histories, store, sessions)),
  ]
}

function findBrokenSession(name: string, { messages, data, turns }: StoredSession): readonly string[] {
  const problems = findBrokenConversation(messages).map((problem) => `${name}: ${problem}`)
  const unanswered = turns.filter(({ status }) => status === "completed").length
  return [
    ...problems,
    ...(data.turn === null ? [] : [`${name} is still held by a turn`]),
    ...(data.turns === turns.length ? [] : [`${name} counts ${data.turns} turns, and has ${turns.length}`]),
    ...(messages.filter(({ role }) => role === "assistant").length >= unanswered ? [] : [`${name} lacks answers`]),
  ]
}

/** A completed agent has said what it hands back. */
function findLostAnswers(
  histories: readonly StoredHistory[],
  sessions: ReadonlyMap<string, StoredSession>,
): readonly string[] {
  const spoken = [...sessions.values()].flatMap((stored) => stored.spoken)
  return histories.flatMap(({ task, runs }) =>
    runs.flatMap((run) => {
      if (task.kind !== "agent" || run.status !== "completed") return []
      const { answer } = run.patch.payload as { readonly answer: string }
      return answer !== "" && spoken.includes(answer) ? [] : [`run ${run.run} of an agent answered "${answer}"`]
    }),
  )
}

/** Every end is used and told once. */
async function findWronglyTold(
  histories: readonly StoredHistory[],
  store: TaskStore,
  sessions: ReadonlyMap<string, StoredSession>,
): Promise<readonly string[]> {
  const heard = [...sessions.values()].flatMap((stored) => stored.heard)
  const wrong = await Promise.all(
    histories.map(async ({ task }) => {
      const notices = (await store.notices({ taskId: task.id }, MOST)).filter(({ kind }) => kind === "ended")
      const unused = notices.filter(({ state }) => state !== "consumed")
      const told = heard.filter((text) => text.includes(`Task ${task.id.slice(0, 8)}`)).length
      const expected = task.kind === "turn" ? 0 : task.run
      const isRight = told === expected || (isQuestion(task) && told === 0)
      return [
        ...unused.map(({ run, state }) => `the end of run ${run} of ${task.title} is ${state}`),
        ...(isRight ? [] : [`${expected} ends of ${task.title} were told ${told} times`]),
      ]
    }),
  )
  return wrong.flat()
}

/** A question of another task is told while it is open, if the agent speaks then. */
const isQuestion = ({ plugin }: TaskRecord): boolean => plugin.startsWith("#")

export function toOutcome({ tools, provider }: FaultStage, { histories, sessions }: StoredPlay): FaultOutcome {
  return {
    effects: tools.effects.toSorted(),
    asked: Object.fromEntries(Object.entries(provider.models).map(([name, { callCount }]) => [name, callCount])),
    tasks: histories.flatMap(({ runs }) => runs.map(describeRun)).toSorted(),
    conversations: Object.fromEntries([...sessions].map(([name, stored]) => [name, describeConversation(stored)])),
  }
}

function describeRun({ tool, title, run, status, usage }: TaskRecord): string {
  return `${tool} "${title}"/${run} ${status}, ${usage.tokens} tokens`
}

/** The texts and calls of the agent. At which of them it is told a result is a matter of moments. */
function describeConversation({ messages }: StoredSession): readonly string[] {
  const own = messages.filter(({ role }) => role === "assistant")
  return own.map((message) => [textOf(message), ...callsOf(message).map(({ tool }) => tool)].join(" "))
}

/** By the names of their agents, of which each scenario has no two alike. */
async function readSessions(store: TaskStore, since: number): Promise<ReadonlyMap<string, StoredSession>> {
  const { items } = await store.sessions({ workspace: DEFAULT_WORKSPACE }, { limit: MOST_SESSIONS })
  const found = new Map<string, StoredSession>()
  for (const { id, data } of items.filter(({ createdAt }) => createdAt >= since)) {
    const stored = await readStoredSession(store, id)
    if (stored) found.set(parseSessionData(data).name, stored)
  }
  return found
}
