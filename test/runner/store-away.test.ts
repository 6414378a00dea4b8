import { expect, test } from "vitest"
import { createManualClock } from "../../src/base/manual-clock.ts"
import { createGatedTool } from "../support/tools.ts"
import { createWorkplace } from "../support/workplace.ts"

const LEASE_MS = 30_000

test("a worker is not taken for lost while the store was away and nobody could renew", async () => {
  const gated = createGatedTool({ obeys: true })
  const background = { leaseSeconds: LEASE_MS / 1_000 }
  // The first worker's clock stands still, so it does not renew; the second one's goes on.
  const { meanwhile, another } = await createWorkplace({ tools: [gated.tool], clock: createManualClock(), background })
  const { id } = await meanwhile.tasks.start({ tool: "gated", input: {} })
  await gated.call(1)
  const clock = createManualClock()
  const second = await another({ clock })
  // With a run of its own, a look asks for the leases a second time, after it has taken over what it takes for lost.
  await second.tasks.start({ tool: "gated", input: {} })
  await gated.call(2)
  const { store } = second.engine
  const { leases } = store
  const hasLooked = Promise.withResolvers<void>()
  const away = Promise.withResolvers<void>()
  let asked = 0
  Object.assign(store, {
    async leases(prefix: string) {
      asked += 1
      if (asked === 1) await away.promise
      if (asked === 2) hasLooked.resolve()
      return leases(prefix)
    },
  })
  clock.advance(LEASE_MS / 3)
  clock.advance(LEASE_MS)
  away.resolve()
  await hasLooked.promise
  expect((await meanwhile.tasks.get(id)).task.status).toBe("running")
})
