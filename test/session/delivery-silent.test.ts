import { expect, test } from "vitest"
import { eventually } from "../support/eventually.ts"
import { echo } from "../support/tools.ts"
import { lastSaid, openAgent } from "./support/open-agent.ts"

const MANY = 2_100
const LIMITS = { maxConcurrentTasks: MANY, maxConcurrentPerPlugin: MANY, maxConcurrentPerSession: MANY }

test("what is never told by itself, however much of it there is, keeps nothing else from being told", async () => {
  const { runtime, session, model } = await openAgent(["Well."], { tools: [echo], background: LIMITS })
  const { tasks } = runtime
  const start = (value: string, notify: "silent" | "wake") =>
    tasks.start({ tool: "echo", input: { value }, session: session.id, notify })
  await Promise.all(Array.from({ length: MANY }, (_, index) => start(`silent ${index}`, "silent")))
  const { id } = await start("bread", "wake")
  const live = { session: session.id, statuses: ["queued", "running"] } as const
  await eventually("all have ended", async () => (await tasks.list(live, { limit: 1 })).items.length === 0)
  await session.send("what now?")
  expect(lastSaid(model, -1)).toContain(`Task ${id} ("echo"): completed.\n| bread`)
  expect(lastSaid(model, -1)).not.toContain("silent")
})
