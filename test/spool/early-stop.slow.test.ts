import { setTimeout as pause } from "node:timers/promises"
import { expect, test } from "vitest"
import { createRandom, isLong, type Random, TEST_SEED, withSeed } from "../support/chaos/seed.ts"
import type { TestRuntime } from "../support/test-engine.ts"
import { createWorkplace } from "../support/workplace.ts"

const FILE = "test/spool/early-stop.slow.test.ts"
const TRIES = isLong ? 2_000 : 48
/** Longer than a stop takes if its signal reaches the command. */
const GRACE_SECONDS = 60
/** In this time a quiet machine has started a command. */
const START_MS = 12
/** Several are started at once, so that each takes its time over every part of its start. */
const AT_ONCE = 4

const CALL = { tool: "run_command", input: { command: "sleep 1000" } } as const
const CANCELLED = { by: "person", survivors: [] }

/** Begins a command, and returns how it is stopped. A stop resolves when the command is gone. */
type Begin = (here: TestRuntime, elsewhere: TestRuntime) => Promise<() => Promise<unknown>>

const inForeground: Begin = async ({ tasks }) => {
  const execution = tasks.execute(CALL)
  return async () => {
    execution.cancel()
    expect(await execution.answer).toMatchObject({ outcome: "cancelled", ...CANCELLED })
  }
}

const toBackground =
  (isStoppedElsewhere: boolean): Begin =>
  async (here, elsewhere) => {
    const { id } = await here.tasks.start(CALL)
    return async () => {
      await (isStoppedElsewhere ? elsewhere : here).tasks.cancel(id)
      const { task } = await here.tasks.result(id, { waitMs: GRACE_SECONDS * 1_000 })
      expect(task).toMatchObject({ status: "cancelled", stop: { by: "person" }, survivors: [] })
    }
  }

test("a stop in the first moments of a command reaches it, whatever has been started by then", async () => {
  const background = { stopGraceSeconds: GRACE_SECONDS, maxConcurrentPerPlugin: AT_ONCE }
  const { meanwhile, another } = await createWorkplace({ background })
  const elsewhere = await another({ takesWork: false })
  async function stopEarly(random: Random): Promise<void> {
    const stop = await random.pick([inForeground, toBackground(false), toBackground(true)])(meanwhile, elsewhere)
    const momentMs = performance.now() + random.fraction() * START_MS
    if (random.chance(0.5)) await pause(momentMs - performance.now())
    // Without a pause this process itself is busy, and the wrapper goes on beside it.
    while (performance.now() < momentMs) continue
    const stoppedAtMs = performance.now()
    await stop()
    // A command that the signal missed is killed only when the grace is over.
    expect(performance.now() - stoppedAtMs).toBeLessThan(GRACE_SECONDS * 1_000)
  }
  const seeds = Array.from({ length: TRIES }, (_, index) => TEST_SEED + index)
  async function work(): Promise<void> {
    for (let seed = seeds.shift(); seed !== undefined; seed = seeds.shift()) {
      const each = seed
      await withSeed(FILE, "a stop in the first moments", each, () => stopEarly(createRandom(each)))
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
})
