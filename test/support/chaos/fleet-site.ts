import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { startTestServer } from "../postgres/server.ts"
import { migrateStore } from "../../../src/engine/postgres/schema/migrate-store.ts"
import { createFleetEffects, type FleetEffects } from "./fleet-effects.ts"
import { query } from "./fleet-invariants.ts"
import type { Accident } from "./fleet-plan.ts"
import { createFleetWorker, type FleetWorker } from "./fleet-worker.ts"

/** A server that can be lost, a store on it, and workers that can be lost. */
export interface FleetSite extends AsyncDisposable {
  readonly url: string
  readonly effects: FleetEffects
  readonly workers: readonly FleetWorker[]
  /** Resolves when the worker, or the server, runs again. */
  cause(accident: Accident): Promise<void>
  /** The number of clients of the server, without the one that asks. */
  countClients(): Promise<number>
}

export interface FleetSiteOptions {
  readonly directory: string
  readonly workers: number
  readonly concurrency: number
  /** Default: that of the configuration. */
  readonly leaseSeconds?: number
  /** Which workers count as workers of other machines, whose processes cannot be looked up. */
  readonly elsewhere: "none" | "half" | "all"
}

export async function openFleetSite(options: FleetSiteOptions): Promise<FleetSite> {
  const { directory, leaseSeconds } = options
  await using opened = new AsyncDisposableStack()
  // An answered commit must survive a crash of the server, but not of the machine.
  const server = opened.use(await startTestServer({ isDurable: true, settings: ["fsync=off"] }))
  const { url } = await server.createDatabase()
  await migrateStore({ url })
  await query(url, toTrigger(options.elsewhere))
  mkdirSync(directory, { recursive: true })
  const effects = createFleetEffects(join(directory, "effects"))
  opened.defer(effects.close)
  const workers = Array.from({ length: options.workers }, (_, index) =>
    createFleetWorker({
      directory: join(directory, `worker-${index}`),
      marks: { MEANWHILE_TEST: directory },
      engine: url,
      effectsFile: effects.file,
      concurrency: options.concurrency,
      ...(leaseSeconds !== undefined && { leaseSeconds }),
    }),
  )
  for (const worker of workers) opened.defer(worker.kill)
  await Promise.all(workers.map((worker) => worker.start()))
  const busy = new Map<FleetWorker | typeof server, Promise<void>>()

  /** One accident at a time for each subject: the first one that has none takes it. */
  async function withOne<Subject extends FleetWorker | typeof server>(
    subjects: readonly Subject[],
    work: (subject: Subject) => Promise<void>,
  ): Promise<void> {
    for (;;) {
      const free = subjects.find((subject) => !busy.has(subject))
      if (!free) {
        await Promise.race(subjects.flatMap((subject) => busy.get(subject) ?? []))
        continue
      }
      const working = work(free).finally(() => busy.delete(free))
      busy.set(free, working)
      return working
    }
  }

  async function cause(accident: Accident): Promise<void> {
    switch (accident.what) {
      case "kill":
        return withOne(from(workers, accident.worker), async (worker) => {
          await worker.kill()
          await sleep(accident.restMs)
          await worker.start()
        })
      case "freeze":
        return withOne(from(workers, accident.worker), async (worker) => {
          const thawed = worker.freeze(accident.restMs)
          if (!accident.isKilled) return thawed
          await sleep(accident.restMs / 2)
          await worker.kill()
          await thawed
          await worker.start()
        })
      case "replace":
        return withOne(from(workers, accident.worker), async (worker) => {
          const problems = await worker.stop()
          if (problems.length > 0) throw new Error(problems.join("\n"))
          await worker.start()
        })
      case "restart":
        return withOne([server], async () => {
          await server.kill(accident.signal)
          await sleep(accident.restMs)
          await server.start()
        })
      case "cut":
        return withOne([server], async () => void (await query(url, toCut(accident.share))))
    }
  }

  const kept = opened.move()
  return {
    url,
    effects,
    workers,
    cause,
    async countClients() {
      const [row] = await query<{ count: string }>(url, `SELECT count(*) FROM ${OTHERS}`)
      return Number(row?.count)
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}

const OTHERS = "pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"

const toCut = (share: number): string => `SELECT pg_terminate_backend(pid) FROM ${OTHERS} AND random() < ${share}`

/** The items in a circle, beginning at `index`. */
function from<Item>(items: readonly Item[], index: number): readonly Item[] {
  return [...items.slice(index), ...items.slice(0, index)]
}

/** Makes leases name another boot, so that workers of the test's one machine are judged by their lease alone. */
function toTrigger(elsewhere: FleetSiteOptions["elsewhere"]): string {
  const isElsewhere = { none: "false", half: "hashtext(NEW.key) % 2 = 0", all: "true" }[elsewhere]
  return `CREATE FUNCTION move_elsewhere() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      NEW.data = replace(NEW.data, '"bootId":"', '"bootId":"elsewhere-');
      RETURN NEW;
    END $$;
    CREATE TRIGGER elsewhere BEFORE INSERT OR UPDATE ON meanwhile.leases
      FOR EACH ROW WHEN (${isElsewhere}) EXECUTE FUNCTION move_elsewhere()`
}
