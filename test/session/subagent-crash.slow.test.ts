import { expect, test } from "vitest"
import type { Runtime } from "../../src/app.ts"
import type { ConnectedModel, ProviderResponse } from "../../src/plugin/model.ts"
import { NO_TOKENS } from "../../src/plugin/token-usage.ts"
import { DEFAULT_WORKSPACE, type SessionId } from "../../src/task/id.ts"
import { type AgentHouse, breathe, createAgentHouse, type HouseModelParts, say } from "../support/chaos/agent-house.ts"
import { type CrashPoint, describeCrash, liveThroughEffect } from "../support/chaos/mortal-engine.ts"
import { findCrashPoints } from "../support/chaos/open-life.ts"
import { withPatience } from "../support/patience.ts"
import { describeLive } from "../support/chaos/store-invariants.ts"
import { finishTurn } from "../support/chaos/turn-scenario.ts"

const PARENT = "parent" as SessionId
const ANSWER = "worked"

/** Whether the call of the subagent ends in the foreground or moves to the background. */
type Course = "foreground" | "background"

for (const course of ["foreground", "background"] as const) {
  test(`the answer of the one subagent arrives, whatever commit or effect a process dies at (${course})`, async () => {
    const points = await findPoints(course)
    expect(points.length).toBeGreaterThanOrEqual(16)
    for (const point of points) await playRound(course, [point])
  })

  test(`dying again while the subagent is picked up is no different (${course})`, async () => {
    const again = [1, 2, 3, 4, 5, 6, 7, 8].map((number): CrashPoint => ({ at: "commit", number, when: "after" }))
    const points = await findPoints(course)
    for (const [index, second] of again.entries()) {
      const first = points[Math.floor(((index + 1) * points.length) / (again.length + 1))]
      if (first) await playRound(course, [first, second])
    }
  })
}

const createHouse = (course: Course): AgentHouse => createAgentHouse((parts) => createModel(parts, course))

/** The parent hands its work to a subagent and ends with the answer; the subagent works. Asking the model is an effect. */
function createModel({ life, clock, asked, engine }: HouseModelParts, course: Course): ConnectedModel {
  return {
    id: "teller/model",
    async generate({ messages, system }) {
      const isChild = system.includes("You are a subagent")
      const who = isChild ? "child" : `parent ${messages.length}`
      if (!liveThroughEffect(life, () => asked.push(who))) return new Promise(() => {})
      await breathe(life)
      if (!isChild) return messages.length === 1 ? SPAWN : say("done")
      while (course === "background" && (await engine.store.countTasks({ kinds: ["agent"] })) === 0) {
        clock.advance(1_000)
        await breathe(life)
      }
      return say(ANSWER)
    },
  }
}

const SPAWN: ProviderResponse = {
  message: {
    role: "assistant",
    parts: [{ type: "call", id: "call-1", tool: "spawn_subagent", input: { task: "Work." } }],
  },
  finish: "calls",
  usage: NO_TOKENS,
}

async function play(runtime: Runtime): Promise<void> {
  const session = await runtime.createSession({ id: PARENT })
  await session.send("Go.")
  await finishTurn(runtime)
}

/** The crash points from the message to the end of everything that it led to. */
async function findPoints(course: Course): Promise<readonly CrashPoint[]> {
  const house = createHouse(course)
  try {
    const { life, runtime } = await house.begin()
    const open = await runtime
    return await findCrashPoints(life, () => withPatience(play(open), () => "no crash"))
  } finally {
    await house.remove()
  }
}

/** Plays one life for each crash point, then one without a crash. */
async function playRound(course: Course, points: readonly CrashPoint[]): Promise<void> {
  const house = createHouse(course)
  const name = points.map(describeCrash).join(", then ")
  try {
    for (const [index, point] of points.entries()) {
      const { life, runtime, engine } = await house.begin(point)
      const work = runtime.then((open) => (index === 0 ? play(open) : finishTurn(open)))
      await withPatience(Promise.race([work, life.over]), async () => `${name}\n${await describeLive(engine.store)}`)
      life.end()
    }
    const { runtime, engine } = await house.begin()
    const open = await runtime
    await withPatience(finishTurn(open), async () => `${name}\n${await describeLive(engine.store)}`)
    await check(open, house.asked, points.length, name)
    await open.close()
  } finally {
    await house.remove()
  }
}

async function check({ sessions, engine, tasks }: Runtime, asked: readonly string[], crashes: number, name: string) {
  const parent = await sessions.load(PARENT)
  if (!parent) return expect(asked, name).toEqual([])
  const { items } = await engine.store.sessions({ workspace: DEFAULT_WORKSPACE }, { limit: 10 })
  expect(
    items.filter(({ id }) => id !== PARENT),
    name,
  ).toMatchObject([{ data: { parent: PARENT } }])
  const childAsked = asked.filter((who) => who === "child").length
  expect(childAsked, name).toBeGreaterThanOrEqual(1)
  expect(childAsked, name).toBeLessThanOrEqual(1 + crashes)
  expect(JSON.stringify(parent.messages.at(-1)), name).toContain("done")
  const result = JSON.stringify(parent.messages[2])
  const agents = (await tasks.list({ kinds: ["agent"] })).items
  if (agents.length === 0) return expect(result, name).toContain(ANSWER)
  expect(agents, name).toMatchObject([{ status: "completed" }])
  const { task } = await tasks.result(agents[0]?.id ?? "")
  expect(task, name).toMatchObject({ patch: { payload: { answer: ANSWER } } })
  expect(result, name).toContain(task.id)
}
