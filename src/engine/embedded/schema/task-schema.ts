/** Part of the first version of the store: tasks, and how they are found. */
export const TASK_SCHEMA = `CREATE TABLE tasks (
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
