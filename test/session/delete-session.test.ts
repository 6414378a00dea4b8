import { expect, test } from "vitest"
import { DEFAULT_WORKSPACE } from "../../src/task/id.ts"
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
