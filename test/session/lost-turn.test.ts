import { setImmediate } from "node:timers/promises"
import { expect, test } from "vitest"
import { MeanwhileError } from "../../src/base/error.ts"
import { createManualClock, type ManualClock } from "../../src/base/manual-clock.ts"
import { eventually } from "../support/eventually.ts"
import { interceptCommits } from "../support/intercept-commits.ts"
import { createGatedTool } from "../support/tools.ts"
import { type OpenAgent, openAgent } from "../support/session/open-agent.ts"

const LEASE_SECONDS = 3

/** The runtime loses its lease as soon as the beginning of the first turn is written. */
function loseBeginning({ runtime, clock }: { runtime: OpenAgent["runtime"]; clock: ManualClock }): void {
  let beginning: "none" | "written" | "lost" = "none"
  interceptCommits(runtime, async (operations, commit) => {
    // As if the store had been away for so long that other workers took this one for dead.
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
}

test("a turn that is lost while it begins goes on, and the conversation with it", async () => {
  const clock = createManualClock()
  const background = { leaseSeconds: LEASE_SECONDS }
  const { runtime, session } = await openAgent(["Hello.", "Again."], { isKept: true, clock, background })
  loseBeginning({ runtime, clock })
  await expect(session.send("hello")).rejects.toMatchObject({ code: "stale_claim" })
  await eventually("it is taken again", async () => {
    clock.advance(500)
    return (await runtime.engine.store.countTasks({ kinds: ["turn"], statuses: ["completed"] })) === 1
  })
  expect((await session.send("and now?")).text).toBe("Again.")
})

test("a turn that is lost while it begins is handed out all the same: it is stored, and goes on under its id", async () => {
  const clock = createManualClock()
  const background = { leaseSeconds: LEASE_SECONDS }
  const { runtime, session } = await openAgent(["Hello."], { isKept: true, clock, background })
  loseBeginning({ runtime, clock })
  const turn = await session.start("hello")
  await expect(turn.result).rejects.toMatchObject({ code: "stale_claim" })
  await eventually("it is taken again", async () => {
    clock.advance(500)
    return (await runtime.engine.store.task(turn.id))?.status === "completed"
  })
})

/** A process that comes back can learn of its loss in two orders. */
for (const first of ["its lease is refused", "what it writes is refused"] as const) {
  test(`a turn that another worker has answered is not called stopped when ${first} first`, async () => {
    const clock = createManualClock()
    const { tool, calls } = createGatedTool()
    const background = { leaseSeconds: LEASE_SECONDS }
    const script = [{ calls: [{ tool: "gated", input: {} }] }, "Hello."]
    const { runtime, session } = await openAgent(script, { isKept: true, clock, background, tools: [tool] })
    const refused = Promise.withResolvers<void>()
    let isAway = false
    interceptCommits(runtime, async (operations, commit) => {
      if (isAway && operations.some(({ op }) => op === "lease.renew")) {
        isAway = false
        refused.resolve()
        throw new MeanwhileError("stale_claim", "Another worker has taken it.")
      }
      if (!operations.some(({ op }) => op === "step.start")) return commit(operations)
      isAway = true
      if (first === "its lease is refused") {
        // Lets the turn wait for this commit first.
        await setImmediate()
        clock.advance(LEASE_SECONDS * 1000)
        await refused.promise
      } else {
        clock.suspend(LEASE_SECONDS * 1000)
      }
      throw new MeanwhileError("version_conflict", "The session is at version 8, not 2.")
    })
    await expect(session.send("hello")).rejects.toMatchObject({ code: "stale_claim" })
    expect(calls).toEqual([])
    expect(session.turns()).toEqual([])
  })
}
