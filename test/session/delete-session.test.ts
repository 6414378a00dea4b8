import { expect, test } from "vitest"
import { DEFAULT_WORKSPACE } from "../../src/task/id.ts"
import { createGate } from "./support/gate.ts"
import { openSubagents, spawn } from "./support/open-subagents.ts"

test("what a conversation's subagents said goes with it, and nobody else's does", async () => {
  const main = [spawn("work"), "done", "hello"]
  const { runtime, session } = await openSubagents({ main, below: ["a secret"] })
  await session.send("go")
  const other = await runtime.createSession()
  await other.send("hi")
  const stored = () => runtime.engine.store.sessions(DEFAULT_WORKSPACE, { limit: 10 })
  expect((await stored()).items).toHaveLength(3)
  expect(await runtime.sessions.delete(session.id)).toBe(true)
  expect((await stored()).items.map(({ id }) => id)).toEqual([other.id])
  expect(await runtime.sessions.delete(session.id)).toBe(false)
})

test("a conversation that is deleted while its subagent works asks no model any more", async () => {
  const gate = createGate()
  const below = [() => ({ gate: gate.pass() })]
  const { runtime, session, provider } = await openSubagents({ main: [spawn("work"), "never asked for"], below })
  const sent = session.send("go")
  await gate.reached
  expect(await runtime.sessions.delete(session.id)).toBe(true)
  expect((await sent).outcome).toBe("stopped")
  expect(provider.models["main"]?.callCount).toBe(1)
  expect((await runtime.engine.store.sessions(DEFAULT_WORKSPACE, { limit: 10 })).items).toEqual([])
})
