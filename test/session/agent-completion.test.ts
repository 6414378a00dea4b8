import { join } from "node:path"
import { expect, test } from "vitest"
import { z } from "zod"
import { createManualClock } from "../../src/base/manual-clock.ts"
import { defineTool } from "../../src/plugin/tool.ts"
import { DEFAULT_WORKSPACE } from "../../src/task/id.ts"
import { isTerminal } from "../../src/task/lifecycle.ts"
import { eventually } from "../support/eventually.ts"
import { createGatedTool } from "../support/tools.ts"
import { openTestEngine } from "../support/test-engine.ts"
import { createFolder } from "../support/workplace.ts"
import { createGate } from "../support/session/gate.ts"
import { openSubagents, requestsOf } from "../support/session/open-subagents.ts"
import { endOf, startAgent } from "../support/session/start-agent.ts"

test("D2: completion is tied to the turn that was asked for, not to the session being idle", async () => {
  const dataDirectory = join(createFolder(), "data")
  const gate = createGate()
  const first = await openSubagents({
    dataDirectory,
    main: ["Hello."],
    below: [() => ({ gate: gate.pass(), text: "never said" })],
  })
  await first.session.send("Hello.")
  const { id } = await startAgent(first)
  await gate.reached
  await first.runtime.close()
  const { items } = await readSessions(dataDirectory)
  const child = items.find(({ data }) => data["parent"] === first.session.id)
  const second = await openSubagents({ dataDirectory, main: [], below: ["What was asked for.", "Small talk."] })
  const talk = await second.runtime.openSession(child?.id as never)
  // The person's own turn in the agent's conversation comes after the turn that was left.
  expect(await talk.send("How are you?")).toMatchObject({ text: "Small talk." })
  expect(await endOf(second, { id })).toMatchObject({ patch: { payload: { answer: "What was asked for." } } })
})

async function readSessions(dataDirectory: string) {
  await using engine = await openTestEngine(dataDirectory)
  // Awaited here, before the engine closes.
  return await engine.store.sessions({ workspace: DEFAULT_WORKSPACE }, { limit: 10 })
}

test("D2: an agent that is asked after its turn, and before its run has ended, still hands back what was asked for", async () => {
  const opened = await openSubagents({ main: [], below: ["What was asked for.", "Small talk."] })
  let talking: Promise<unknown> | undefined
  opened.runtime.on((event) => {
    if (event.type !== "turn.completed" || event.agent === opened.session.id || talking) return
    talking = opened.runtime.openSession(event.agent).then((child) => child.send("How are you?"))
  })
  expect(await endOf(opened, await startAgent(opened))).toMatchObject({
    patch: { payload: { answer: "What was asked for." } },
  })
  await talking?.catch(() => {})
})

test("D3: nothing one session or parent does clears or cancels another's tasks", async () => {
  const gates = [createGate(), createGate(), createGate()]
  const opened = await openSubagents({
    main: ["Hello.", "Hello."],
    below: gates.map((gate) => () => ({ gate: gate.pass(), text: "Worked." })),
  })
  const { runtime, session: first } = opened
  const second = await runtime.createSession()
  await first.send("Hello.")
  await second.send("Hello.")
  const [mine, sibling, others] = [
    await startAgent(opened),
    await startAgent(opened),
    await startAgent({ runtime, session: second }),
  ]
  await Promise.all(gates.map(({ reached }) => reached))
  await runtime.tasks.cancel(mine.id)
  expect(await endOf(opened, mine)).toMatchObject({ status: "cancelled" })
  expect((await runtime.tasks.get(sibling.id)).task.status).toBe("running")
  expect(await runtime.tasks.clear({ session: first.id, kinds: ["agent"] })).toBe(1)
  await runtime.createSession()
  await first.close()
  await runtime.sessions.delete(first.id)
  await expect(runtime.tasks.get(sibling.id)).rejects.toMatchObject({ code: "not_found" })
  expect((await runtime.tasks.get(others.id)).task.status).toBe("running")
  for (const gate of gates) gate.open()
  expect(await endOf(opened, others)).toMatchObject({ status: "completed" })
})

const nothing = () => () => {}

test("D4: a missed event is caught by the fallback within its interval, and produces one notice, not four", async () => {
  const directory = createFolder()
  const clock = createManualClock()
  const engine = await openTestEngine(directory, { clock })
  const gated = createGatedTool()
  // A queued task runs in no process: only the store tells of its end.
  const later = defineTool({
    name: "later",
    description: "Starts something much later.",
    input: z.object({}),
    run: async (_input, { tasks }) => (await tasks.start({ tool: "gated", input: {}, delayMs: 1e9 })).id,
  })
  const opened = await openSubagents({
    dataDirectory: directory,
    engine: { ...engine, bus: { subscribe: nothing, subscribeTask: nothing } },
    clock,
    main: ["Hello.", "So.", "Yes."],
    below: [{ calls: [{ tool: "later" }] }, "I wait.", "Here it is."],
    tools: [gated.tool, later],
  })
  const { runtime, session, provider } = opened
  await session.send("Hello.")
  const { id } = await startAgent(opened)
  await eventually("it waits for its task", async () => {
    clock.advance(500)
    return (await runtime.tasks.get(id)).task.progress?.phase === "waiting for tasks"
  })
  const [queued] = (await runtime.tasks.list({ tool: "gated" })).items
  await runtime.tasks.cancel(queued?.id ?? "", { reason: "not needed" })
  await new Promise((resolve) => setImmediate(resolve))
  expect(requestsOf(provider, "below")).toHaveLength(2)
  clock.advance(5_000)
  await eventually("the scan finds it", () => requestsOf(provider, "below").length === 3)
  await eventually("it has ended", async () => isTerminal((await runtime.tasks.get(id)).task.status))
  const notices = await engine.store.notices({ taskId: id }, 10)
  expect(notices).toMatchObject([{ run: 1, kind: "ended", state: "pending" }])
  await session.send("And?")
  await session.send("Sure?")
  const told = requestsOf(provider, "main").slice(1)
  expect(told.map(({ messages }) => JSON.stringify(messages.at(-1)).includes("Here it is."))).toEqual([true, false])
})

test("D5: an idempotency key admits once: ten concurrent starts with the same key are one task", async () => {
  const opened = await openSubagents({ main: [], below: ["Worked."] })
  const starts = Array.from({ length: 10 }, () => startAgent(opened, {}, { idempotencyKey: "the work" }))
  const ids = (await Promise.all(starts)).map(({ id }) => id)
  expect(new Set(ids).size).toBe(1)
  await endOf(opened, { id: ids[0] as never })
  expect(requestsOf(opened.provider, "below")).toHaveLength(1)
  const { items } = await opened.runtime.engine.store.sessions({ workspace: DEFAULT_WORKSPACE }, { limit: 10 })
  expect(items).toHaveLength(1)
})
