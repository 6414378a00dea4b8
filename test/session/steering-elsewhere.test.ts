import { join } from "node:path"
import { expect, test } from "vitest"
import type { Runtime } from "../../src/app.ts"
import { textOf } from "../../src/plugin/message.ts"
import { mayBeNews } from "../../src/session/results/news.ts"
import { toSaidCollection } from "../../src/session/log/settle-operations.ts"
import { DEFAULT_WORKSPACE, type SessionId, type TaskId } from "../../src/task/id.ts"
import { eventually } from "../support/eventually.ts"
import { openTestEngine } from "../support/test-engine.ts"
import { createGatedTool } from "../support/tools.ts"
import { createFolder } from "../support/workplace.ts"
import { createGate } from "../support/session/gate.ts"
import { openSubagents, requestsOf, type SubagentOptions } from "../support/session/open-subagents.ts"
import { endOf, startAgent } from "../support/session/start-agent.ts"

const WORDS = "Mend the clock first."
const USE_GATED = { calls: [{ tool: "gated" }] }
const USE_READ = { calls: [{ tool: "read" }] }
/** A scan so rare that it finds nothing. */
const HARDLY_EVER = { background: { completionScanIntervalMs: 3_600_000 } }

/** Opens the process in which the agent works, and another one that runs nothing. */
async function openBoth(options: Partial<SubagentOptions>) {
  const dataDirectory = join(createFolder(), "data")
  const here = await openSubagents({ main: [], dataDirectory, ...options })
  const there = await openSubagents({ main: [], dataDirectory, takesWork: false })
  return { here, there, dataDirectory }
}

type Opened = Awaited<ReturnType<typeof openSubagents>>

/** For each request to the agent's model, whether the message was in it. */
const heardIn = ({ provider }: Opened): readonly boolean[] =>
  requestsOf(provider, "below").map(({ messages }) => messages.some((message) => textOf(message).includes(WORDS)))

/** Sends a message in one process, and waits until another one that finds it was woken. */
async function sayAndWake(
  { runtime: speaker }: Opened,
  { runtime: hearer }: Opened,
  { id, session }: { readonly id: TaskId; readonly session: SessionId },
): Promise<void> {
  const woken = wokenBySaid(hearer, session)
  expect(await speaker.tasks.say(id, WORDS)).toMatchObject({ how: "steered" })
  await woken
}

function wokenBySaid({ engine: { bus, store } }: Runtime, session: SessionId): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const look = async (): Promise<void> => {
    const said = await store.documents(DEFAULT_WORKSPACE, toSaidCollection(session))
    if (said.length > 0) resolve()
  }
  const unsubscribe = bus.subscribe((wake) => {
    if (mayBeNews(wake, session)) void look()
  })
  return promise.finally(unsubscribe)
}

test("what another process says to an agent reaches it at its next tool boundary", async () => {
  const gated = createGatedTool()
  const below = [USE_GATED, USE_GATED, "Mended."]
  const { here, there } = await openBoth({ tools: [gated.tool], below, ...HARDLY_EVER })
  const { id } = await startAgent(here)
  const first = await gated.call(1)
  await sayAndWake(there, here, { id, session: first.context.session as SessionId })
  first.finish("one")
  ;(await gated.call(2)).finish("two")
  expect(await endOf(here, { id })).toMatchObject({ status: "completed", run: 1 })
  expect(heardIn(here)).toEqual([false, true, true])
})

test("what another process says while an agent's model thinks reaches it behind the calls it then makes", async () => {
  const gate = createGate()
  const below = [USE_READ, () => ({ gate: gate.pass(), ...USE_READ }), "Mended."]
  const { here, there } = await openBoth({ below, ...HARDLY_EVER })
  const { id } = await startAgent(here)
  await gate.reached
  await sayAndWake(there, here, { id, session: await sessionOf(here, id) })
  gate.open()
  await endOf(here, { id })
  expect(heardIn(here)).toEqual([false, false, true])
})

test("what another process says while an agent gives its last answer is a turn of its own", async () => {
  const gate = createGate()
  const below = [() => ({ gate: gate.pass(), text: "Done." }), "The clock, too."]
  const { here, there } = await openBoth({ below, ...HARDLY_EVER })
  const { id } = await startAgent(here)
  await gate.reached
  expect(await there.runtime.tasks.say(id, WORDS)).toMatchObject({ how: "steered" })
  gate.open()
  expect(await endOf(here, { id })).toMatchObject({ run: 1, patch: { payload: { answer: "The clock, too." } } })
  expect(heardIn(here)).toEqual([false, true])
})

test("what another process says to an agent that waits for its tasks wakes it", async () => {
  const gated = createGatedTool({ background: { mode: "always" } })
  const below = [USE_GATED, "I wait for it.", "Never mind it, then.", "All done."]
  const { here, there } = await openBoth({ tools: [gated.tool], below, ...HARDLY_EVER })
  const { id } = await startAgent(here)
  await eventually("it waits for its task", async () => {
    const { task } = await here.runtime.tasks.get(id)
    return task.progress?.phase === "waiting for tasks"
  })
  await there.runtime.tasks.say(id, WORDS)
  await eventually("it was told", () => heardIn(here)[2])
  ;(await gated.call(1)).finish("at last")
  expect(await endOf(here, { id })).toMatchObject({ patch: { payload: { answer: "All done." } } })
})

test("what is said to an agent whose turn is queued reaches it where it goes on", async () => {
  const gate = createGate()
  const below = [() => ({ gate: gate.pass(), text: "Never said." })]
  const { here, there, dataDirectory } = await openBoth({ main: ["Hello."], below })
  await here.session.send("Hello.")
  const { id } = await startAgent(here)
  await gate.reached
  await here.runtime.close()
  expect(await there.runtime.tasks.say(id, WORDS)).toMatchObject({ how: "steered", task: { status: "queued" } })
  await there.runtime.close()
  const next = await openSubagents({ main: [], below: [USE_READ, "Mended."], dataDirectory })
  expect(await endOf(next, { id })).toMatchObject({ status: "completed", patch: { payload: { answer: "Mended." } } })
  expect(heardIn(next)).toEqual([false, true])
})

test("what was said reaches an agent at a tool boundary although the wake-up was lost", async () => {
  const gated = createGatedTool()
  const dataDirectory = join(createFolder(), "data")
  const engine = await openTestEngine(dataDirectory)
  const { store, bus } = engine
  let looks = 0
  let session: SessionId | null = null
  const here = await openSubagents({
    main: [],
    tools: [gated.tool],
    below: [USE_GATED, "Mended."],
    dataDirectory,
    background: { completionScanIntervalMs: 10 },
    engine: {
      ...engine,
      bus: { ...bus, subscribe: () => () => {} },
      store: {
        ...store,
        async documents(workspace, collection) {
          const found = await store.documents(workspace, collection)
          if (session && collection === toSaidCollection(session) && found.length > 0) looks += 1
          return found
        },
      },
    },
  })
  const there = await openSubagents({ main: [], dataDirectory, takesWork: false })
  const { id } = await startAgent(here)
  const first = await gated.call(1)
  session = first.context.session
  await there.runtime.tasks.say(id, WORDS)
  await eventually("it was found, and looked for again", () => looks > 1)
  first.finish("one")
  await endOf(here, { id })
  expect(heardIn(here)).toEqual([false, true])
})

async function sessionOf({ runtime }: Opened, parentTask: TaskId): Promise<SessionId> {
  const { items } = await runtime.tasks.list({ parentTask, kinds: ["turn"] })
  return items[0]?.session as SessionId
}
