import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"

export interface DurableCommit extends Disposable {
  /** Writes one small row and returns once it is on disk. */
  run(): void
  /** The same for so many rows in one commit. */
  runMany(count: number): void
}

/** One commit by bare `node:sqlite`, as durable as ours: WAL, `synchronous=FULL`. */
export function openDurableCommit(folder: string): DurableCommit {
  const database = new DatabaseSync(join(folder, "reference.db"))
  database.exec(`
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = FULL;
    CREATE TABLE fact (id INTEGER PRIMARY KEY, body TEXT NOT NULL);
  `)
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
