import { expect, test } from "vitest"
import { createManualClock } from "../../src/base/manual-clock.ts"
import { eventually } from "../support/eventually.ts"
import { createGatedTool } from "../support/tools.ts"
import { createWorkplace } from "../support/workplace.ts"

/** Small enough for looks in between. */
const LITTLE_MS = 500

test("a worker with a short lease is found dead by one that looks seldom", async () => {
  const gated = createGatedTool()
  // The worker's clock stands still, so it never renews.
  const silent = { tools: [gated.tool], clock: createManualClock(), background: { leaseSeconds: 1 } }
  const { meanwhile, another } = await createWorkplace(silent)
  const { id } = await meanwhile.tasks.start({ tool: "gated", input: {} })
  await gated.call(1)
  const clock = createManualClock()
  const second = await another({ clock, background: { leaseSeconds: 30 } })
  await eventually("the run is taken over", async () => {
    clock.advance(LITTLE_MS)
    return (await second.tasks.get(id)).task.status === "interrupted"
  })
  expect((await second.tasks.get(id)).task).toMatchObject({ by: "lost_worker" })
})
