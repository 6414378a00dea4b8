import { SCHEMA } from "./schema.ts"

/**
 * The second version: the output of runs. The pieces of a run follow each other without a gap. The oldest are deleted
 * when the run prints more than is kept, and all of them with the task, whichever version of the program removes it.
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

/**
 * The third version: the folder that a task names, so that workers without that folder are not offered the task. Null
 * in tasks that earlier versions of the program write.
 */
const FOLDER_OF_TASK = `ALTER TABLE tasks ADD COLUMN folder text COLLATE "C"`

/**
 * The fourth version: whether a task has anything below it, so that the end of one that has not looks for nothing.
 * Earlier versions of the program do not note it: what they start below a task is stopped by the look of its worker.
 */
const CHILDREN_OF_TASK = `
ALTER TABLE tasks ADD COLUMN has_children smallint NOT NULL DEFAULT 0;
UPDATE tasks SET has_children = 1 WHERE id IN (SELECT parent_task FROM tasks WHERE parent_task IS NOT NULL);
`

/**
 * The fourth version, too: where the output of a run begins anew because a later claim has begun the run anew. Earlier
 * versions of the program show that output as one, and delete it with the task.
 */
const OUTPUT_RESTARTS = `
CREATE TABLE output_restarts (
  task bigint NOT NULL REFERENCES tasks (number) ON DELETE CASCADE,
  run integer NOT NULL,
  fence bigint NOT NULL,
  start bigint NOT NULL,
  PRIMARY KEY (task, run, fence)
);
`

/**
 * How data name the session above: they begin with name, model and parent. Not by a cast to JSON, which refuses data that
 * hold `\u0000` or half a character.
 */
const PARENT_IN_DATA = String.raw`'^\{"name":"(?:[^"\\]|\\.)*","model":"(?:[^"\\]|\\.)*","parent":"([^"\\]+)"'`

/**
 * The fifth version: indexes find the sessions below another, sessions by their metadata, and a session's tasks by the time
 * they ended. Earlier versions of the program note a session's parent in its data alone, where a trigger finds it.
 */
const SESSIONS_FOUND = `
ALTER TABLE sessions ADD COLUMN parent text COLLATE "C", ADD COLUMN title text,
  ADD COLUMN metadata text NOT NULL DEFAULT '{}';
UPDATE sessions SET parent = substring(data FROM ${PARENT_IN_DATA}) WHERE data ~ ${PARENT_IN_DATA};
CREATE INDEX sessions_by_parent ON sessions (parent) WHERE parent IS NOT NULL;
CREATE FUNCTION note_parent() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.parent := substring(NEW.data FROM ${PARENT_IN_DATA});
  RETURN NEW;
END $$;
CREATE TRIGGER sessions_below BEFORE INSERT ON sessions
  FOR EACH ROW WHEN (NEW.parent IS NULL) EXECUTE FUNCTION note_parent();

CREATE TABLE session_metadata (
  workspace text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL,
  value text COLLATE "C" NOT NULL,
  session bigint NOT NULL REFERENCES sessions (number) ON DELETE CASCADE,
  PRIMARY KEY (workspace, key, value, session)
);
CREATE INDEX session_metadata_by_session ON session_metadata (session);

CREATE INDEX tasks_by_end ON tasks (session, ended_at)
  WHERE session IS NOT NULL AND ended_at IS NOT NULL AND kind <> 'turn';
`

interface Migration {
  readonly statements: string
  /**
   * The oldest version of the store whose programs may go on beside this one, while a fleet is updated. It stays the
   * same if a change only adds, such as a column that may be null. It rises if the writes of older programs would fail.
   */
  readonly usableFrom: number
}

/** Forward only. The version of a store is the number of entries applied to it; an entry that was released never changes. */
export const MIGRATIONS: readonly Migration[] = [
  { statements: SCHEMA, usableFrom: 1 },
  { statements: OUTPUT_SCHEMA, usableFrom: 1 },
  { statements: FOLDER_OF_TASK, usableFrom: 1 },
  { statements: CHILDREN_OF_TASK + OUTPUT_RESTARTS, usableFrom: 1 },
  { statements: SESSIONS_FOUND, usableFrom: 1 },
]
