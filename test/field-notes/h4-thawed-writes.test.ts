import { describe, expect, test } from "vitest"
import { z } from "zod"
import type { JsonValue } from "../../src/base/json.ts"
import type { ScriptStep } from "../../src/builtin/scripted/script.ts"
import { createSubagentPlugin } from "../../src/builtin/subagent/subagent-plugin.ts"
import type { ToolContext } from "../../src/plugin/context.ts"
import { defineTool } from "../../src/plugin/tool.ts"
import type { GroupId, SessionId, TaskId } from "../../src/task/id.ts"
import { DEFAULT_WORKSPACE } from "../../src/task/id.ts"
import type { TaskStore } from "../../src/task/store.ts"
import { eventually } from "../support/eventually.ts"
import { createGate } from "../support/session/gate.ts"
import { beginLife, type LivingRuntime } from "../support/session/lives.ts"
import { echo } from "../support/tools.ts"
import { createFolder } from "../support/workplace.ts"

const DAY_MS = 24 * 60 * 60 * 1_000
const forever = new Promise<never>(() => {})

const fails = defineTool({
  name: "fails",
  description: "Fails.",
  input: z.object({}),
  background: { mode: "always" },
  run: () => Promise.reject(new Error("It does not work.")),
})

const startQueued = async ({ tasks }: ToolContext) =>
  (await tasks.start({ tool: "echo", input: {}, delayMs: DAY_MS })).id

async function startEnded({ tasks }: ToolContext, tool = "echo"): Promise<TaskId> {
  const { id } = await tasks.start({ tool, input: {} })
  await tasks.result(id, { waitMs: DAY_MS })
  return id
}

async function startAgent({ tasks }: ToolContext): Promise<TaskId> {
  const input = { task: "Build.", handover: "none" }
  return (await tasks.start({ tool: "spawn_subagent", input })).id
}

async function openJoined(context: ToolContext): Promise<GroupId> {
  const { tasks } = context
  const { id } = await tasks.groups.open({ name: "builds", merge: "human_gated" })
  const task = await tasks.start({ tool: "echo", input: {}, group: id })
  await tasks.result(task.id, { waitMs: DAY_MS })
  await tasks.groups.seal(id)
  await tasks.groups.gate(id)
  return id
}

interface Write {
  /** What the call does before its worker stands still. */
  readonly before?: (context: ToolContext, frozen: LivingRuntime) => Promise<string>
  /** What the call writes afterwards. */
  readonly write: (context: ToolContext, id: string) => Promise<unknown>
  /** The model's answers to the agents that `before` starts. */
  readonly answers?: readonly ScriptStep[]
}

/** All that a call can write through its context. */
const WRITES: Readonly<Record<string, Write>> = {
  "starts a task": { write: ({ tasks }) => tasks.start({ tool: "echo", input: {} }) },
  "makes a call with a key": {
    write: ({ tasks }) => tasks.execute({ tool: "echo", input: {}, idempotencyKey: "once" }).answer,
  },
  "adopts work": { write: ({ tasks }) => tasks.adopt({ tool: "echo", input: {} }, Promise.resolve(null)) },
  "retries a task": {
    before: (context) => startEnded(context, "fails"),
    write: ({ tasks }, id) => tasks.retry(id),
  },
  "resumes an agent": {
    answers: ["Built."],
    async before(context) {
      const id = await startAgent(context)
      await context.tasks.result(id, { waitMs: DAY_MS })
      return id
    },
    write: ({ tasks }, id) => tasks.resume(id, "Build more."),
  },
  "says something to an agent": {
    answers: [() => forever],
    async before(context, { store }) {
      const id = await startAgent(context)
      await eventually("the agent works", () => store.countTasks({ parentTask: id, kinds: ["turn"] }))
      return id
    },
    write: ({ tasks }, id) => tasks.say(id, "Hurry up."),
  },
  "cancels a task": { before: startQueued, write: ({ tasks }, id) => tasks.cancel(id) },
  "gives a task another priority": { before: startQueued, write: ({ tasks }, id) => tasks.prioritize(id, 7) },
  "gives a task another limit": { before: startQueued, write: ({ tasks }, id) => tasks.limit(id, 1_000) },
  "acknowledges a result": {
    before: (context) => startEnded(context),
    write: ({ tasks }, id) => tasks.acknowledge([id]),
  },
  "uses a result": {
    before: (context) => startEnded(context),
    write: ({ tasks }, id) => tasks.result(id, { consume: true }),
  },
  "waits for a result and uses it": {
    before: (context) => startEnded(context),
    write: ({ tasks }, id) => tasks.waitFor({ tasks: [id], limitMs: DAY_MS, consume: true }),
  },
  "removes a task": { before: (context) => startEnded(context), write: ({ tasks }, id) => tasks.remove(id) },
  "clears ended tasks": { before: (context) => startEnded(context), write: ({ tasks }) => tasks.clear({}) },
  "clears used results": {
    async before(context, { runtime }) {
      const id = await startEnded(context)
      await runtime.tasks.acknowledge([id])
      return id
    },
    write: ({ tasks }) => tasks.cleanupCompleted(0),
  },
  "opens a group": { write: ({ tasks }) => tasks.groups.open({ name: "builds" }) },
  "seals a group": {
    before: async ({ tasks }) => (await tasks.groups.open({ name: "builds" })).id,
    write: ({ tasks }, id) => tasks.groups.seal(id),
  },
  "cancels a group": {
    async before({ tasks }) {
      const { id } = await tasks.groups.open({ name: "builds" })
      await tasks.start({ tool: "echo", input: {}, delayMs: DAY_MS, group: id })
      return id
    },
    write: ({ tasks }, id) => tasks.groups.cancel(id),
  },
  "decides on the results of a group": {
    before: openJoined,
    write: ({ tasks }, id) => tasks.groups.decide(id, "apply", "somebody"),
  },
  "keeps bytes": { write: ({ artifacts }) => artifacts.put("log", "text/plain", new Uint8Array([1])) },
  "changes a document": { write: ({ documents }) => documents.change("plan", () => "changed") },
}

