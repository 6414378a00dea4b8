import { readdirSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"

/** Who is alive: renewed all the time, whatever anybody asks for. */
const RESTLESS: ReadonlySet<string> = new Set(["leases", "attachments"])

/** All rows and the names of all files below a Meanwhile's data folder, to be compared with those of another moment. */
export function contentsOf(directory: string): unknown {
  const data = join(directory, "data")
  const database = new DatabaseSync(join(data, "store.sqlite"), { readOnly: true })
  try {
    const tables = database.prepare("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name").all()
    const names = tables.map(({ name }) => String(name)).filter((name) => !RESTLESS.has(name))
    const rows = Object.fromEntries(names.map((name) => [name, database.prepare(`SELECT * FROM "${name}"`).all()]))
    return { rows, files: new Set(readdirSync(data, { recursive: true, encoding: "utf8" })) }
  } finally {
    database.close()
  }
}
