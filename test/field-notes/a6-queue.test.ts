import { expect, test } from "vitest"
import { createGatedTool } from "../support/tools.ts"
import { createWorkplace } from "../support/workplace.ts"

test("A6. A queued task says queued, with its place in the queue, not running", async () => {
  const gated = createGatedTool()
  const { meanwhile } = await createWorkplace({ tools: [gated.tool], background: { maxConcurrentTasks: 1 } })
  const { tasks } = meanwhile
  const start = (name: string, priority = 0) => tasks.start({ tool: "gated", input: { name }, priority })
  const placeOf = async (id: string) => {
    const { task, placeInQueue } = await tasks.get(id)
    return [task.status, placeInQueue]
  }
  const running = await start("running")
  const second = await start("second")
  const third = await start("third")
  const urgent = await start("urgent", 1)
  expect([running.status, second.status, third.status]).toEqual(["running", "queued", "queued"])
  expect(await placeOf(running.id)).toEqual(["running", null])
  expect(await placeOf(urgent.id)).toEqual(["queued", 1])
  expect(await placeOf(second.id)).toEqual(["queued", 2])
  expect(await placeOf(third.id)).toEqual(["queued", 3])
  expect((await tasks.list({ statuses: ["queued"] })).items).toHaveLength(3)
  expect(second).toMatchObject({ startedAt: null })

  const names: string[] = []
  for (let number = 1; number <= 4; number++) {
    const call = await gated.call(number)
    names.push(call.input.name)
    expect((await tasks.list({ statuses: ["running"] })).items).toHaveLength(1)
    call.finish()
  }
  expect(names).toEqual(["running", "urgent", "second", "third"])
  for (const { id } of [second, third, urgent]) {
    expect((await tasks.result(id, { waitMs: 30_000 })).task.status).toBe("completed")
    expect(await placeOf(id)).toEqual(["completed", null])
  }
})
