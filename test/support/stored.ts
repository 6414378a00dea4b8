import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import pg from "pg"
import { databaseOf } from "./test-engine.ts"

type Rows = readonly Readonly<Record<string, unknown>>[]

/** All rows of the store of a folder, by table. */
export async function readRows(folder: string): Promise<Readonly<Record<string, Rows>>> {
  const url = await databaseOf(folder)
  return url === undefined ? readFileRows(folder) : readDatabaseRows(url)
}

/** All bytes that the store of a folder has on disk; for a database, the content of its tables. */
export async function readBytes(folder: string): Promise<string> {
  const url = await databaseOf(folder)
  if (url !== undefined) return JSON.stringify(await readDatabaseRows(url), toReadable)
  const files = readdirSync(folder).filter((name) => name.startsWith("store.sqlite"))
  return files.map((name) => readFileSync(join(folder, name), "latin1")).join("\n")
}

function readFileRows(folder: string): Readonly<Record<string, Rows>> {
  const database = new DatabaseSync(join(folder, "store.sqlite"), { readOnly: true })
  try {
    const tables = database.prepare("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name").all()
    return Object.fromEntries(
      tables.map(({ name }) => [String(name), database.prepare(`SELECT * FROM "${String(name)}"`).all()]),
    )
  } finally {
    database.close()
  }
}

/** All tables of the database, including those of the queue. */
async function readDatabaseRows(url: string): Promise<Readonly<Record<string, Rows>>> {
  const client = new pg.Client(url)
  await client.connect()
  try {
    const { rows } = await client.query<{ schema: string; name: string }>(
      `SELECT schemaname AS schema, tablename AS name FROM pg_tables
       WHERE schemaname NOT IN ('pg_catalog', 'information_schema') ORDER BY 1, 2`,
    )
    const tables: Record<string, Rows> = {}
    for (const { schema, name } of rows) {
      tables[name] = (await client.query<Record<string, unknown>>(`SELECT * FROM "${schema}"."${name}"`)).rows
    }
    return tables
  } finally {
    await client.end()
  }
}

function toReadable(_key: string, value: unknown): unknown {
  const isBytes = typeof value === "object" && value !== null && "type" in value && value.type === "Buffer"
  return isBytes && "data" in value ? Buffer.from(value.data as number[]).toString("latin1") : value
}
