import { EXPECTED_LIVE } from "../../../src/engine/suite/oracle.ts"
import type { Runtime } from "../../../src/app.ts"
import type { SessionId } from "../../../src/task/id.ts"
import type { OpenHouse } from "./turn-house.ts"
import { toPrompt } from "./turn-story.ts"
import type { TurnToolName } from "./turn-tools.ts"

const LONG_MS = 1_000_000_000

/** One turn, as the person asks for it. */
export interface TurnScenario {
  readonly session: SessionId
  readonly story: string
  readonly steps: readonly (readonly TurnToolName[])[]
  readonly prompt: string
}

export function createScenario(story: string, steps: TurnScenario["steps"]): TurnScenario {
  return { session: `session-${story}` as SessionId, story, steps, prompt: toPrompt(story, steps) }
}

/** The first life: sends the story in a new session, and waits until everything that it started has ended. */
export async function playTurn({ runtime }: OpenHouse, { session: id, prompt }: TurnScenario): Promise<void> {
  const session = await runtime.createSession({ id })
  await session.send(prompt)
  await finishTurn(runtime)
}

/** Waits until everything has ended. Allows every repetition that is asked about, and calls `onAnswer` before. */
export async function finishTurn({ tasks }: Runtime, onAnswer: () => void = () => {}): Promise<void> {
  for (;;) {
    const { items } = await tasks.list({ statuses: EXPECTED_LIVE })
    if (items.length === 0) return
    for (const { wait } of items.filter((task) => task.status === "waiting")) {
      onAnswer()
      await tasks.answer(wait.id, true, "a test")
    }
    const next = items.find((task) => task.status !== "waiting")
    if (next) await tasks.result(next.id, { waitMs: LONG_MS })
  }
}

/** Sends two more messages. The first one tells the model what ended in the background. */
export async function goOn(
  { runtime }: Pick<OpenHouse, "runtime">,
  { session: id }: Pick<TurnScenario, "session">,
): Promise<void> {
  const session = await runtime.openSession(id)
  await session.send("And then?")
  await session.send("Thank you.")
}
