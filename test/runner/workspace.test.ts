import { expect, test } from "vitest"
import type { WorkspaceId } from "../../src/task/id.ts"
import type { TaskFilter } from "../../src/task/store.ts"
import { createGatedTool, echo } from "../support/tools.ts"
import { createWorkplace } from "../support/workplace.ts"

const ours = "ours" as WorkspaceId
const theirs = "theirs" as WorkspaceId

test("the task commands a tool is given stay in the workspace of its own call", async () => {
  const asking = createGatedTool({ name: "asking", obeys: true })
  const { meanwhile } = await createWorkplace({ tools: [asking.tool, echo] })
  const foreign = await meanwhile.tasks.start({ tool: "echo", input: {}, workspace: theirs })
  meanwhile.tasks.execute({ tool: "asking", input: {}, workspace: ours })
  const given = (await asking.call(1)).context.tasks

  const own = await given.start({ tool: "echo", input: {}, workspace: theirs })
  expect(own.workspace).toBe(ours)
  expect((await given.result(own.id, { waitMs: 30_000 }, theirs)).task.status).toBe("completed")
  await expect(given.get(foreign.id, theirs)).rejects.toMatchObject({ code: "not_found" })
  await expect(given.cancel(foreign.id)).rejects.toMatchObject({ code: "not_found" })
  expect((await given.list({ workspace: theirs })).items.map(({ id }) => id)).toEqual([own.id])
  expect(await given.acknowledge([own.id])).toBe(1)
  await meanwhile.tasks.result(foreign.id, { waitMs: 30_000, consume: true }, theirs)
  expect(await given.cleanupCompleted(0)).toBe(1)
  expect((await meanwhile.tasks.get(foreign.id, theirs)).task.id).toBe(foreign.id)
})

test("a filter that leaves its workspace undefined means the default one, not all", async () => {
  const { meanwhile } = await createWorkplace({ tools: [echo] })
  const { tasks } = meanwhile
  const foreign = await tasks.start({ tool: "echo", input: {}, workspace: theirs })
  await tasks.result(foreign.id, { waitMs: 30_000 }, theirs)
  const filter = { workspace: undefined } as unknown as TaskFilter
  expect((await tasks.list(filter)).items).toEqual([])
  expect(await tasks.clear(filter)).toBe(0)
  expect((await tasks.get(foreign.id, theirs)).task.id).toBe(foreign.id)
})
