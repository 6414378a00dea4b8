/** Part of the first version of the store: tasks and their indexes. Later changes are in `schema-changes.ts`. */
const TASK_SCHEMA = `CREATE TABLE tasks (
  number INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  status TEXT NOT NULL,
  run INTEGER NOT NULL,
  fence INTEGER NOT NULL,
  last_sequence INTEGER NOT NULL,
  worker TEXT,
  available_at INTEGER,
  queued_at INTEGER NOT NULL,
  started_at INTEGER,
  ended_at INTEGER,
  ran_ms INTEGER NOT NULL,
  has_unused_result INTEGER NOT NULL,
  used_at INTEGER,
  stripped_at INTEGER,
  priority INTEGER NOT NULL,
  workspace TEXT NOT NULL,
  session TEXT,
  kind TEXT NOT NULL,
  plugin TEXT NOT NULL,
  tool TEXT NOT NULL,
  model TEXT,
  input_held_by TEXT,
  parent_task TEXT,
  parent_message TEXT,
  batch TEXT,
  group_id TEXT,
  lifetime TEXT NOT NULL,
  notify TEXT NOT NULL,
  depth INTEGER NOT NULL,
  trace_id TEXT,
  idempotency_key TEXT,
  asked_by_task TEXT,
  asked_by_run INTEGER,
  asked_by_key TEXT,
  timeout_ms INTEGER,
  limit_tokens INTEGER,
  limit_cost_micros INTEGER,
  limit_output_bytes INTEGER,
  created_at INTEGER NOT NULL,
  tokens INTEGER NOT NULL,
  cost_micros INTEGER NOT NULL,
  resume_count INTEGER NOT NULL,
  retrieved_at INTEGER,
  title TEXT NOT NULL,
  progress TEXT,
  state TEXT,
  patch TEXT,
  metadata TEXT,
  input TEXT
);
CREATE INDEX tasks_by_workspace ON tasks (workspace, status);
CREATE INDEX tasks_by_worker ON tasks (worker) WHERE worker IS NOT NULL;
CREATE INDEX tasks_by_session ON tasks (session) WHERE session IS NOT NULL;
CREATE INDEX tasks_by_parent ON tasks (parent_task) WHERE parent_task IS NOT NULL;
CREATE INDEX tasks_by_group ON tasks (group_id) WHERE group_id IS NOT NULL;
CREATE INDEX tasks_by_batch ON tasks (batch) WHERE batch IS NOT NULL;
CREATE INDEX tasks_by_input_holder ON tasks (input_held_by) WHERE input_held_by IS NOT NULL;
CREATE UNIQUE INDEX tasks_by_idempotency_key ON tasks (workspace, idempotency_key) WHERE idempotency_key IS NOT NULL;
CREATE UNIQUE INDEX tasks_by_asking_step ON tasks (asked_by_task, asked_by_run, asked_by_key)
  WHERE asked_by_task IS NOT NULL;
CREATE INDEX tasks_queue
  ON tasks (plugin, priority DESC, queued_at, number, available_at, input_held_by, session, model, workspace, kind)
  WHERE status = 'queued';
CREATE INDEX tasks_delayed ON tasks (available_at) WHERE status = 'queued' AND available_at > queued_at;
CREATE INDEX tasks_by_use ON tasks (used_at) WHERE used_at IS NOT NULL;
CREATE INDEX tasks_to_strip ON tasks (used_at) WHERE used_at IS NOT NULL AND stripped_at IS NULL;
CREATE INDEX tasks_to_remove ON tasks (used_at) WHERE used_at IS NOT NULL AND session IS NULL;
`

/**
 * The first version of the store; later changes are in `schema-changes.ts`. Tasks have a number that only grows. Rows
 * that belong to a task are keyed by that number, so that tasks made together lie together on disk. Fields that filters
 * name have columns, nested values are JSON, and values that may be large come last in their row. Foreign keys are
 * declared for the integrity check and not enforced: the operations delete dependent rows themselves.
 */
