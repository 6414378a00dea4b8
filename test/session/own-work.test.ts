import { expect, test } from "vitest"
import { createSubagentPlugin } from "../../src/builtin/subagent/subagent-plugin.ts"
import { eventually } from "../support/eventually.ts"
import { createFolder } from "../support/workplace.ts"
import { createGate } from "../support/session/gate.ts"
import { beginLife } from "../support/session/lives.ts"
import { WORKER } from "../support/session/open-subagents.ts"
import { startAgent } from "../support/session/start-agent.ts"

const { model: _, ...PROFILE } = WORKER

test("a process that takes only its own work continues the turn left in the session it opens, and no other", async () => {
  const folder = createFolder()
  const gates = [createGate(), createGate()]
  const script = gates.map((gate) => () => ({ gate: gate.pass(), text: "never said" }))
  const first = await beginLife(folder, 1, { script, tools: [] })
  const wanted = await first.runtime.createSession()
  const other = await first.runtime.createSession()
  void wanted.send("Wanted.").catch(() => {})
  await gates[0]?.reached
  void other.send("Other.").catch(() => {})
  await gates[1]?.reached
  first.life.end()

  const second = await beginLife(folder, 2, { script: ["Gone on.", "Hello."], tools: [], takesWork: "own" })
  const turns = async () =>
    (await second.store.tasks({ kinds: ["turn"] }, { limit: 10 })).items.map(({ status }) => status)
  expect(await turns()).toEqual(["running", "running"])
  const session = await second.runtime.openSession(wanted.id)
  const { text } = await session.send("Hello?")
  expect(text).toBe("Hello.")
  expect(session.history().filter(({ role }) => role === "assistant")).toHaveLength(2)
  const [left] = (await second.store.tasks({ session: other.id, kinds: ["turn"] }, { limit: 10 })).items
  expect(left).toMatchObject({ status: "running", fence: 1 })
  expect(second.model.callCount).toBe(2)
  await second.runtime.close()
  second.life.end()

  const third = await beginLife(folder, 3, { script: ["The other, too."], tools: [] })
  await eventually("the other goes on where everything is taken up", async () => {
    const { items } = await third.store.tasks({ session: other.id, kinds: ["turn"] }, { limit: 10 })
    return items[0]?.status === "completed"
  })
})

test("a process that runs no tasks continues the turn of the session it opens, and leaves agents to others", async () => {
  const folder = createFolder()
  const gates = [createGate(), createGate()]
  const script = gates.map((gate) => () => ({ gate: gate.pass(), text: "never said" }))
  const options = { tools: [], plugins: [createSubagentPlugin({ directories: [], profiles: [PROFILE] })] }
  const first = await beginLife(folder, 1, { ...options, script })
  const session = await first.runtime.createSession()
  void session.send("Wanted.").catch(() => {})
  await gates[0]?.reached
  const agent = await startAgent({ runtime: first.runtime, session })
  await gates[1]?.reached
  first.life.end()

  const background = { maxConcurrentTasks: 0 }
  const second = await beginLife(folder, 2, { ...options, script: ["Gone on.", "Hello.", "Yes."], background })
  const again = await second.runtime.openSession(session.id)
  const { text } = await again.send("Hello?")
  expect(text).toBe("Hello.")
  second.clock.advance(2_000)
  await again.send("Still there?")
  const statuses = async () =>
    (await second.store.tasks({ statuses: ["queued", "running"] }, { limit: 10 })).items.map(({ kind, status }) => [
      kind,
      status,
    ])
  expect(await statuses()).toEqual([
    ["turn", "queued"],
    ["agent", "queued"],
  ])
  expect(second.model.callCount).toBe(3)
  await second.runtime.close()
  second.life.end()

  const third = await beginLife(folder, 3, { ...options, script: ["It is done."] })
  const { task } = await third.runtime.tasks.result(agent.id, { waitMs: 60_000 })
  expect(task).toMatchObject({ status: "completed", fence: 2 })
})
