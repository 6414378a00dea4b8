import pg from "pg"
import { expect, test } from "vitest"
import { eventually } from "../../../../test/support/eventually.ts"
import { openDisposable } from "../../../../test/support/postgres/disposable.ts"
import { startProxy } from "../../../../test/support/postgres/proxy.ts"
import { createPostgresEngine } from "../engine.ts"
import { createTestDatabase } from "../../../../test/support/postgres/server.ts"

interface Counts {
  readonly waiting: number
  readonly others: number
}

test.each([
  { parameter: "", most: 10 },
  { parameter: "?pool_size=4", most: 4 },
])(
  "with '$parameter' behind its URL an engine has at most $most connections, one that listens, and one that looks",
  async (kind) => {
    const { parameter, most } = kind
    await using place = await createTestDatabase()
    await using owner = await openDisposable({ url: place.url, poolSize: 1 })
    const role = `counted_${most}`
    // The server would refuse one more, which would be told.
    await owner.query(`CREATE ROLE ${role} LOGIN CONNECTION LIMIT ${most + 2}`)
    await owner.query(`GRANT USAGE ON SCHEMA meanwhile, meanwhile_queue TO ${role}`)
    await owner.query(`GRANT ALL ON ALL TABLES IN SCHEMA meanwhile, meanwhile_queue TO ${role}`)
    await owner.query(`GRANT ALL ON ALL SEQUENCES IN SCHEMA meanwhile, meanwhile_queue TO ${role}`)
    await using proxy = await startProxy(place.url)
    const lines: string[] = []
    const url = `${proxy.url.replace("postgres@", `${role}@`)}${parameter}`
    await using engine = await createPostgresEngine({ url, tell: (line) => lines.push(line) })
    let looks = 0
    proxy.onRequest = (data) => {
      if (data.includes("is_read_only")) looks++
      return "pass"
    }

    async function count(): Promise<Counts | undefined> {
      const [found] = await owner.query<Counts>(
        `SELECT count(*) FILTER (WHERE wait_event_type = 'Lock') AS waiting,
           count(*) FILTER (WHERE wait_event_type <> 'Lock') AS others
         FROM pg_stat_activity WHERE usename = '${role}'`,
      )
      return found
    }
    const holder = new pg.Client(place.url)
    await using opened = new AsyncDisposableStack()
    opened.defer(() => holder.end())
    await holder.connect()
    await holder.query("BEGIN; LOCK TABLE meanwhile.tasks")
    // More queries than connections. None is answered before the lock is released.
    const counts = Promise.all(Array.from({ length: 3 * most }, () => engine.store.countTasks({})))
    await eventually("all connections are used", async () => (await count())?.waiting === most)
    // A query that is not answered for long makes the engine probe the server, on a connection of its own.
    await eventually("it has looked whether the server is there", () => looks > 0)
    await eventually("only the one that listens is left beside them", async () => {
      const { waiting, others } = (await count()) ?? {}
      return waiting === most && others === 1
    })
    await holder.query("COMMIT")
    expect(await counts).toEqual(Array(3 * most).fill(0))
    expect(lines).toEqual([])
  },
)