/** What the store holds, but for how far the agents have come. */
async function readStore(store: TaskStore, session: SessionId) {
  const { items } = await store.tasks({}, { limit: 100 })
  const readTask = async (id: TaskId) => {
    const events = await store.events(id, 0, 1_000)
    const bodies = events.map(({ body }) => body).filter(({ type }) => type !== "task.progressed")
    return { ...(await store.task(id)), bodies, lastSequence: null, progress: null }
  }
  return {
    tasks: await Promise.all(items.map(({ id }) => readTask(id))),
    notices: await store.notices({ session }, 100),
    groups: await store.groups({ workspace: DEFAULT_WORKSPACE }, 100),
    documents: await store.documents(DEFAULT_WORKSPACE, `plugins/${session}`),
    said: await Promise.all(
      items.map(async (task) => task.session && store.documents(DEFAULT_WORKSPACE, `said/${task.session}`)),
    ),
  }
}

/** The turn is told that its call was interrupted while the model is asked. */
async function hasKeptAnswer(store: TaskStore, session: SessionId): Promise<boolean> {
  const { items } = await store.tasks({ session, kinds: ["turn"] }, { limit: 1 })
  const events = items[0] ? await store.events(items[0].id, 0, 1_000) : []
  return events.some(({ body }) => body.type === "step.finished")
}

describe("H4. A worker that stood still past its lease and wakes writes nothing for a call whose turn another one has, although it does not know yet that its lease is over", () => {
  test.each(Object.entries(WRITES))("a call %s", async (_name, { before, write, answers = [] }) => {
    const gate = createGate()
    const outcome = Promise.withResolvers<unknown>()
    const writes = defineTool({
      name: "writes",
      description: "Writes once the test says so.",
      input: z.object({}),
      onCrash: "fail",
      background: { mode: "never" },
      async run(_input, context): Promise<JsonValue> {
        const id = (await before?.(context, frozen)) ?? ""
        await gate.pass()
        await write(context, id).then(outcome.resolve, outcome.resolve)
        return null
      },
    })
    const folder = createFolder()
    const options = {
      tools: [echo, fails, writes],
      plugins: [createSubagentPlugin({ directories: [] })],
      newest: 2,
    } as const
    const script = [{ calls: [{ tool: "writes", input: {} }] }, ...answers]
    const frozen = await beginLife(folder, 1, { ...options, script })
    const session = await frozen.runtime.createSession()
    const sent = session.send("Write it.").catch((error: unknown) => error)
    await gate.reached
    const held = createGate()
    const answer: ScriptStep = () => ({ gate: held.pass(), text: "It was interrupted." })
    const taker = await beginLife(folder, 2, { ...options, script: [answer, answer, answer] })
    await eventually("the turn goes on elsewhere", async () => {
      taker.clock.advance(500)
      const isAsked = taker.model.callCount === answers.filter((each) => typeof each === "function").length + 1
      return isAsked && hasKeptAnswer(taker.store, session.id)
    })
    const unchanged = await readStore(taker.store, session.id)
    gate.open()
    expect(await outcome.promise).toMatchObject({ code: "stale_claim" })
    expect(await readStore(taker.store, session.id)).toEqual(unchanged)
    expect(await sent).toMatchObject({ code: "stale_claim" })
    held.open()
  })
})
