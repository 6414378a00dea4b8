import { expect, test } from "vitest"
import { createFolder, openIn } from "../support/workplace.ts"
import { eventually } from "../support/eventually.ts"

test("a runtime that only looks leaves what is queued to others", async () => {
  const directory = createFolder()
  const looking = await openIn(directory, { takesWork: false })
  const { id } = await looking.tasks.start({ tool: "run_command", input: { command: "echo done" } })
  const held = await looking.tasks.result(id, { waitMs: 100 })
  expect(held.task.status).toBe("queued")
  await openIn(directory)
  await eventually("the other has run it", async () => (await looking.tasks.get(id)).task.status === "completed")
})
