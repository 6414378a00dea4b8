import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { setTimeout as pause } from "node:timers/promises"
import { describe, expect, test } from "vitest"
import type { TaskId } from "../../src/task/id.ts"
import { isTerminal } from "../../src/task/lifecycle.ts"
import { WORKER_LEASE_PREFIX } from "../../src/task/worker.ts"
import { type BlockingEffect, hasBegun, readBlockingEffects } from "../support/blocking-tools.ts"
import { createRandom, isLong, type Random, requireNone, TEST_SEED } from "../support/chaos/seed.ts"
import { query } from "../support/chaos/fleet-invariants.ts"
import { type ChildWorker, startChildWorker } from "../support/child-worker.ts"
import { eventually } from "../support/eventually.ts"
import { databaseOf, isPostgres, type TestRuntime } from "../support/test-engine.ts"
import { createFolder, openIn } from "../support/workplace.ts"

const FREEZES = isLong ? 500 : 20
/** In long mode that of other chaos, on PostgreSQL as well. */
const TIMEOUT_MS = isLong ? 10_800_000 : 600_000
const FROZEN_AT_ONCE = 4
const LEASE_SECONDS = 0.8
/** Long enough for a busy machine: a worker that is held up longer loses what it took over. */
const TAKER_LEASE_SECONDS = 2
/** In this time a worker begins many effects. */
const LONGEST_RUN_MS = 60

const WAYS = ["blocks", "blocks", "blocks", "blocks", "blocks", "pooled", "pooled", "outside"] as const
const ROOM = { maxConcurrentTasks: 64, maxConcurrentPerPlugin: 64 }

/** One freeze, and the tasks that the worker ran until then and that another one has taken over before the thaw. */
interface Freeze {
  readonly pid: number
  readonly tasks: ReadonlySet<string>
  readonly thawedAt: bigint
}

describe("H4. A worker that stood still past its lease and wakes takes no further effect, also with eight steps at once that block in the kernel", () => {
  test(
    `in ${FREEZES} freezes, counted from outside`,
    async () => {
      const directory = createFolder()
      const desk = await openIn(directory, { takesWork: false })
      const taker = await startChildWorker(directory, { leaseSeconds: TAKER_LEASE_SECONDS, ...ROOM })
      const freezes: Freeze[] = []
      const ends: string[] = []
      async function freezeAgainAndAgain(index: number): Promise<void> {
        const random = createRandom(TEST_SEED + index)
        const worker = await startChildWorker(directory, { leaseSeconds: LEASE_SECONDS, ...ROOM }, "takes_own_work")
        for (let round = 0; freezes.length < FREEZES; round++) {
          const until = `end-${index}-${round}`
          const freeze = await freezeOnce({ directory, desk, worker, random, until })
          if (freeze) freezes.push(freeze)
          ends.push(...(freeze?.tasks ?? []))
        }
        // A worker that answers has run everything that it could have run since it woke.
        await worker.close()
      }
      await Promise.all(Array.from({ length: FROZEN_AT_ONCE }, (_, index) => freezeAgainAndAgain(index)))
      for (const id of ends) {
        expect((await desk.tasks.result(id, { waitMs: 30_000 })).task).toMatchObject({ status: "completed", run: 1 })
      }
      await taker.close()
      const effects = readBlockingEffects(directory)
      const underWay = freezes.flatMap((freeze) => effectsUnderWay(freeze, effects))
      process.stdout.write(
        `seed ${TEST_SEED}: ${freezes.length} freezes, ${effects.length} effects, ${underWay.length} under way at a thaw\n`,
      )
      requireNone(freezes.flatMap((freeze) => effectsAfter(freeze, effects)))
      requireNone(findRepeated(freezes, effects))
    },
    TIMEOUT_MS,
  )
})

interface Place {
  readonly directory: string
  readonly desk: TestRuntime
  readonly worker: ChildWorker
  readonly random: Random
  readonly until: string
}

