import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { isDeepStrictEqual } from "node:util"
import { isPostgres } from "../test-engine.ts"
import { createFolder } from "../workplace.ts"
import { describeFault, type Fault } from "./fault-engine.ts"
import { type FaultHouse, openFaultHouse } from "./fault-house.ts"
import type { FaultScenario } from "./fault-scenarios.ts"
import { playScenario } from "./play-scenario.ts"

/** A server is waited for most of the time. */
const SIDE_BY_SIDE = isPostgres ? 4 : 1

interface FaultOptions {
  /** The faults of each commit, one after the other. */
  readonly faults: readonly Omit<Fault, "at">[]
  readonly restarts?: boolean
  /** Only commits of these names. Default: all. */
  readonly only?: RegExp
}

/**
 * Plays the scenario without a fault, then once for each of its commits and each fault of it. Returns what came out
 * otherwise; empty: no fault made a difference.
 */
export async function playFaults(
  scenario: FaultScenario,
  { faults, restarts = false, only = /^/ }: FaultOptions,
): Promise<readonly string[]> {
  const root = createFolder()
  const problems: string[] = []

  async function inHouse(number: number, work: (house: FaultHouse) => Promise<void>): Promise<void> {
    const directory = join(root, String(number))
    mkdirSync(directory)
    await using house = await openFaultHouse(directory)
    await work(house)
    problems.push(...(await house.engine.store.checkIntegrity()).problems)
  }

  let left: Fault[] = []
  let expected: unknown
  await inHouse(0, async (house) => {
    const clean = await playScenario(house, scenario, { restarts })
    problems.push(...clean.violations.map((violation) => `without a fault: ${violation}`))
    expected = clean.outcome
    left = clean.commits.filter((name) => only.test(name)).flatMap((at) => faults.map((fault) => ({ at, ...fault })))
  })

  async function playLeft(house: FaultHouse): Promise<void> {
    for (let fault = left.shift(); fault; fault = left.shift()) {
      const { violations, outcome } = await playScenario(house, scenario, { fault, restarts })
      const changed = isDeepStrictEqual(outcome, expected) ? [] : [`it came out as ${JSON.stringify(outcome)}`]
      problems.push(...[...violations, ...changed].map((problem) => `${describeFault(fault)}: ${problem}`))
    }
  }

  await Promise.all(Array.from({ length: SIDE_BY_SIDE }, (_, index) => inHouse(index + 1, playLeft)))
  return problems
}
