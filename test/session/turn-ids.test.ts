import { expect, test } from "vitest"
import { echo } from "../support/tools.ts"
import { openAgent } from "../support/session/open-agent.ts"

test("a prefix of an id means a task that lists show, and a turn only if no such task matches", async () => {
  const { session, runtime } = await openAgent(["done"], { isKept: true, tools: [echo] })
  await session.send("go")
  const [turn] = (await runtime.tasks.list({ kinds: ["turn"] })).items
  const beginning = turn?.id.slice(0, 1) ?? ""
  expect((await runtime.tasks.get(beginning)).task.kind).toBe("turn")
  let id = ""
  while (!id.startsWith(beginning)) {
    id = (await runtime.tasks.start({ tool: "echo", input: {} })).id
    await runtime.tasks.result(id, { waitMs: 20_000 })
  }
  expect((await runtime.tasks.get(beginning)).task.id).toBe(id)
})
