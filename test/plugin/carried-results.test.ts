import { describe, expect, test } from "vitest"
import { openBackground } from "../support/background/open-background.ts"
import { eventually } from "../support/eventually.ts"
import { createRenderFarm } from "../support/render-farm.ts"
import { openFarm, startRender } from "../support/plugin/open-farm.ts"

describe("what comes back from elsewhere", () => {
  test.each([
    ["failed", { error: "no memory" }, { code: "tool_error", message: "no memory" }],
    ["cancelled", {}, { code: "cancelled_elsewhere", message: "it was cancelled in farm" }],
    ["timeout", {}, { code: "timed_out_elsewhere", message: "its time was up in farm" }],
  ] as const)("is a failure with its reason when it %s", async (status, end, failure) => {
    const agent = await openFarm([startRender(), "It runs."])
    await agent.session.send("render it")
    await agent.farm.task(1)
    agent.farm.end(1, { status, ...end })
    expect(await agent.ended(1)).toMatchObject({ status: "failed", failure })
  })

  test("is asked for again when a look fails or comes back early, and the work is not started again", async () => {
    const farm = createRenderFarm()
    const inner = farm.connect()
    let looks = 0
    const plugin = farm.connect({
      async getResult(id) {
        looks += 1
        if (looks === 1) throw new Error("connection reset")
        return inner.getResult(id)
      },
    })
    const agent = await openBackground([startRender(), "It runs."], { plugins: [plugin] })
    await agent.session.send("render it")
    await eventually("it is looked at twice", () => looks === 2)
    farm.end(1, { result: "a picture" })
    expect(await agent.ended(1)).toMatchObject({ status: "completed", patch: { payload: "a picture" } })
    expect(farm.tasks).toHaveLength(1)
  })

  test("is nothing when it could not be started: the task fails with the reason", async () => {
    const agent = await openFarm([startRender(), "Oh."], {
      startBackground: () => Promise.reject(new Error("the farm is full")),
    })
    await agent.session.send("render it")
    expect(await agent.ended(1)).toMatchObject({ status: "failed", failure: { message: "the farm is full" } })
  })
})
