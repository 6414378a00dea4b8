import { expect, test } from "vitest"
import { MeanwhileError } from "../../src/base/error.ts"
import { createManualClock } from "../../src/base/manual-clock.ts"
import { eventually } from "../support/eventually.ts"
import { interceptCommits } from "../support/intercept-commits.ts"
import { openAgent } from "./support/open-agent.ts"

const LEASE_SECONDS = 3

test("a turn that is lost while it begins goes on, and the conversation with it", async () => {
  const clock = createManualClock()
  const background = { leaseSeconds: LEASE_SECONDS }
  const { runtime, session } = await openAgent(["Hello.", "Again."], { isKept: true, clock, background })
  let beginning: "none" | "written" | "lost" = "none"
  interceptCommits(runtime, async (operations, commit) => {
    // As if the store had been away for so long that others took this worker for dead.
    if (beginning === "written" && operations.some(({ op }) => op === "lease.renew")) {
      beginning = "lost"
      throw new MeanwhileError("stale_claim", "Another worker has taken it.")
    }
    const answers = await commit(operations)
    if (beginning === "none" && operations.some(({ op }) => op === "task.create")) {
      beginning = "written"
      clock.suspend(LEASE_SECONDS * 900)
    }
    return answers
  })
  await expect(session.send("hello")).rejects.toMatchObject({ code: "stale_claim" })
  await eventually("it is taken again", async () => {
    clock.advance(500)
    return (await runtime.engine.store.countTasks({ kinds: ["turn"], statuses: ["completed"] })) === 1
  })
  expect((await session.send("and now?")).text).toBe("Again.")
})
