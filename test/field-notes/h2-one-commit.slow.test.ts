import { expect, test } from "vitest"
import { isLong } from "../support/chaos/seed.ts"
import { FAULT_SCENARIOS } from "../support/faults/fault-scenarios.ts"
import { playFaults } from "../support/faults/play-faults.ts"
import { isPostgres } from "../support/test-engine.ts"

const REFUSED = { how: "refused", forMs: 0 } as const
const LOST = { how: "lost", forMs: 0 } as const

for (const [name, scenario] of Object.entries(FAULT_SCENARIOS)) {
  test(`H2. One commit that is refused, or whose answer is lost, hangs nothing: ${name}`, async () => {
    // That answers are lost is tried on both engines by the outages that begin with one.
    const faults = isPostgres && !isLong ? [REFUSED] : [REFUSED, LOST]
    expect(await playFaults(scenario, { faults })).toEqual([])
  })
}
