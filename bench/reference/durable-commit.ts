import { closeSync, fsyncSync, openSync, writeSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"

export interface DurableCommit extends Disposable {
  /** Writes one small row and returns once it is on disk. */
  run(): void
  /** The same for so many rows in one commit. */
  runMany(count: number): void
}

const PAGE_BYTES = 2_048
const FRAME_HEADER_BYTES = 24
/** The pages after which the log is folded into the file and written over. */
const LOG_PAGES = 4_000

/**
 * One commit by bare `node:sqlite`, as durable as ours and with what makes ours cheap: WAL, `synchronous=FULL`, small pages,
 * and a log that has its final length from the start, so that no commit waits until the file is made longer.
 */
export function openDurableCommit(folder: string): DurableCommit {
  const path = join(folder, "reference.db")
  const database = new DatabaseSync(path)
  database.exec(`
    PRAGMA page_size = ${PAGE_BYTES};
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = FULL;
    PRAGMA wal_autocheckpoint = ${LOG_PAGES};
    CREATE TABLE fact (id INTEGER PRIMARY KEY, body TEXT NOT NULL);
  `)
  extendLog(`${path}-wal`)
  const insert = database.prepare("INSERT INTO fact (body) VALUES (?)")
  const run = (): void => void insert.run("x".repeat(200))
  return {
    run,
    runMany(count) {
      database.exec("BEGIN IMMEDIATE")
      for (let row = 0; row < count; row++) run()
      database.exec("COMMIT")
    },
    [Symbol.dispose]: () => database.close(),
  }
}

/** Makes the log longer with zeros, which no reader takes for a page. */
function extendLog(path: string): void {
  const descriptor = openSync(path, "a")
  writeSync(descriptor, new Uint8Array(LOG_PAGES * (PAGE_BYTES + FRAME_HEADER_BYTES)))
  fsyncSync(descriptor)
  closeSync(descriptor)
}
