CREATE TABLE projects (
  id TEXT PRIMARY KEY,
  common_dir TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  created_at BIGINT NOT NULL
);

-- What an author decided and where the task stands. Long texts live apart: a change of state rewrites the row. Only
-- what statements change in passing is generated: PostgreSQL reads the expression of such a column at every write.
CREATE TABLE tasks (
  id TEXT PRIMARY KEY,
  project TEXT NOT NULL REFERENCES projects (id),
  state TEXT NOT NULL,
  priority BIGINT NOT NULL,
  agent TEXT NOT NULL,          -- '' is the configured default
  open_deps BIGINT NOT NULL,    -- dependencies that are not done
  deferred BIGINT NOT NULL,     -- 1 until a claim has seen due pass
  not_before BIGINT,            -- what the author wished
  retry_at BIGINT,              -- the end of the wait after a failure
  due BIGINT,                   -- the later of the two
  version BIGINT NOT NULL,
  fence BIGINT NOT NULL,        -- number of claims so far
  failures BIGINT NOT NULL,
  reason TEXT,
  remark TEXT,
  title TEXT NOT NULL,
  labels TEXT NOT NULL,         -- JSON list; task_labels finds by them
  scope TEXT NOT NULL,          -- JSON list of globs
  scoped BIGINT NOT NULL DEFAULT 0,  -- 1 if there are any
  complexity TEXT,
  model TEXT,
  base TEXT,
  branch TEXT,
  limits TEXT NOT NULL,         -- JSON object
  retry TEXT NOT NULL,          -- JSON object
  meta TEXT NOT NULL,           -- JSON object
  batch TEXT,
  read_only BIGINT NOT NULL DEFAULT 0,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  status TEXT GENERATED ALWAYS AS (
    CASE WHEN state <> 'queued' THEN state
         WHEN open_deps > 0 THEN 'blocked'
         WHEN deferred = 1 THEN 'scheduled'
         ELSE 'ready' END) STORED
);
CREATE INDEX tasks_by_status ON tasks (status, priority DESC, id);
CREATE INDEX tasks_by_project ON tasks (project, status, priority DESC, id);
CREATE INDEX tasks_by_lane ON tasks (agent, project, scoped, priority DESC, id) WHERE status = 'ready';
CREATE INDEX tasks_due ON tasks (due) WHERE deferred = 1;
-- Without it SQLite looks for the due tasks of a project among all of its tasks.
CREATE INDEX tasks_due_by_project ON tasks (project, due) WHERE deferred = 1;
CREATE INDEX tasks_by_batch ON tasks (batch, status, priority DESC, id) WHERE batch IS NOT NULL;
-- Two tasks that are not over never work on the same branch.
CREATE UNIQUE INDEX tasks_by_branch ON tasks (project, branch)
  WHERE branch IS NOT NULL AND state IN ('queued', 'held', 'running', 'waiting');

CREATE TABLE task_descriptions (
  task TEXT PRIMARY KEY REFERENCES tasks (id),
  text TEXT NOT NULL
) {without_rowid};

CREATE TABLE task_labels (
  label TEXT NOT NULL,
  task TEXT NOT NULL REFERENCES tasks (id),
  PRIMARY KEY (label, task)
) {without_rowid};
CREATE INDEX task_labels_by_task ON task_labels (task);

CREATE TABLE deps (
  task TEXT NOT NULL REFERENCES tasks (id),
  on_task TEXT NOT NULL REFERENCES tasks (id),
  PRIMARY KEY (task, on_task)
) {without_rowid};
CREATE INDEX deps_by_on ON deps (on_task);

-- Written again with every renewal and every batch of events, so long texts live apart, and no index has a column
-- that such a write changes.
CREATE TABLE runs (
  id TEXT PRIMARY KEY,
  task TEXT NOT NULL,
  project TEXT NOT NULL,
  fence BIGINT NOT NULL,
  state TEXT NOT NULL,
  reason TEXT,
  detail TEXT,
  runner TEXT NOT NULL,
  place TEXT NOT NULL,          -- the host and home that run it
  agent TEXT NOT NULL,
  model TEXT,
  branch TEXT,
  base TEXT,
  workspace TEXT,
  keeper TEXT,                  -- which process keeps it, in the words of its place
  token_hash TEXT,              -- of the secret that lets its agent report
  session TEXT,
  input_tokens BIGINT NOT NULL DEFAULT 0,
  output_tokens BIGINT NOT NULL DEFAULT 0,
  micro_usd BIGINT NOT NULL DEFAULT 0,
  activity TEXT,
  percent BIGINT,
  decoded BIGINT NOT NULL DEFAULT 0,  -- bytes of the agent's output that have become events
  stop TEXT,                    -- JSON: somebody wants it stopped
  lease_until BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  started_at BIGINT,
  ended_at BIGINT
);
CREATE INDEX runs_by_task ON runs (task, fence);
CREATE INDEX runs_by_branch ON runs (branch, id) WHERE branch IS NOT NULL;
-- Live runs are few; those that ended are many and listed newest first. A claim pays only for the first index.
CREATE INDEX runs_live ON runs (place, id) WHERE ended_at IS NULL;
CREATE INDEX runs_ended_by_project ON runs (project, id) WHERE ended_at IS NOT NULL;
CREATE INDEX runs_ended_by_place ON runs (place, id) WHERE ended_at IS NOT NULL;
CREATE INDEX runs_ended_by_agent ON runs (agent, id) WHERE ended_at IS NOT NULL;

-- What the agent declared, and what was found in the end.
CREATE TABLE run_texts (
  run TEXT NOT NULL REFERENCES runs (id),
  kind TEXT NOT NULL,           -- report, result
  text TEXT NOT NULL,           -- JSON
  PRIMARY KEY (run, kind)
) {without_rowid};

-- Agents that take no work until a moment.
CREATE TABLE pauses (
  agent TEXT PRIMARY KEY,
  until BIGINT NOT NULL,
  why TEXT NOT NULL
);

{events}
