import { SCHEMA } from "./schema.ts"

/** The second version: an index lists conversations by their last use. */
export const SESSIONS_BY_USE = "CREATE INDEX sessions_by_use ON sessions (workspace, updated_at DESC, number DESC)"

/**
 * The third version: a commit writes fewer pages. Conversations are indexed by the minute of their last change and
 * sorted within it, because an index by the exact time would change with everything that is written. A change of a
 * task's status changes one index. Steps lie in one tree; the number of the event that first told of a step keeps their
 * order. A message's key is one number, its session's number times 2^32 plus its position: such a tree grows at its end
 * without moving what lies before.
 */
const FEWER_PAGES = `
DROP INDEX sessions_by_use;
ALTER TABLE sessions ADD COLUMN updated_minute INTEGER NOT NULL DEFAULT 0;
UPDATE sessions SET updated_minute = updated_at / 60000;
CREATE INDEX sessions_by_minute ON sessions (workspace, updated_minute DESC);

DROP INDEX tasks_by_workspace;
DROP INDEX tasks_by_worker;
DROP INDEX tasks_by_use;
CREATE INDEX tasks_by_status ON tasks (status, workspace);
CREATE INDEX tasks_stripped ON tasks (used_at) WHERE used_at IS NOT NULL AND stripped_at IS NOT NULL;

DROP INDEX steps_by_completion;
ALTER TABLE steps RENAME TO earlier_steps;
CREATE TABLE steps (
  task INTEGER NOT NULL REFERENCES tasks (number),
  run INTEGER NOT NULL,
  key TEXT NOT NULL,
  first_sequence INTEGER NOT NULL,
  on_crash TEXT NOT NULL,
  started_at INTEGER NOT NULL,
  finished_at INTEGER,
  completion INTEGER,
  result TEXT,
  PRIMARY KEY (task, run, key)
) WITHOUT ROWID;
INSERT INTO steps SELECT task, run, key, row_number() OVER (PARTITION BY task, run ORDER BY rowid), on_crash, started_at,
  finished_at, completion, result FROM earlier_steps;
DROP TABLE earlier_steps;

ALTER TABLE messages RENAME TO earlier_messages;
CREATE TABLE messages (
  place INTEGER PRIMARY KEY,
  at INTEGER NOT NULL,
  body TEXT NOT NULL
);
INSERT INTO messages SELECT session << 32 | position, at, body FROM earlier_messages ORDER BY session, position;
DROP TABLE earlier_messages;
`

/** The fourth version: an index finds the notices that a step has claimed. */
const NOTICES_BY_CLAIMANT = `CREATE INDEX notices_by_claimant
  ON notices (claimed_by_task, claimed_by_run, claimed_by_key) WHERE claimed_by_task IS NOT NULL`

/** The fifth version: indexes find the groups that may still need something among all groups. */
const GROUPS_TO_TEND = `
CREATE INDEX groups_unfinished ON groups (session, created_at) WHERE state IN ('open', 'sealed');
CREATE INDEX groups_gated ON groups (created_at) WHERE merge = 'human_gated';
`

/**
 * The sixth version: events, too, lie in a tree that grows at its end. An event's key is its task's number times 2^32
 * plus its sequence.
 */
const EVENTS_IN_ORDER = `
ALTER TABLE events RENAME TO earlier_events;
CREATE TABLE events (
  place INTEGER PRIMARY KEY,
  run INTEGER NOT NULL,
  at INTEGER NOT NULL,
  type TEXT NOT NULL,
  body TEXT
);
INSERT INTO events SELECT task << 32 | sequence, run, at, type, body FROM earlier_events ORDER BY task, sequence;
DROP TABLE earlier_events;
`

/** The seventh version: the folder that a task names, so that workers without that folder are not offered the task. */
const FOLDER_OF_TASK = "ALTER TABLE tasks ADD COLUMN folder TEXT"

