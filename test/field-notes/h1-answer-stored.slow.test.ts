import { expect, test } from "vitest"
import { isLong } from "../support/chaos/seed.ts"
import { FAULT_SCENARIOS } from "../support/faults/fault-scenarios.ts"
import { playFaults } from "../support/faults/play-faults.ts"
import { isPostgres } from "../support/test-engine.ts"

const FOR_MS = 10_000
const REFUSED = { how: "refused", forMs: FOR_MS } as const
const LOST = { how: "lost", forMs: FOR_MS } as const

const ROW = "H1. Disk full in the middle of a turn: no turn is `completed` whose answer is not stored"

for (const [name, scenario] of Object.entries(FAULT_SCENARIOS)) {
  test(`${ROW} (${name})`, async () => {
    // A play with a server takes as long as ten with a file.
    const isShort = isPostgres && !isLong
    expect(await playFaults(scenario, { faults: isShort ? [LOST] : [REFUSED, LOST], restarts: !isShort })).toEqual([])
  })
}

const MINUTE = { how: "refused", forMs: 60_000 } as const

/** The commits of the first turn once it has begun. One that begins something new is refused in the end, and says so. */
const OF_A_TURN = /^(session\.update\+(step\.|task\.note.*#1$)|step\.|lease\.renew\+create)/

for (const name of ["a turn with several calls in a new session", "a call that moves to the background"]) {
  const scenario = FAULT_SCENARIOS[name]
  test(`a turn that has begun outlasts a store that refuses for a minute (${name})`, async () => {
    expect(scenario && (await playFaults(scenario, { faults: [MINUTE], only: OF_A_TURN }))).toEqual([])
  })
}
