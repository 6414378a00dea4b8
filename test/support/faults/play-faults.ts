import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { isDeepStrictEqual } from "node:util"
import { isPostgres } from "../test-engine.ts"
import { createFolder } from "../workplace.ts"
import { describeFault, type Fault } from "./fault-engine.ts"
import { type FaultHouse, openFaultHouse } from "./fault-house.ts"
import type { FaultScenario } from "./fault-scenarios.ts"
import { playScenario } from "./play-scenario.ts"

/** A server is waited for much of the time. */
const OTHER_HOUSES = isPostgres ? [1] : []

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
  let expected: unknown
  let left: Fault[] = []

  async function playCleanly(house: FaultHouse): Promise<void> {
    const { violations, outcome, commits } = await playScenario(house, scenario, { restarts })
    problems.push(...violations.map((violation) => `without a fault: ${violation}`))
    expected = outcome
    left = commits.filter((name) => only.test(name)).flatMap((at) => faults.map((fault) => ({ at, ...fault })))
  }

  async function playLeft(house: FaultHouse): Promise<void> {
    for (let fault = left.shift(); fault; fault = left.shift()) {
      const { violations, outcome } = await playScenario(house, scenario, { fault, restarts })
      const changed = isDeepStrictEqual(outcome, expected) ? [] : [`it came out as ${JSON.stringify(outcome)}`]
      problems.push(...[...violations, ...changed].map((problem) => `${describeFault(fault)}: ${problem}`))
    }
    problems.push(...(await house.engine.store.checkIntegrity()).problems)
  }

  async function openHouse(index: number): Promise<FaultHouse> {
    const directory = join(root, String(index))
    mkdirSync(directory)
    return openFaultHouse(directory)
  }

  async function playBeside(index: number): Promise<void> {
    await using house = await openHouse(index)
    await playLeft(house)
  }

  await using first = await openHouse(0)
  await playCleanly(first)
  await Promise.all([playLeft(first), ...OTHER_HOUSES.map(playBeside)])
  return problems
}