/** The eighth version: whether a task has anything below it, so that the end of one that has not looks for nothing. */
const CHILDREN_OF_TASK = `
ALTER TABLE tasks ADD COLUMN has_children INTEGER NOT NULL DEFAULT 0;
UPDATE tasks SET has_children = 1 WHERE id IN (SELECT parent_task FROM tasks WHERE parent_task IS NOT NULL);
`

/** The ninth version: an id that no other store has, so that one whose content was replaced is not taken for itself. */
const ID_OF_STORE = `
CREATE TABLE store_id (only INTEGER PRIMARY KEY CHECK (only = 1), id TEXT NOT NULL);
INSERT INTO store_id VALUES (1, lower(hex(randomblob(16))));
`

/**
 * The tenth version: indexes find the sessions below another, sessions by their metadata, and tasks by the time they ended.
 * The rows by which sessions are found follow the session's own row, whichever version of the program writes that. A program
 * of an earlier version, which may have the store open, notes a session's parent in its data alone.
 */
const SESSIONS_FOUND = `
ALTER TABLE sessions ADD COLUMN parent TEXT;
ALTER TABLE sessions ADD COLUMN title TEXT;
ALTER TABLE sessions ADD COLUMN metadata TEXT NOT NULL DEFAULT '{}';
UPDATE sessions SET parent = data ->> 'parent' WHERE json_type(data, '$.parent') = 'text';
CREATE INDEX sessions_by_parent ON sessions (parent) WHERE parent IS NOT NULL;
DROP INDEX sessions_by_minute;
CREATE INDEX sessions_by_minute ON sessions (workspace, updated_minute DESC, parent);
CREATE TRIGGER sessions_below AFTER INSERT ON sessions
  WHEN NEW.parent IS NULL AND json_type(NEW.data, '$.parent') = 'text'
BEGIN
  UPDATE sessions SET parent = NEW.data ->> 'parent' WHERE number = NEW.number;
END;

CREATE TABLE session_metadata (
  workspace TEXT NOT NULL,
  key TEXT NOT NULL,
  value TEXT NOT NULL,
  updated_minute INTEGER NOT NULL,
  session INTEGER NOT NULL REFERENCES sessions (number),
  PRIMARY KEY (workspace, key, value, updated_minute DESC, session)
) WITHOUT ROWID;
CREATE TRIGGER sessions_labelled AFTER INSERT ON sessions WHEN NEW.metadata <> '{}' BEGIN
  INSERT INTO session_metadata SELECT NEW.workspace, key, value, NEW.updated_minute, NEW.number FROM json_each(NEW.metadata);
END;
CREATE TRIGGER sessions_relabelled AFTER UPDATE OF updated_minute, metadata ON sessions
  WHEN OLD.metadata <> '{}' OR NEW.metadata <> '{}'
BEGIN
  DELETE FROM session_metadata WHERE (workspace, key, value, updated_minute, session) IN
    (SELECT OLD.workspace, key, value, OLD.updated_minute, OLD.number FROM json_each(OLD.metadata));
  INSERT INTO session_metadata SELECT NEW.workspace, key, value, NEW.updated_minute, NEW.number FROM json_each(NEW.metadata);
END;
CREATE TRIGGER sessions_removed AFTER DELETE ON sessions WHEN OLD.metadata <> '{}' BEGIN
  DELETE FROM session_metadata WHERE (workspace, key, value, updated_minute, session) IN
    (SELECT OLD.workspace, key, value, OLD.updated_minute, OLD.number FROM json_each(OLD.metadata));
END;

CREATE INDEX tasks_by_end ON tasks (workspace, ended_at) WHERE ended_at IS NOT NULL AND kind <> 'turn';
`

/** Forward only. The version of a store is the number of entries applied to it; an entry that was released never changes. */
export const MIGRATIONS: readonly string[] = [
  SCHEMA,
  SESSIONS_BY_USE,
  FEWER_PAGES,
  NOTICES_BY_CLAIMANT,
  GROUPS_TO_TEND,
  EVENTS_IN_ORDER,
  FOLDER_OF_TASK,
  CHILDREN_OF_TASK,
  ID_OF_STORE,
  SESSIONS_FOUND,
]
