/** Part of the first version of the store: tasks, and how they are found. */
export const TASK_SCHEMA = `CREATE SEQUENCE task_numbers;
CREATE TABLE tasks (
  number bigint PRIMARY KEY,
  id text COLLATE "C" NOT NULL UNIQUE,
  status text COLLATE "C" NOT NULL,
  run integer NOT NULL,
  fence bigint NOT NULL,
  last_sequence bigint NOT NULL,
  worker text COLLATE "C",
  available_at bigint,
  queued_at bigint NOT NULL,
  started_at bigint,
  ended_at bigint,
  ran_ms bigint NOT NULL,
  has_unused_result smallint NOT NULL DEFAULT 0,
  used_at bigint,
  stripped_at bigint,
  priority integer NOT NULL,
  workspace text COLLATE "C" NOT NULL,
  session text COLLATE "C",
  kind text COLLATE "C" NOT NULL,
  plugin text COLLATE "C" NOT NULL,
  tool text COLLATE "C" NOT NULL,
  model text COLLATE "C",
  input_held_by text COLLATE "C",
  parent_task text COLLATE "C",
  parent_message text COLLATE "C",
  batch text COLLATE "C",
  group_id text COLLATE "C",
  lifetime text COLLATE "C" NOT NULL,
  notify text COLLATE "C" NOT NULL,
  depth integer NOT NULL,
  trace_id text COLLATE "C",
  idempotency_key text COLLATE "C",
  asked_by_task text COLLATE "C",
  asked_by_run integer,
  asked_by_key text COLLATE "C",
  timeout_ms double precision,
  limit_tokens double precision,
  limit_cost_micros double precision,
  limit_output_bytes double precision,
  created_at bigint NOT NULL,
  tokens double precision NOT NULL,
  cost_micros double precision NOT NULL,
  resume_count integer NOT NULL,
  retrieved_at bigint,
  title text NOT NULL,
  progress text,
  state text,
  patch text,
  metadata text,
  input text
);
CREATE INDEX tasks_by_workspace ON tasks (workspace, status, kind, (-number));
CREATE INDEX tasks_by_session ON tasks (session, status, kind, (-number)) WHERE session IS NOT NULL;
CREATE INDEX tasks_by_parent ON tasks (parent_task, (-number)) WHERE parent_task IS NOT NULL;
CREATE INDEX tasks_by_group ON tasks (group_id, (-number)) WHERE group_id IS NOT NULL;
CREATE INDEX tasks_by_batch ON tasks (batch, (-number)) WHERE batch IS NOT NULL;
CREATE INDEX tasks_by_worker ON tasks (worker) WHERE worker IS NOT NULL;
CREATE INDEX tasks_claimed ON tasks ((-number)) WHERE worker IS NOT NULL;
CREATE INDEX tasks_by_input_holder ON tasks (input_held_by) WHERE input_held_by IS NOT NULL;
CREATE UNIQUE INDEX tasks_by_idempotency_key ON tasks (workspace, idempotency_key) WHERE idempotency_key IS NOT NULL;
CREATE UNIQUE INDEX tasks_by_asking_step ON tasks (asked_by_task, asked_by_run, asked_by_key)
  WHERE asked_by_task IS NOT NULL;
CREATE INDEX tasks_queue ON tasks (priority DESC, queued_at, number) WHERE status = 'queued';
CREATE INDEX tasks_queue_of_plugin ON tasks (plugin, priority DESC, queued_at, number) WHERE status = 'queued';
CREATE INDEX tasks_delayed ON tasks (available_at) WHERE status = 'queued' AND available_at > queued_at;
CREATE INDEX tasks_to_strip ON tasks (used_at, number) WHERE used_at IS NOT NULL AND stripped_at IS NULL;
CREATE INDEX tasks_to_remove ON tasks (used_at, number) WHERE used_at IS NOT NULL AND session IS NULL;
CREATE INDEX tasks_stripped ON tasks (used_at, number) WHERE used_at IS NOT NULL AND stripped_at IS NOT NULL;
`
