import type { Database, DatabaseOptions } from "../../../src/engine/postgres/connection/database.ts"
import { openDatabase } from "../../../src/engine/postgres/connection/open-database.ts"

/** A database that is closed at the end of the block that opened it. */
export async function openDisposable(options: DatabaseOptions): Promise<Database & AsyncDisposable> {
  const opened = await openDatabase(options)
  return { ...opened, [Symbol.asyncDispose]: () => opened.close() }
}
