import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { eventually } from "../support/eventually.ts"
import { createOwnStopwatch } from "../support/own-stopwatch.ts"
import { createFolder } from "../support/workplace.ts"
import { openFleetDesk } from "../support/chaos/fleet-desk.ts"
import { type FleetSiteOptions, openFleetSite } from "../support/chaos/fleet-site.ts"
import { createRandom, TEST_SEED } from "../support/chaos/seed.ts"

const TASKS = 6
/** A step longer than the test waits: the killed worker cannot have finished it in that time. */
const STEP = { tool: "retrying", input: { steps: ["0-retry"], pauseMs: 120_000 } } as const

/** The time from the kill until another worker has begun the last of the killed worker's steps again. */
async function measureTakeover(options: Pick<FleetSiteOptions, "elsewhere" | "leaseSeconds">): Promise<number> {
  const directory = createFolder()
  const site = await openFleetSite({ directory, workers: 2, concurrency: TASKS, ...options })
  onTestFinished(() => site[Symbol.asyncDispose]())
  const shared = { engine: site.url, sessions: 1, random: createRandom(TEST_SEED), ...options }
  const desk = await openFleetDesk({ directory: join(directory, "desk"), ...shared })
  onTestFinished(() => desk.close())
  await Promise.all(Array.from({ length: TASKS }, (_, number) => desk.start(STEP, number)))
  await eventually("every task is inside its step", () => site.effects.count() === TASKS)
  const victim = site.workers.find(({ pid }) => site.effects.lines(` ${pid}`).length > 0)
  const left = site.effects.lines(` ${victim?.pid}`).map((line) => line.split(" ")[1] ?? "")
  const sinceKill = createOwnStopwatch()
  await victim?.kill()
  await eventually("all of it goes on", () => left.every((key) => site.effects.lines(key).length === 2), 60_000)
  return sinceKill.elapsedMs()
}

test("what a killed worker of another machine ran goes on elsewhere within 15 seconds", async () => {
  const tookMs = await measureTakeover({ elsewhere: "all" })
  expect(tookMs).toBeLessThan(15_000)
})

test("with a shorter lease, or where it is seen that its process is gone, it goes on sooner", async () => {
  const short = measureTakeover({ elsewhere: "all", leaseSeconds: 2 })
  const seen = measureTakeover({ elsewhere: "none" })
  expect(await short).toBeLessThan(8_000)
  expect(await seen).toBeLessThan(8_000)
})
