import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { expect, onTestFinished, test } from "vitest"
import { eventually } from "../support/eventually.ts"
import { createOwnStopwatch } from "../support/own-stopwatch.ts"
import { createFolder } from "../support/workplace.ts"
import { type FleetDesk, openFleetDesk } from "../support/chaos/fleet-desk.ts"
import { type FleetFindings, lookAtFleet } from "../support/chaos/fleet-invariants.ts"
import { type FleetPlan, planFleet } from "../support/chaos/fleet-plan.ts"
import { type FleetSite, openFleetSite } from "../support/chaos/fleet-site.ts"
import { createRandom, isLong, requireNone, TEST_SEED, withSeed } from "../support/chaos/seed.ts"

const FILE = "test/chaos/fleet.slow.test.ts"
const WORKERS = 3
const CONCURRENCY = 8
const SESSIONS = 4
const LEASE_SECONDS = 2
/** The short form meets each kind of accident, the long one looks for bad combinations. */
const TASKS = isLong ? 2_000 : 120
const ACCIDENTS = isLong ? 48 : 7
const SEEDS = isLong ? 20 : 1
/** The most live tasks: so few that tasks are still being started when the last accidents happen. */
const MOST_LIVE = isLong ? 120 : 30
const AT_ONCE = isLong ? 20 : 10
/** The time limit on a busy machine. A run that passes never waits until it is over. */
const PATIENCE_MS = isLong ? 1_200_000 : 200_000
/** The longest that the run may take on a machine without other work. */
const LONGEST_MS = isLong ? PATIENCE_MS : 30_000

const seeds = Array.from({ length: SEEDS }, (_, index) => TEST_SEED + 50_000 + index)

test.each(seeds)(
  "three workers and their server are lost again and again: every task ends once, nothing is repeated, every end is told once (%i)",
  { timeout: 2 * PATIENCE_MS },
  async (seed) => {
    const stopwatch = createOwnStopwatch()
    const { takenOver, interrupted, tasks } = await withSeed(FILE, "three workers", seed, () => playSeed(seed))
    expect(tasks).toBeGreaterThanOrEqual(TASKS)
    expect(takenOver).toBeGreaterThan(0)
    expect(interrupted).toBeGreaterThan(0)
    const tookMs = Math.round(stopwatch.elapsedMs())
    console.info(`${tasks} tasks of a fleet with ${ACCIDENTS} accidents took ${tookMs} ms`)
    expect(tookMs).toBeLessThan(LONGEST_MS)
  },
)

async function playSeed(seed: number): Promise<FleetFindings> {
  const random = createRandom(seed)
  const leaseMs = LEASE_SECONDS * 1_000
  const plan = planFleet(random, { tasks: TASKS, workers: WORKERS, accidents: ACCIDENTS, leaseMs })
  const directory = createFolder()
  const shared = { leaseSeconds: LEASE_SECONDS, directory }
  const site = await openFleetSite({ ...shared, workers: WORKERS, concurrency: CONCURRENCY, elsewhere: "half" })
  onTestFinished(() => site[Symbol.asyncDispose]())
  const engine = site.url
  const desk = await openFleetDesk({
    ...shared,
    directory: join(directory, "desk"),
    engine,
    sessions: SESSIONS,
    random,
  })
  try {
    await live(site, desk, plan)
    for (const worker of site.workers) requireNone(await worker.stop())
  } finally {
    await desk.close()
  }
  await eventually("all connections are closed", async () => (await site.countClients()) === 0)
  const stoodStill = new Set(site.workers.flatMap(({ frozen }) => [...frozen]))
  const { answered, declined: mayBeCancelled, sessions } = desk
  const effects = site.effects.read(stoodStill)
  const findings = await lookAtFleet(engine, { answered, mayBeCancelled, sessions, effects })
  requireNone(findings.violations)
  return findings
}

/** Runs the fleet until everything has ended and every end was told. */
async function live(site: FleetSite, desk: FleetDesk, plan: FleetPlan): Promise<void> {
  const isOver = new AbortController()
  const busy = Promise.all([startAll(desk, plan), meetAccidents(site, plan)])
  const answering = answerWaits(desk, isOver.signal)
  const ending = busy.then(async () => {
    await eventually("every task has ended", () => nowAndThen(async () => (await desk.countLive()) === 0), PATIENCE_MS)
    await eventually("every end is told", () => nowAndThen(async () => (await desk.countUntold()) === 0), PATIENCE_MS)
    await eventually(
      "every turn has ended",
      () => nowAndThen(async () => (await desk.countLiveTurns()) === 0),
      PATIENCE_MS,
    )
  })
  try {
    await Promise.race([ending, answering])
  } catch (error) {
    const words = site.workers.map((worker) => worker.lastWords()).join("\n")
    throw new Error(`${String(error)}\n${words}\n${await desk.describe()}`, { cause: error })
  } finally {
    isOver.abort()
    await answering
  }
}

async function startAll(desk: FleetDesk, { calls }: FleetPlan): Promise<void> {
  const hasRoom = async (): Promise<boolean> => ((await desk.countLive()) ?? MOST_LIVE) < MOST_LIVE
  for (let number = 0; number < calls.length; number += AT_ONCE) {
    await eventually("there is room", () => nowAndThen(hasRoom), PATIENCE_MS)
    await Promise.all(calls.slice(number, number + AT_ONCE).map((call, index) => desk.start(call, number + index)))
  }
}

/** Causes the accidents, spread over the work to be done, so that each meets a fleet at work. */
async function meetAccidents(site: FleetSite, { accidents, effects }: FleetPlan): Promise<void> {
  const underWay: Promise<void>[] = []
  for (const [index, accident] of accidents.entries()) {
    const due = (effects * (index + 1)) / (accidents.length + 1)
    await eventually("so much is done", () => site.effects.count() >= due, PATIENCE_MS)
    underWay.push(site.cause(accident))
  }
  await Promise.all(underWay)
}

async function answerWaits(desk: FleetDesk, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await nowAndThen(() => desk.answerWaits())
  }
}

/** Asks after a pause: constant questions would keep the store from the workers. */
async function nowAndThen<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
  await sleep(100)
  return ask()
}
