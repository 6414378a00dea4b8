import { expect, test } from "vitest"
import { eventually } from "../support/eventually.ts"
import { createGatedTool } from "../support/tools.ts"
import { createWorkplace } from "../support/workplace.ts"

test("a run that is stopped while its steps are read again never calls its tool", async () => {
  const agent = createGatedTool({ name: "agent", kind: "agent", obeys: true })
  const { meanwhile, another } = await createWorkplace({ tools: [agent.tool] })
  const { id } = await meanwhile.tasks.start({ tool: "agent", input: {} })
  const { context } = await agent.call(1)
  await context.step("a", async () => "kept")
  const reading = Promise.withResolvers<void>()
  const mayRead = Promise.withResolvers<void>()
  const second = await another()
  const { store } = second.engine
  const { steps } = store
  Object.assign(store, {
    steps: async (...asked: Parameters<typeof steps>) => {
      reading.resolve()
      await mayRead.promise
      return steps(...asked)
    },
  })
  await meanwhile.close()
  await reading.promise
  await second.tasks.cancel(id)
  mayRead.resolve()
  const task = await eventually("it has ended", async () => {
    const found = await store.task(id)
    return found?.status === "cancelled" && found
  })
  expect(task).toMatchObject({ stop: { by: "person" }, survivors: [] })
  expect(agent.calls).toHaveLength(1)
})
