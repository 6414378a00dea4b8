import { createFaultyEngine, type Fault } from "./fault-engine.ts"
import type { FaultHouse } from "./fault-house.ts"
import type { FaultScenario } from "./fault-scenarios.ts"
import { openFaultStage, passTime, type StageOptions } from "./fault-stage.ts"
import { type FaultOutcome, findFaultViolations, readPlay, toOutcome } from "./fault-violations.ts"

export interface FaultPlay {
  /** The names of the commits, in order. */
  readonly commits: readonly string[]
  readonly violations: readonly string[]
  readonly outcome: FaultOutcome
}

export interface PlayOptions {
  readonly fault?: Fault
  /** After the scenario its session goes on in another runtime. */
  readonly restarts?: boolean
}

/** Plays a scenario with at most one fault, then one more message to its session. Always ends. */
export async function playScenario(
  house: FaultHouse,
  scenario: FaultScenario,
  { fault, restarts = false }: PlayOptions = {},
): Promise<FaultPlay> {
  const since = house.clock.now()
  const { engine, stage, pass } = await openLife(house, {
    ...scenario,
    main: [...scenario.main, "I am."],
    since,
    fault,
  })
  const played = await pass("the scenario", scenario.play(stage))
  const ended = await pass("the end of the fault", stage.outlast())
  const said = await pass("the next message", stage.say("Are you still there?"))
  const violations = [...played, ...ended, ...said]
  const stored = await readPlay(stage)
  violations.push(...(await findFaultViolations(stage, stored)))
  const outcome = toOutcome(stage, stored)
  const closing = await pass("the close", stage.close())
  // A process that is left while the store refuses says so. The next start shows that nothing is lost.
  violations.push(...(engine.isRefusing() ? closing.filter((problem) => !problem.includes("disk")) : closing))
  await house.reopen()
  if (restarts) violations.push(...(await playRestart(house, { since, session: stage.session.id })))
  return { commits: engine.commits, violations, outcome }
}

async function playRestart(
  house: FaultHouse,
  options: Pick<StageOptions, "since" | "session">,
): Promise<readonly string[]> {
  const { stage, pass } = await openLife(house, { ...options, main: ["I am back."] })
  const said = await pass("the message after the restart", stage.say("And now?"))
  const violations = await findFaultViolations(stage, await readPlay(stage))
  return [...said, ...violations, ...(await pass("the last close", stage.close()))]
}

type LifeOptions = Pick<StageOptions, "main" | "below" | "since" | "session"> & { readonly fault?: Fault | undefined }

async function openLife({ directory, clock, engine: real }: FaultHouse, { fault, ...options }: LifeOptions) {
  const engine = createFaultyEngine(real, clock, fault)
  const opening = openFaultStage({ ...options, directory, engine, store: real.store, clock })
  const opened = await passTime({ engine, clock }, opening)
  if (!opened) throw new Error("The runtime does not open.")

  /** Returns a sentence if the work fails, or hangs. */
  async function pass(what: string, work: Promise<unknown>): Promise<readonly string[]> {
    const failed = work.then(
      () => [],
      (error: unknown) => [`${what} fails: ${String(error)}`],
    )
    return (await passTime({ engine, clock }, failed))?.result ?? [`${what} hangs`]
  }

  return { engine, stage: opened.result, pass }
}
