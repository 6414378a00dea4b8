import { SCHEMA } from "./schema.ts"

/**
 * The second version: what runs print. Pieces of one run follow each other without a gap; the oldest go when it prints more
 * than is kept, and all of them with the task, whichever version removes it.
 */
const OUTPUT_SCHEMA = `
CREATE TABLE outputs (
  task bigint NOT NULL REFERENCES tasks (number) ON DELETE CASCADE,
  run integer NOT NULL,
  start bigint NOT NULL,
  stop bigint NOT NULL,
  bytes bytea NOT NULL,
  PRIMARY KEY (task, run, start)
);
`

/** The third version: which folder a task names, so that workers without that folder are not offered the task. Null in tasks that earlier versions of the program write. */
const FOLDER_OF_TASK = `ALTER TABLE tasks ADD COLUMN folder text COLLATE "C"`

interface Migration {
  readonly statements: string
  /**
   * The oldest version of the store that programs may be written for to go on beside this one, while a fleet is updated.
   * It stays where a change only adds, as a column that may be null; it rises where the writes of older programs would fail.
   */
  readonly usableFrom: number
}

/** Forward only. The version of a store is how many of these it has seen; an entry that was released never changes. */
export const MIGRATIONS: readonly Migration[] = [
  { statements: SCHEMA, usableFrom: 1 },
  { statements: OUTPUT_SCHEMA, usableFrom: 1 },
  { statements: FOLDER_OF_TASK, usableFrom: 1 },
]
