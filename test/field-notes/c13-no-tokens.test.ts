import { expect, test } from "vitest"
import { createManualClock } from "../../src/base/manual-clock.ts"
import type { JsonObject } from "../../src/base/json.ts"
import { call } from "../support/background/open-background.ts"
import { openMeanwhile, start } from "../support/background/open-meanwhile.ts"
import { eventually } from "../support/eventually.ts"

const MINUTE_MS = 60_000
const HOUR = { limit_seconds: 3_600 } satisfies JsonObject

test("C13. Waiting half an hour for a task costs zero model calls: in a call", async () => {
  const clock = createManualClock()
  const slow = { calls: [start("slow", { timeout_seconds: 7_200 })] }
  const agent = await openMeanwhile([slow, call("wait_for", HOUR), "Here it is."], { clock })
  const turn = agent.session.send("do it and wait")
  const running = await agent.gated.call(1)
  await eventually("it waits", () => agent.model.callCount === 2)
  for (let minute = 0; minute < 30; minute++) {
    clock.advance(MINUTE_MS)
    await new Promise((resolve) => setImmediate(resolve))
  }
  expect(agent.model.callCount).toBe(2)
  running.finish("at last")
  await eventually("it has ended", () => {
    clock.advance(5)
    return agent.model.callCount === 3
  })
  expect((await turn).text).toBe("Here it is.")
  expect(agent.answers().at(-1)).toMatchObject({ reason: "met" })
})
