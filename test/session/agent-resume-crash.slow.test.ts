import { expect, test } from "vitest"
import type { Runtime } from "../../src/app.ts"
import { type Message, textOf } from "../../src/plugin/message.ts"
import type { ConnectedModel } from "../../src/plugin/model.ts"
import { DEFAULT_WORKSPACE, type SessionId, type TaskId } from "../../src/task/id.ts"
import { breathe, createAgentHouse, type HouseModelParts, say } from "../support/chaos/agent-house.ts"
import { type CrashPoint, describeCrash, liveThroughEffect } from "../support/chaos/mortal-engine.ts"
import { findCrashPoints } from "../support/chaos/open-life.ts"
import { withPatience } from "../support/patience.ts"
import { describeLive } from "../support/chaos/store-invariants.ts"
import { finishTurn } from "../support/chaos/turn-scenario.ts"

const PARENT = "parent" as SessionId
const FOLLOW_UP = "And one more?"

test("a follow-up is sent once or was never accepted, whatever commit or effect a process dies at", async () => {
  const points = await findPoints()
  expect(points.length).toBeGreaterThanOrEqual(12)
  for (const point of points) await playRound([point])
})

test("dying again while a follow-up is picked up is no different", async () => {
  const again = [1, 2, 3, 4, 5, 6].map((number): CrashPoint => ({ at: "commit", number, when: "after" }))
  const points = await findPoints()
  for (const [index, second] of again.entries()) {
    const first = points[Math.floor(((index + 1) * points.length) / (again.length + 1))]
    if (first) await playRound([first, second])
  }
})

/** A model that says how many messages of users it has answered. Asking it is an effect. */
function createModel({ life, asked }: HouseModelParts): ConnectedModel {
  return {
    id: "teller/model",
    async generate({ messages }) {
      const said = messages.filter(({ role }) => role === "user")
      if (!liveThroughEffect(life, () => asked.push(toText(said.at(-1))))) return new Promise(() => {})
      await breathe(life)
      return say(`answer ${said.length}`)
    },
  }
}

const toText = (message: Message | undefined): string => (message ? textOf(message) : "")

async function completeFirst(runtime: Runtime): Promise<TaskId> {
  const session = await runtime.createSession({ id: PARENT })
  await session.send("Hello.")
  const input = { task: "Count.", handover: "none" }
  const { id } = await runtime.tasks.start({ tool: "spawn_subagent", input, session: PARENT })
  await runtime.tasks.result(id, { waitMs: 1e9 })
  return id
}

async function followUp(runtime: Runtime, id: TaskId): Promise<void> {
  await runtime.tasks.resume(id, FOLLOW_UP)
  await finishTurn(runtime)
}

/** The crash points from the follow-up to the end of everything that it led to. */
async function findPoints(): Promise<readonly CrashPoint[]> {
  const house = createAgentHouse(createModel)
  try {
    const { life, runtime } = await house.begin()
    const open = await runtime
    const id = await completeFirst(open)
    return await findCrashPoints(life, () => withPatience(followUp(open, id), () => "no crash"))
  } finally {
    await house.remove()
  }
}

/** Plays one life for each crash point, then one without a crash. */
async function playRound(points: readonly CrashPoint[]): Promise<void> {
  const house = createAgentHouse(createModel)
  const name = points.map(describeCrash).join(", then ")
  let id: TaskId | undefined
  try {
    for (const [index, point] of points.entries()) {
      const { life, runtime, engine } = await house.begin(point)
      const work = runtime.then(async (open) => {
        if (index > 0) return finishTurn(open)
        id = await completeFirst(open)
        await followUp(open, id)
      })
      await withPatience(Promise.race([work, life.over]), async () => `${name}\n${await describeLive(engine.store)}`)
      life.end()
    }
    const { runtime, engine } = await house.begin()
    const open = await runtime
    await withPatience(finishTurn(open), async () => `${name}\n${await describeLive(engine.store)}`)
    await check(open, { id: id as TaskId, asked: house.asked, crashes: points.length, name })
    await open.close()
  } finally {
    await house.remove()
  }
}

interface Played {
  readonly id: TaskId
  readonly asked: readonly string[]
  readonly crashes: number
  readonly name: string
}

async function check({ engine: { store }, sessions, tasks }: Runtime, { id, asked, crashes, name }: Played) {
  const { task } = await tasks.get(id)
  const isAccepted = task.run === 2
  expect(task, name).toMatchObject({
    status: "completed",
    resumeCount: isAccepted ? 1 : 0,
    patch: { payload: { answer: isAccepted ? "answer 2" : "answer 1" } },
  })
  const { items } = await store.sessions({ workspace: DEFAULT_WORKSPACE }, { limit: 10 })
  const [child] = items.filter((session) => session.id !== PARENT)
  const messages = (await sessions.load(child?.id as SessionId))?.messages ?? []
  const conversation = isAccepted ? ["Count.", "answer 1", FOLLOW_UP, "answer 2"] : ["Count.", "answer 1"]
  expect(messages.map(textOf), name).toEqual(conversation)
  const followUps = asked.filter((text) => text === FOLLOW_UP).length
  expect(followUps, name).toBeGreaterThanOrEqual(isAccepted ? 1 : 0)
  expect(followUps, name).toBeLessThanOrEqual(isAccepted ? 1 + crashes : 0)
  const notices = await store.notices({ taskId: id }, 10)
  expect(
    notices.filter(({ state }) => state === "pending"),
    name,
  ).toMatchObject([{ run: task.run }])
}
