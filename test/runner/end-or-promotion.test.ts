import { expect, test } from "vitest"
import { createGatedTool } from "../support/tools.ts"
import { createWorkplace } from "../support/workplace.ts"

const MICROTASKS = 40

test("a call that ends while it is promoted has one of both outcomes, and never becomes a task that nobody ends", async () => {
  const gated = createGatedTool({ obeys: true })
  const { meanwhile } = await createWorkplace({ tools: [gated.tool] })
  const { tasks } = meanwhile
  for (let gap = 0; gap < MICROTASKS; gap++) {
    const execution = tasks.execute({ tool: "gated", input: {} })
    const { finish } = await gated.call(gap + 1)
    finish("done")
    for (let passed = 0; passed < gap; passed++) await Promise.resolve()
    const isPromoted = await execution.promote()
    expect({ gap, outcome: (await execution.answer).outcome }).toEqual({
      gap,
      outcome: isPromoted ? "promoted" : "completed",
    })
    if (isPromoted) {
      expect((await tasks.result(execution.taskId, { waitMs: 30_000 })).task.status).toBe("completed")
    } else {
      await expect(tasks.get(execution.taskId)).rejects.toMatchObject({ code: "not_found" })
    }
  }
})
