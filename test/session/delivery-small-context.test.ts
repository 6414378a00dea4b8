import { expect, test } from "vitest"
import { eventually } from "../support/eventually.ts"
import { echo } from "../support/tools.ts"
import { lastSaid, openAgent } from "../support/session/open-agent.ts"
import { MANY_AT_ONCE } from "../support/session/reporting.ts"

const MANY = 600

test("more ends than a small context has room for do not keep the person from saying something", async () => {
  const scripted = { contextLimitTokens: 8_000 }
  const options = { isKept: true, tools: [echo], background: MANY_AT_ONCE, scripted }
  const { runtime, session, model } = await openAgent(["Well.", "So be it."], options)
  const { tasks } = runtime
  const starting = Array.from({ length: MANY }, (_, index) =>
    tasks.start({ tool: "echo", input: { value: `loaf ${index}` }, session: session.id }),
  )
  await Promise.all(starting)
  const live = { session: session.id, statuses: ["queued", "running"] } as const
  await eventually("all have ended", async () => (await tasks.list(live, { limit: 1 })).items.length === 0)
  await session.send("what now?")
  const told = lastSaid(model, -1)
  expect(told.length / 4).toBeLessThan(4_200)
  expect(told).toMatch(
    /^\[\d+ more tasks have ended: \d+ completed\. There is no room for their results here: look them up\.\]$/m,
  )
  expect(told.endsWith("what now?")).toBe(true)
  await session.send("and now?")
  expect(lastSaid(model, -1)).toBe("and now?")
})
