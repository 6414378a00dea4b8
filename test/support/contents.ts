import { existsSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { readRows } from "./stored.ts"

/** Tables that change all the time without any request: leases, queues and marks of commits. */
const RESTLESS: ReadonlySet<string> = new Set(["leases", "attachments", "queue", "version", "commit_marks"])

/** All rows and the names of all files below a Meanwhile's data folder, to be compared with those of another moment. */
export async function contentsOf(directory: string): Promise<unknown> {
  const data = join(directory, "data")
  const tables = await readRows(data)
  const rows = Object.fromEntries(Object.entries(tables).filter(([name]) => !RESTLESS.has(name)))
  return { rows, files: new Set(existsSync(data) ? readdirSync(data, { recursive: true, encoding: "utf8" }) : []) }
}
