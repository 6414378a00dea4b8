import type { SessionId } from "../../../src/task/id.ts"
import type { TaskStore } from "../../../src/task/store.ts"
import { findBrokenHistories, findUnfinished, readHistories } from "./store-invariants.ts"
import { findBrokenConversation } from "./turn-conversation.ts"
import { findRepeated } from "./turn-effects.ts"
import { readStoredSession, type StoredSession } from "./turn-record.ts"
import { FINAL_TEXT, toCallKey } from "./turn-story.ts"
import { toToolText, TURN_TOOLS, type TurnToolName } from "./turn-tools.ts"

/** What was asked of a program before it died, and what has happened outside of it. */
export interface TurnExpectations {
  readonly session: SessionId
  readonly story: string
  readonly steps: readonly (readonly TurnToolName[])[]
  readonly prompt: string
  /** `asked STORY STEP`, `did CALL` and `done CALL`, in order. */
  readonly effects: readonly string[]
  /** The number of crashes. */
  readonly crashes: number
  /** How often a repetition of an interrupted call was allowed. */
  readonly answers: number
  /** The number of crashes during a model call whose prompt was not durable yet: the log cannot name those calls. */
  readonly unsaved?: number
}

/** All violations of a turn after crashes, a last start without one and two more messages. */
export async function findTurnViolations(store: TaskStore, expected: TurnExpectations): Promise<readonly string[]> {
  const stored = await readStoredSession(store, expected.session)
  if (!stored) return ["the session is not in the store"]
  const histories = await readHistories(store)
  const health = await store.checkIntegrity()
  return [
    ...health.problems,
    ...(await findBrokenHistories(store, histories)),
    ...(await findUnfinished(store, histories)),
    ...findBrokenConversation(stored.messages),
    ...findRepeated(expected),
    ...findWrongTurn(stored, expected),
    ...findWrongAnswers(stored, expected),
    ...findWrongTasks(stored, expected),
    ...findWrongLedger(stored, expected),
  ]
}

function findWrongTurn({ said, spoken, turns, data }: StoredSession, { prompt }: TurnExpectations): readonly string[] {
  const [first] = turns
  return [
    ...(said.filter((text) => text === prompt).length === 1 ? [] : [`the prompt was kept ${said.length} times`]),
    ...(spoken.filter((text) => text === FINAL_TEXT).length === 1
      ? []
      : [`the last words were: ${spoken.join(" / ")}`]),
    ...(turns.length === said.length ? [] : [`${said.length} messages led to ${turns.length} turns`]),
    ...(first?.status === "completed" ? [] : [`the turn is ${first?.status}`]),
    ...(data.turns === said.length ? [] : [`${said.length} turns were counted as ${data.turns}`]),
    ...(data.turn === null ? [] : [`the turn ${data.turn} still holds the session`]),
  ]
}

/** Every call must have an answer that its tool's `onCrash` allows, and no answer without the effect. */
function findWrongAnswers(stored: StoredSession, { steps, effects, crashes }: TurnExpectations): readonly string[] {
  return steps.flatMap((tools, step) =>
    tools.flatMap((tool) => {
      const key = toCallKey(step, tool)
      const text = stored.answers.get(`call-${step}-${tool}`)
      const { onCrash, isSlow } = TURN_TOOLS[tool]
      if (text === undefined) return [`${key} has no answer`]
      if (text === toToolText(key))
        return effects.includes(`done ${key}`) ? [] : [`${key} has an answer and never ended`]
      const isHandle = isSlow && text.includes("in the background as task")
      if (isHandle) return stored.tasksOf(tool).length === 1 ? [] : [`${key} has ${stored.tasksOf(tool).length} tasks`]
      const mayBeInterrupted = onCrash === "fail" && crashes > 0 && !(isSlow && stored.tasksOf(tool).length > 0)
      const isInterrupted = /^It was (interrupted|stopped because)/.test(text) && mayBeInterrupted
      return isInterrupted ? [] : [`${key} was answered: ${text}`]
    }),
  )
}

/** Every call that became a task must have one task, and its end must be told to the model once. */
function findWrongTasks({ tasks, heard, tasksOf }: StoredSession, { steps }: TurnExpectations): readonly string[] {
  const names = new Set(steps.flat().filter((tool) => tasksOf(tool).length > 1))
  const told = tasks.flatMap(({ id, tool }) => {
    const count = heard.filter((text) => text.includes(`Task ${id}`)).length
    return count === 1 ? [] : [`the end of ${tool} ${id} was told ${count} times`]
  })
  return [...[...names].map((tool) => `${tool} became ${tasksOf(tool).length} tasks`), ...told]
}

/** Every repeated model call must be in the ledger as lost, and no more calls than there were crashes. */
function findWrongLedger(
  { lostCalls }: StoredSession,
  { effects, crashes, story, unsaved = 0 }: TurnExpectations,
): readonly string[] {
  const asked = effects.filter((effect) => effect.startsWith(`asked ${story} `))
  const repeated = asked.length - new Set(asked).size
  return [
    ...(lostCalls >= repeated - unsaved
      ? []
      : [`${repeated} calls were made again, ${lostCalls} are in the ledger as lost`]),
    ...(lostCalls <= crashes ? [] : [`${lostCalls} calls were lost in ${crashes} crashes`]),
  ]
}
