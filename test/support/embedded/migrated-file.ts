import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { openDatabase } from "../../../src/engine/embedded/open.ts"

let migrated: Promise<Buffer> | undefined

/**
 * Puts an empty store of this version at the path, unless a file exists there. The tables are made once for each process of
 * tests, because making them costs five times as much as the rest of opening a store.
 */
export async function createMigratedFile(path: string): Promise<void> {
  if (existsSync(path)) return
  const bytes = await (migrated ??= migrateOne())
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    writeFileSync(path, bytes, { mode: 0o600, flag: "wx" })
  } catch {
    // Another process has just made the file; or it cannot be made, and opening the store says why.
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