/** Null if the worker lost its tasks before it was frozen, as on a busy machine. */
async function freezeOnce({ directory, desk, worker, random, until }: Place): Promise<Freeze | null> {
  const { store } = desk.engine
  const leases = async () =>
    (await store.leases(WORKER_LEASE_PREFIX)).flatMap(({ key, data }) => (data["pid"] === worker.pid ? [key] : []))
  const ids = await worker.start(WAYS.map((way) => ({ tool: "block", input: { way, until } })))
  await eventually("all have begun", () => ids.every((id) => hasBegun(directory, id)))
  do {
    worker.continue()
    await pause(random.fraction() * LONGEST_RUN_MS)
    await worker.suspend()
  } while (await holdsStore(directory))
  const read = () => Promise.all(ids.map((id) => store.task(id as TaskId)))
  const tasks = (await read()).flatMap((task) => (task?.status === "running" && task.fence === 1 ? [task.id] : []))
  await endHeldTransactions(directory)
  await eventually("others have taken over", async () =>
    (await read()).every((task) => !task || isTerminal(task.status) || (task.status === "running" && task.fence > 1)),
  )
  await pause(random.fraction() * LONGEST_RUN_MS)
  const before = await leases()
  const thawedAt = process.hrtime.bigint()
  worker.continue()
  const hasNoticed = async () => (await leases()).some((key) => !before.includes(key))
  if (tasks.length > 0) await eventually("it has noticed", hasNoticed)
  writeFileSync(join(directory, until), "")
  return tasks.length > 0 ? { pid: worker.pid, tasks: new Set(tasks), thawedAt } : null
}

const TRIES = 40

/** True if the worker was frozen in the middle of a commit to a file: until it goes on, nobody can take anything over. */
async function holdsStore(directory: string): Promise<boolean> {
  if (isPostgres) return false
  using database = new DatabaseSync(join(directory, "data", "store.sqlite"), { timeout: 0 })
  for (let tries = 0; tries < TRIES; tries++) {
    try {
      database.exec("BEGIN IMMEDIATE; ROLLBACK")
      return false
    } catch {
      await pause(5)
    }
  }
  return true
}

/** A worker frozen in the middle of a transaction keeps its locks for as long as the server lets it: there, five seconds. */
const HELD_FOR_MS = 500

/** Ends such transactions sooner, as the server does. */
async function endHeldTransactions(directory: string): Promise<void> {
  const url = await databaseOf(join(directory, "data"))
  if (url === undefined) return
  await pause(HELD_FOR_MS)
  await query(
    url,
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database()
      AND state LIKE 'idle in transaction%' AND state_change <= now() - interval '${HELD_FOR_MS} ms'`,
  )
}

const isOf = ({ pid, tasks }: Freeze, effect: BlockingEffect): boolean => effect.pid === pid && tasks.has(effect.task)

function effectsAfter(freeze: Freeze, effects: readonly BlockingEffect[]): string[] {
  return effects
    .filter((effect) => isOf(freeze, effect) && effect.beganAt >= freeze.thawedAt)
    .map(
      ({ key, beganAt }) => `${key} began ${(beganAt - freeze.thawedAt) / 1_000n} µs after worker ${freeze.pid} woke`,
    )
}

/** Effects that the kernel or the thread pool had when the worker stood still: the window that no look can close. */
function effectsUnderWay(freeze: Freeze, effects: readonly BlockingEffect[]): readonly BlockingEffect[] {
  return effects.filter(
    (effect) =>
      isOf(freeze, effect) &&
      effect.beganAt < freeze.thawedAt &&
      (effect.endedAt === null || effect.endedAt >= freeze.thawedAt),
  )
}

/** One key acts once, and once more if its first effect was not known to have ended when its worker was taken for dead. */
function findRepeated(freezes: readonly Freeze[], effects: readonly BlockingEffect[]): string[] {
  const frozen = new Set(freezes.flatMap(({ tasks }) => [...tasks]))
  const pids = Map.groupBy(
    effects.filter(({ task }) => frozen.has(task)),
    ({ key }) => key,
  )
  return [...pids].flatMap(([key, each]) => {
    const actors = new Set(each.map(({ pid }) => pid))
    return each.length > 2 || actors.size < each.length ? [`${key} acted ${each.length} times`] : []
  })
}
