import pg from "pg"

/** What a server holds and has done so far. */
export interface Standing {
  readonly rows: number
  readonly bytes: number
  readonly logBytes: number
  readonly statements: number
  readonly transactions: number
  readonly notifications: number
}

/** With `pg_stat_statements` the server counts statements at once; its own statistics come some seconds later. */
export const COUNTING_SETTINGS = ["shared_preload_libraries=pg_stat_statements"]

/** Reads the counters on a connection of its own, which listens to notifications as any process of the store does. */
export interface Watch extends AsyncDisposable {
  read(): Promise<Standing>
}

export async function openWatch(url: string): Promise<Watch> {
  const client = new pg.Client({ connectionString: url, application_name: "watch" })
  await client.connect()
  let notifications = 0
  client.on("notification", () => void (notifications += 1))
  await client.query("LISTEN meanwhile_changes")
  await client.query("CREATE EXTENSION IF NOT EXISTS pg_stat_statements")
  let own = 0
  return {
    async read() {
      const tables = await client.query<{ name: string }>(TABLES)
      const counts = tables.rows.map(({ name }) => `(SELECT count(*) FROM ${name})`)
      const counted = await client.query<{ sum: string }>(`SELECT ${counts.join(" + ")} AS sum`)
      const { rows } = await client.query<Record<Size, string>>(SIZES)
      const [sizes] = rows
      const statements = Number(sizes?.statements) - own
      own += STATEMENTS_OF_A_LOOK
      return {
        rows: Number(counted.rows[0]?.sum),
        bytes: Number(sizes?.bytes),
        logBytes: Number(sizes?.log_bytes),
        statements,
        transactions: Number(sizes?.transactions),
        notifications,
      }
    },
    [Symbol.asyncDispose]: () => client.end(),
  }
}

type Size = "bytes" | "log_bytes" | "statements" | "transactions"

const STATEMENTS_OF_A_LOOK = 3
const OURS = "FROM pg_tables WHERE schemaname IN ('meanwhile', 'meanwhile_queue')"
const TABLES = `SELECT format('%I.%I', schemaname, tablename) AS name ${OURS}`
/** Transactions are counted by their numbers: only those that write have one. */
const SIZES = `SELECT
  (SELECT sum(pg_total_relation_size(format('%I.%I', schemaname, tablename)::regclass)) ${OURS}) AS bytes,
  pg_current_wal_lsn() - '0/0'::pg_lsn AS log_bytes,
  (SELECT sum(calls) FROM pg_stat_statements WHERE toplevel
    AND dbid = (SELECT oid FROM pg_database WHERE datname = current_database())) AS statements,
  pg_snapshot_xmax(pg_current_snapshot())::text AS transactions`
