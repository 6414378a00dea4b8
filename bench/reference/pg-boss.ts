import { setTimeout as sleep } from "node:timers/promises"
import { PgBoss } from "pg-boss"
import { measureRate, toRate } from "../closed-loop.ts"

export const QUEUE = "jobs"
/** More connections do not make it faster. */
const CONNECTIONS = 20
/** How long a loop that found nothing waits before it looks again. */
const NOTHING_MS = 2
const PULL_LOOPS = 2
/** Larger batches are cheaper, but while one batch of all jobs is sent the pulling loops would have nothing to do. */
const SMALLEST_SHARE = 0.5

/** Bare pg-boss, with its workers woken by NOTIFY: its quickest form. */
export async function openPgBoss(connectionString: string): Promise<PgBoss> {
  const boss = new PgBoss({
    connectionString,
    max: CONNECTIONS,
    supervise: false,
    schedule: false,
    useListenNotify: true,
  })
  boss.on("error", () => {})
  await boss.start()
  await boss.createQueue(QUEUE, { notify: true })
  return boss
}

/** Enqueues, works off and completes `count` jobs, at most `inFlight` of them under way; resolves with jobs per second. */
export type PgBossForm = (boss: PgBoss, count: number, inFlight: number) => Promise<number>

/** With `work()` and full batches. A job counts as done when its handler has it, before it is completed. */
export const byWork: PgBossForm = async (boss, count, inFlight) => {
  const waiting = new Map<string, () => void>()
  const handled = new Set<string>()
  const options = { batchSize: inFlight, pollingIntervalSeconds: 0.5, burstWhenBatchFull: true }
  const worker = await boss.work(QUEUE, options, async (jobs) => {
    for (const { id } of jobs) {
      if (!waiting.has(id)) handled.add(id)
      waiting.get(id)?.()
    }
  })
  const rate = await measureRate(count, inFlight, async () => {
    const id = await boss.send(QUEUE, {})
    if (id === null) throw new Error("a job was not taken")
    // The handler may have the job before `send` has answered.
    if (!handled.delete(id)) await new Promise<void>((resolve) => waiting.set(id, resolve))
    waiting.delete(id)
  })
  await boss.offWork(QUEUE, { id: worker })
  return rate
}

/** Each job is sent, fetched and completed by itself, by `inFlight` sending and as many pulling loops. */
export const byPulling: PgBossForm = (boss, count, inFlight) =>
  toRate(count, async () => {
    let sent = 0
    let left = count
    let underWay = 0
    const send = async () => {
      while (sent < count) {
        if (underWay >= inFlight) {
          await sleep(1)
          continue
        }
        sent++
        underWay++
        await boss.send(QUEUE, {})
      }
    }
    const pull = async () => {
      while (left > 0) {
        const jobs = await boss.fetch(QUEUE)
        if (jobs.length === 0) await sleep(NOTHING_MS)
        else await boss.complete(QUEUE, jobs)
        left -= jobs.length
        underWay -= jobs.length
      }
    }
    await Promise.all(Array.from({ length: inFlight }, () => [send(), pull()]).flat())
  })

/** Enqueued, fetched and completed a batch at a time. */
export const byPullingBatches: PgBossForm = (boss, count, inFlight) =>
  toRate(count, async () => {
    let unsent = count
    let left = count
    let underWay = 0
    const send = async () => {
      while (unsent > 0) {
        const room = Math.min(inFlight - underWay, unsent)
        if (room < Math.min(inFlight * SMALLEST_SHARE, unsent)) {
          await sleep(0)
          continue
        }
        underWay += room
        unsent -= room
        await boss.insert(
          QUEUE,
          Array.from({ length: room }, () => ({ data: {} })),
        )
      }
    }
    const pull = async () => {
      while (left > 0) {
        const jobs = await boss.fetch(QUEUE, { batchSize: inFlight })
        if (jobs.length === 0) await sleep(NOTHING_MS)
        else await boss.complete(QUEUE, jobs)
        left -= jobs.length
        underWay -= jobs.length
      }
    }
    await Promise.all([send(), ...Array.from({ length: PULL_LOOPS }, pull)])
  })
