import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, test } from "vitest"
import { createRuntime, type Runtime } from "../../src/app.ts"
import { createManualClock } from "../../src/base/manual-clock.ts"
import { createSubagentPlugin } from "../../src/builtin/subagent/subagent-plugin.ts"
import { type Message, textOf } from "../../src/plugin/message.ts"
import type { ConnectedModel, ProviderResponse } from "../../src/plugin/model.ts"
import { NO_TOKENS } from "../../src/plugin/token-usage.ts"
import { allowAll } from "../../src/runner/call/permission.ts"
import type { Engine } from "../../src/task/engine.ts"
import { DEFAULT_WORKSPACE, type SessionId, type TaskId } from "../../src/task/id.ts"
import type { TaskStore } from "../../src/task/store.ts"
import { openLifeEngine } from "../chaos/life-engine.ts"
import {
  type CrashPoint,
  createLife,
  createMortalEngine,
  describeCrash,
  type Life,
  liveThroughEffect,
} from "../chaos/mortal-engine.ts"
import { withPatience } from "../chaos/patience.ts"
import { describeLive } from "../chaos/store-invariants.ts"
import { finishTurn } from "../chaos/turn-scenario.ts"
import { removeTestStore } from "../support/test-engine.ts"

const PARENT = "parent" as SessionId
const LEASE_SECONDS = 60
const FOLLOW_UP = "And one more?"

test("whatever commit or effect a process dies at, a follow-up is sent once, or never was accepted", async () => {
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

interface House {
  readonly asked: string[]
  begin(crash?: CrashPoint): Promise<{ life: Life; runtime: Promise<Runtime>; store: TaskStore }>
  remove(): Promise<void>
}

function createHouse(): House {
  const directory = mkdtempSync(join(tmpdir(), "meanwhile-resume-"))
  const asked: string[] = []
  const engines: Engine[] = []
  return {
    asked,
    async begin(crash) {
      const number = engines.length + 1
      const life = createLife(number, crash)
      const clock = createManualClock(1_700_000_000_000 + number * 10 * LEASE_SECONDS * 1_000)
      const engine = await openLifeEngine(directory, number, clock)
      engines.push(engine)
      const runtime = createRuntime({
        clock,
        dataDirectory: directory,
        environment: {},
        engine: createMortalEngine(engine, life),
        model: createModel(life, asked),
        plugins: [createSubagentPlugin({ directories: [] })],
        permissions: allowAll,
        background: { stopGraceSeconds: 0.1, leaseSeconds: LEASE_SECONDS },
      })
      return { life, runtime, store: engine.store }
    },
    async remove() {
      await Promise.all(engines.map((engine) => engine.close()))
      await removeTestStore(directory)
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

/** Says how many messages of others it has answered. Asking it is an effect. */
function createModel(life: Life, asked: string[]): ConnectedModel {
  return {
    id: "teller/model",
    async generate({ messages }) {
      const said = messages.filter(({ role }) => role === "user")
      if (!liveThroughEffect(life, () => asked.push(toText(said.at(-1))))) return new Promise(() => {})
      await life.guard(new Promise<void>((resolve) => setImmediate(resolve)))
      return say(`answer ${said.length}`)
    },
  }
}

const toText = (message: Message | undefined): string => (message ? textOf(message) : "")

const say = (text: string): ProviderResponse => ({
  message: { role: "assistant", parts: [{ type: "text", text }] },
  finish: "stop",
  usage: NO_TOKENS,
})

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

/** Every commit and effect from the follow-up to the end of all it led to, before it and after it. */
async function findPoints(): Promise<readonly CrashPoint[]> {
  const house = createHouse()
  try {
    const { life, runtime } = await house.begin()
    const open = await runtime
    const id = await completeFirst(open)
    const first = { commit: life.commits, effect: life.effects }
    await withPatience(followUp(open, id), () => "no crash")
    const last = { commit: life.commits, effect: life.effects }
    return (["before", "after"] as const).flatMap((when) =>
      (["commit", "effect"] as const).flatMap((at) =>
        Array.from({ length: last[at] - first[at] }, (_, index) => ({ at, number: first[at] + index + 1, when })),
      ),
    )
  } finally {
    await house.remove()
  }
}

/** One life for each crash point, then one that is left in peace. */
async function playRound(points: readonly CrashPoint[]): Promise<void> {
  const house = createHouse()
  const name = points.map(describeCrash).join(", then ")
  let id: TaskId | undefined
  try {
    for (const [index, point] of points.entries()) {
      const { life, runtime, store } = await house.begin(point)
      const work = runtime.then(async (open) => {
        if (index > 0) return finishTurn(open)
        id = await completeFirst(open)
        await followUp(open, id)
      })
      await withPatience(Promise.race([work, life.over]), async () => `${name}\n${await describeLive(store)}`)
      life.end()
    }
    const { runtime, store } = await house.begin()
    const open = await runtime
    await withPatience(finishTurn(open), async () => `${name}\n${await describeLive(store)}`)
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
  const { items } = await store.sessions(DEFAULT_WORKSPACE, { limit: 10 })
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
