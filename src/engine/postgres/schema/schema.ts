/**
 * The first version of the store on PostgreSQL; later changes are in `schema-changes.ts`. Tables and columns are those
 * of the embedded store, so that the same code reads their rows: fields that filters name have columns, nested values
 * are JSON as text (a `jsonb` would refuse `\u0000` and forget the order of keys), and times are milliseconds. Ids and
 * keys are compared byte by byte. Rows that belong to a task are kept under its number and guarded by the lock of its
 * row; rows of a session or a group are guarded by the lock of its row.
 */
export const SCHEMA = `
CREATE SEQUENCE task_numbers;
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
CREATE TABLE runs (
  task bigint NOT NULL,
  run integer NOT NULL,
  record text NOT NULL,
  PRIMARY KEY (task, run)
);

CREATE TABLE events (
  task bigint NOT NULL,
  sequence bigint NOT NULL,
  run integer NOT NULL,
  at bigint NOT NULL,
  type text COLLATE "C" NOT NULL,
  body text,
  PRIMARY KEY (task, sequence)
);

CREATE TABLE steps (
  task bigint NOT NULL,
  run integer NOT NULL,
  key text COLLATE "C" NOT NULL,
  first_sequence bigint NOT NULL,
  on_crash text COLLATE "C" NOT NULL,
  started_at bigint NOT NULL,
  finished_at bigint,
  completion integer,
  result text,
  PRIMARY KEY (task, run, key)
);
CREATE INDEX steps_by_completion ON steps (task, run, completion) WHERE completion IS NOT NULL;

CREATE TABLE notices (
  task bigint NOT NULL,
  run integer NOT NULL,
  kind text COLLATE "C" NOT NULL,
  task_id text COLLATE "C" NOT NULL,
  workspace text COLLATE "C" NOT NULL,
  session text COLLATE "C",
  notify text COLLATE "C" NOT NULL,
  at bigint NOT NULL,
  state text COLLATE "C" NOT NULL,
  settled_at bigint,
  claimed_by_task text COLLATE "C",
  claimed_by_run integer,
  claimed_by_key text COLLATE "C",
  PRIMARY KEY (task, run, kind)
);
CREATE INDEX notices_by_workspace ON notices (workspace, at, task, run) WHERE settled_at IS NULL;
CREATE INDEX notices_by_session ON notices (session, at, task, run)
  WHERE settled_at IS NULL AND session IS NOT NULL;
CREATE INDEX notices_by_claimant ON notices (claimed_by_task, claimed_by_run, claimed_by_key)
  WHERE claimed_by_task IS NOT NULL;

CREATE TABLE waits (
  id text COLLATE "C" PRIMARY KEY,
  task bigint NOT NULL,
  task_id text COLLATE "C" NOT NULL,
  workspace text COLLATE "C" NOT NULL,
  run integer NOT NULL,
  opened_at bigint NOT NULL,
  state text COLLATE "C" NOT NULL,
  reason text COLLATE "C" NOT NULL,
  expires_at bigint,
  on_expiry text NOT NULL,
  answered_by text,
  answered_at bigint,
  answer text,
  question text NOT NULL
);
CREATE INDEX waits_by_task ON waits (task);
CREATE INDEX waits_open ON waits (workspace) WHERE state = 'open';

CREATE TABLE groups (
  id text COLLATE "C" PRIMARY KEY,
  workspace text COLLATE "C" NOT NULL,
  session text COLLATE "C",
  name text NOT NULL,
  join_when text NOT NULL,
  fail_fast smallint NOT NULL,
  report text COLLATE "C" NOT NULL,
  merge text COLLATE "C" NOT NULL,
  state text COLLATE "C" NOT NULL,
  created_at bigint NOT NULL,
  member_count integer NOT NULL
);
CREATE INDEX groups_by_session ON groups (session) WHERE session IS NOT NULL;
CREATE INDEX groups_unfinished ON groups (session, created_at) WHERE state IN ('open', 'sealed');
CREATE INDEX groups_gated ON groups (created_at) WHERE merge = 'human_gated';

CREATE TABLE arrivals (
  group_id text COLLATE "C" NOT NULL,
  task bigint NOT NULL,
  task_id text COLLATE "C" NOT NULL,
  run integer NOT NULL,
  status text COLLATE "C" NOT NULL,
  PRIMARY KEY (group_id, task)
);

CREATE SEQUENCE lease_fences;
CREATE TABLE leases (
  key text COLLATE "C" PRIMARY KEY,
  holder text COLLATE "C" NOT NULL,
  fence bigint NOT NULL,
  ttl_ms double precision NOT NULL,
  renewals bigint NOT NULL,
  renewed_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  data text NOT NULL
);

CREATE SEQUENCE session_numbers;
CREATE TABLE sessions (
  number bigint PRIMARY KEY,
  id text COLLATE "C" NOT NULL UNIQUE,
  workspace text COLLATE "C" NOT NULL,
  version bigint NOT NULL,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  message_count integer NOT NULL,
  data text NOT NULL
);
CREATE INDEX sessions_by_use ON sessions (workspace, updated_at DESC, number DESC);

CREATE TABLE messages (
  session bigint NOT NULL,
  position integer NOT NULL,
  at bigint NOT NULL,
  body text NOT NULL,
  PRIMARY KEY (session, position)
);

CREATE TABLE documents (
  workspace text COLLATE "C" NOT NULL,
  collection text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  version bigint NOT NULL,
  updated_at bigint NOT NULL,
  value text NOT NULL,
  PRIMARY KEY (workspace, collection, id)
);

CREATE SEQUENCE artifact_numbers;
CREATE TABLE artifacts (
  number bigint PRIMARY KEY DEFAULT nextval('artifact_numbers'),
  workspace text COLLATE "C" NOT NULL,
  hash text COLLATE "C" NOT NULL,
  media_type text NOT NULL,
  is_kept smallint NOT NULL,
  bytes bytea NOT NULL,
  UNIQUE (workspace, hash)
);
CREATE TABLE artifact_owners (
  task bigint NOT NULL,
  artifact bigint NOT NULL,
  PRIMARY KEY (task, artifact)
);
CREATE INDEX artifact_owners_by_artifact ON artifact_owners (artifact);

CREATE TABLE commit_marks (
  slot text COLLATE "C" PRIMARY KEY,
  number bigint NOT NULL,
  at timestamptz NOT NULL DEFAULT clock_timestamp()
) WITH (fillfactor = 50);
`