export const SCHEMA = `
${TASK_SCHEMA}
CREATE TABLE large_inputs (
  task INTEGER PRIMARY KEY REFERENCES tasks (number),
  metadata TEXT NOT NULL,
  input TEXT NOT NULL
);

CREATE TABLE runs (
  task INTEGER NOT NULL REFERENCES tasks (number),
  run INTEGER NOT NULL,
  record TEXT NOT NULL,
  PRIMARY KEY (task, run)
) WITHOUT ROWID;

CREATE TABLE events (
  task INTEGER NOT NULL REFERENCES tasks (number),
  sequence INTEGER NOT NULL,
  run INTEGER NOT NULL,
  at INTEGER NOT NULL,
  type TEXT NOT NULL,
  body TEXT,
  PRIMARY KEY (task, sequence)
) WITHOUT ROWID;

CREATE TABLE steps (
  task INTEGER NOT NULL REFERENCES tasks (number),
  run INTEGER NOT NULL,
  key TEXT NOT NULL,
  on_crash TEXT NOT NULL,
  started_at INTEGER NOT NULL,
  finished_at INTEGER,
  completion INTEGER,
  result TEXT,
  PRIMARY KEY (task, run, key)
);
CREATE UNIQUE INDEX steps_by_completion ON steps (task, run, completion) WHERE completion IS NOT NULL;

CREATE TABLE notices (
  task INTEGER NOT NULL REFERENCES tasks (number),
  run INTEGER NOT NULL,
  kind TEXT NOT NULL,
  task_id TEXT NOT NULL,
  workspace TEXT NOT NULL,
  session TEXT,
  notify TEXT NOT NULL,
  at INTEGER NOT NULL,
  state TEXT NOT NULL,
  settled_at INTEGER,
  claimed_by_task TEXT,
  claimed_by_run INTEGER,
  claimed_by_key TEXT,
  PRIMARY KEY (task, run, kind)
) WITHOUT ROWID;
CREATE INDEX notices_by_workspace ON notices (workspace, at) WHERE settled_at IS NULL;
CREATE INDEX notices_by_session ON notices (session, at) WHERE settled_at IS NULL AND session IS NOT NULL;

CREATE TABLE waits (
  id TEXT PRIMARY KEY,
  task INTEGER NOT NULL REFERENCES tasks (number),
  task_id TEXT NOT NULL,
  workspace TEXT NOT NULL,
  run INTEGER NOT NULL,
  opened_at INTEGER NOT NULL,
  state TEXT NOT NULL,
  reason TEXT NOT NULL,
  expires_at INTEGER,
  on_expiry TEXT NOT NULL,
  answered_by TEXT,
  answered_at INTEGER,
  answer TEXT,
  question TEXT NOT NULL
);
CREATE INDEX waits_by_task ON waits (task);
CREATE INDEX waits_open ON waits (workspace) WHERE state = 'open';

CREATE TABLE groups (
  id TEXT PRIMARY KEY,
  workspace TEXT NOT NULL,
  session TEXT,
  name TEXT NOT NULL,
  join_when TEXT NOT NULL,
  fail_fast INTEGER NOT NULL,
  report TEXT NOT NULL,
  merge TEXT NOT NULL,
  state TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  member_count INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX groups_by_session ON groups (session) WHERE session IS NOT NULL;

CREATE TABLE arrivals (
  group_id TEXT NOT NULL REFERENCES groups (id),
  task INTEGER NOT NULL REFERENCES tasks (number),
  task_id TEXT NOT NULL,
  run INTEGER NOT NULL,
  status TEXT NOT NULL,
  PRIMARY KEY (group_id, task)
) WITHOUT ROWID;

CREATE TABLE leases (
  key TEXT PRIMARY KEY,
  holder TEXT NOT NULL,
  fence INTEGER NOT NULL,
  ttl_ms INTEGER NOT NULL,
  renewals INTEGER NOT NULL,
  data TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE last_lease_fence (only INTEGER PRIMARY KEY CHECK (only = 1), fence INTEGER NOT NULL);
INSERT INTO last_lease_fence VALUES (1, 0);

CREATE TABLE sessions (
  number INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  workspace TEXT NOT NULL,
  version INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  message_count INTEGER NOT NULL,
  data TEXT NOT NULL
);
CREATE TABLE messages (
  session INTEGER NOT NULL REFERENCES sessions (number),
  position INTEGER NOT NULL,
  at INTEGER NOT NULL,
  body TEXT NOT NULL,
  PRIMARY KEY (session, position)
) WITHOUT ROWID;

CREATE TABLE documents (
  workspace TEXT NOT NULL,
  collection TEXT NOT NULL,
  id TEXT NOT NULL,
  version INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY (workspace, collection, id)
) WITHOUT ROWID;

CREATE TABLE artifacts (
  number INTEGER PRIMARY KEY,
  workspace TEXT NOT NULL,
  hash TEXT NOT NULL,
  media_type TEXT NOT NULL,
  is_kept INTEGER NOT NULL,
  bytes BLOB NOT NULL,
  UNIQUE (workspace, hash)
);
CREATE TABLE artifact_owners (
  task INTEGER NOT NULL REFERENCES tasks (number),
  artifact INTEGER NOT NULL REFERENCES artifacts (number),
  PRIMARY KEY (task, artifact)
) WITHOUT ROWID;
CREATE INDEX artifact_owners_by_artifact ON artifact_owners (artifact);

CREATE TABLE attachments (
  id TEXT PRIMARY KEY,
  opened_at INTEGER NOT NULL,
  data TEXT NOT NULL
) WITHOUT ROWID;
`
