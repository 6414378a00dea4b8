import { describe, expect, test } from "vitest"
import { z } from "zod"
import type { ScriptStep } from "../../src/builtin/scripted/script.ts"
import { createSubagentPlugin } from "../../src/builtin/subagent/subagent-plugin.ts"
import { defineTool } from "../../src/plugin/tool.ts"
import type { TaskId } from "../../src/task/id.ts"
import { eventually } from "../support/eventually.ts"
import { createGate } from "../support/session/gate.ts"
import { beginLife, LIFE_LEASE_MS, type LivingRuntime } from "../support/session/lives.ts"
import { echo } from "../support/tools.ts"
import { createFolder } from "../support/workplace.ts"

const spawns: ScriptStep = { calls: [{ tool: "spawn_subagent", input: { task: "Build.", handover: "none" } }] }

const asks: ScriptStep = { calls: [{ tool: "asks_agent", input: {} }] }

/** Waits for an agent in the foreground, and no longer than its time limit. */
const asksAgent = defineTool({
  name: "asks_agent",
  description: "Asks an agent, and waits for its answer.",
  input: z.object({}),
  background: { mode: "never" },
  timeoutMs: LIFE_LEASE_MS / 2,
  onCrash: "retry",
  async run(_input, { sessions, signal }) {
    const agent = await sessions.createChild({ key: "agent", name: "agent" })
    try {
      return (await agent.send("Build.", { signal })).text
    } finally {
      await agent.close()
    }
  },
})

/** Both lives go on. The second takes the first for dead, and the first learns that the second lives. */
const open = (folder: string, number: number, script: readonly ScriptStep[], tools = [echo]) =>
  beginLife(folder, number, { script, tools, plugins: [createSubagentPlugin({ directories: [] })], newest: 2 })

/** How a worker that was frozen learns that its lease is over, or that it learns nothing yet. */
const THAWS = {
  "with nothing due but its lease": async ({ clock, runtime }) => {
    clock.suspend(LIFE_LEASE_MS)
    await runtime.tasks.start({ tool: "echo", input: {} })
  },
  "at the moment in which the call was to become a task": async ({ clock }) => clock.advance(LIFE_LEASE_MS),
  "and does not know yet that its lease is over": async () => {},
} satisfies Record<string, (frozen: LivingRuntime) => Promise<void>>

/** A turn waits for an agent in the foreground while its worker is frozen. Another worker takes both turns over. */
async function freeze() {
  const folder = createFolder()
  const broken = Promise.withResolvers<never>()
  broken.promise.catch(() => {})
  const frozen = await open(folder, 1, [spawns, () => broken.promise, () => new Promise<never>(() => {})])
  const session = await frozen.runtime.createSession()
  const sent = session.send("Build it.").catch((error: unknown) => error)
  await frozen.isAsked(2)
  const gate = createGate()
  const taker = await open(folder, 2, [() => ({ gate: gate.pass(), text: "Built." }), "It is built."])
  await eventually("the agent goes on elsewhere", async () => {
    taker.clock.advance(500)
    return taker.model.callCount === 1
  })
  await gate.reached
  const { items } = await taker.store.tasks({ kinds: ["turn"] }, { limit: 2 })
  const [below, above] = items.map(({ id }) => id) as [TaskId, TaskId]
  const fail = (): void => broken.reject(new Error("The connection was cut while this process was frozen."))
  return { frozen, taker, above, below, sent, fail, open: gate.open }
}

/** The tasks of the store, each with the types of its events from then on. */
async function readStore({ store }: LivingRuntime) {
  const { items } = await store.tasks({ kinds: ["turn", "agent"] }, { limit: 20 })
  return Promise.all(
    items.map(async ({ id, kind, status }) => ({
      id,
      kind,
      status,
      events: (await store.events(id, 0, 1_000)).map(({ body }) => body.type),
    })),
  )
}

describe("H4. A worker that stood still past its lease and wakes stops nothing and starts nothing below a turn that another one has", () => {
  for (const [how, thaw] of Object.entries(THAWS)) {
    test(`an agent that its turn waits for goes on elsewhere when the worker wakes ${how}`, async () => {
      const { frozen, taker, above, below, sent, fail, open: goOn } = await freeze()
      const before = await readStore(taker)
      await thaw(frozen)
      fail()
      expect(await sent).toMatchObject({ code: "stale_claim" })
      // Waits for all that it still does.
      await frozen.runtime.close()
      expect(await readStore(taker)).toEqual(before)
      goOn()
      await eventually("both have completed", async () => {
        taker.clock.advance(500)
        return (await taker.store.task(above))?.status === "completed"
      })
      expect(await taker.store.task(below)).toMatchObject({ status: "completed", run: 1 })
      expect((await readStore(taker)).map(({ kind }) => kind)).toEqual(["turn", "turn"])
    })
  }

  test("an agent goes on elsewhere when the time limit of the call that waits for it passed during the standstill", async () => {
    const folder = createFolder()
    const frozen = await open(folder, 1, [asks, () => new Promise<never>(() => {})], [echo, asksAgent])
    const session = await frozen.runtime.createSession()
    const sent = session.send("Build it.").catch((error: unknown) => error)
    await frozen.isAsked(2)
    const gate = createGate()
    const answers = [() => ({ gate: gate.pass(), text: "Built." }), "It is built."]
    const taker = await open(folder, 2, answers, [echo, asksAgent])
    await eventually("the agent goes on elsewhere", async () => {
      taker.clock.advance(500)
      return taker.model.callCount === 1
    })
    await gate.reached
    const before = await readStore(taker)
    // Timers that fell due while the process stood still run once its lease is over.
    frozen.clock.suspend(LIFE_LEASE_MS)
    frozen.clock.advance(LIFE_LEASE_MS / 2)
    expect(await sent).toMatchObject({ code: "stale_claim" })
    await frozen.runtime.close()
    expect(await readStore(taker)).toEqual(before)
    gate.open()
    await eventually("both have completed", async () => {
      taker.clock.advance(500)
      return (await taker.store.countTasks({ kinds: ["turn"], statuses: ["completed"] })) === 2
    })
  })

  test("a call of the turn starts no task there, although its worker does not know yet that its lease is over", async () => {
    const gate = createGate()
    const started = Promise.withResolvers<unknown>()
    const starts = defineTool({
      name: "starts",
      description: "Starts a task once the test says so.",
      input: z.object({}),
      onCrash: "fail",
      background: { mode: "never" },
      async run(_input, { tasks }) {
        await gate.pass()
        await tasks.start({ tool: "echo", input: {} }).then(started.reject, started.resolve)
        return null
      },
    })
    const folder = createFolder()
    const frozen = await open(folder, 1, [{ calls: [{ tool: "starts", input: {} }] }], [echo, starts])
    const session = await frozen.runtime.createSession()
    const sent = session.send("Start it.").catch((error: unknown) => error)
    await gate.reached
    const taker = await open(folder, 2, ["It was interrupted."])
    await eventually("the turn has ended elsewhere", async () => {
      taker.clock.advance(500)
      return (await taker.store.countTasks({ kinds: ["turn"], statuses: ["completed"] })) === 1
    })
    gate.open()
    expect(await started.promise).toMatchObject({ code: "stale_claim" })
    expect(await sent).toMatchObject({ code: "stale_claim" })
    expect(await taker.store.countTasks({})).toBe(1)
  })
})
