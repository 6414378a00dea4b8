import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { openDatabase } from "../../../src/engine/embedded/open.ts"

let migrated: Promise<Buffer> | undefined

/**
 * Puts an empty store of this version at the path, unless there is a file, as opening it would. Its tables are made once
 * for each process of tests: that costs five times as much as the rest of opening a store.
 */
export async function createMigratedFile(path: string): Promise<void> {
  if (existsSync(path)) return
  const bytes = await (migrated ??= migrateOne())
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    writeFileSync(path, bytes, { mode: 0o600, flag: "wx" })
  } catch {
    // The product says why it cannot be made, or another process has just made it.
  }
}

async function migrateOne(): Promise<Buffer> {
  const folder = mkdtempSync(join(tmpdir(), "meanwhile-migrated-"))
  try {
    const path = join(folder, "store.sqlite")
    const database = await openDatabase({ path, synchronous: "normal" })
    // Closing folds the log into the file.
    database.close()
    return readFileSync(path)
  } finally {
    rmSync(folder, { recursive: true })
  }
}
