CREATE TABLE projects (
  id TEXT PRIMARY KEY,
  common_dir TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  created_at BIGINT NOT NULL
);

-- What an author decided and where the task stands. Long texts live apart: a change of state rewrites the row.
CREATE TABLE tasks (
  id TEXT PRIMARY KEY,
  project TEXT NOT NULL REFERENCES projects (id),
  state TEXT NOT NULL,
  priority BIGINT NOT NULL,
  agent TEXT NOT NULL,          -- '' is the configured default
  open_deps BIGINT NOT NULL,    -- dependencies that are not done
  deferred BIGINT NOT NULL,     -- 1 until a claim has seen not_before pass
  not_before BIGINT,
  version BIGINT NOT NULL,
  fence BIGINT NOT NULL,        -- number of claims so far
  failures BIGINT NOT NULL,
  reason TEXT,
  remark TEXT,
  title TEXT NOT NULL,
  labels TEXT NOT NULL,         -- JSON list; task_labels finds by them
  scope TEXT NOT NULL,          -- JSON list of globs
  complexity TEXT,
  model TEXT,
  base TEXT,
  branch TEXT,
  limits TEXT NOT NULL,         -- JSON object
  retry TEXT NOT NULL,          -- JSON object
  meta TEXT NOT NULL,           -- JSON object
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  status TEXT GENERATED ALWAYS AS (
    CASE WHEN state <> 'queued' THEN state
         WHEN open_deps > 0 THEN 'blocked'
         WHEN deferred = 1 THEN 'scheduled'
         ELSE 'ready' END) STORED,
  scoped BIGINT GENERATED ALWAYS AS (CASE WHEN scope = '[]' THEN 0 ELSE 1 END) STORED
);
CREATE INDEX tasks_by_status ON tasks (status, priority DESC, id);
CREATE INDEX tasks_by_project ON tasks (project, status, priority DESC, id);
CREATE INDEX tasks_by_lane ON tasks (agent, project, scoped, priority DESC, id) WHERE status = 'ready';
CREATE INDEX tasks_due ON tasks (not_before) WHERE deferred = 1;
-- Without it SQLite looks for the due tasks of a project among all of its tasks.
CREATE INDEX tasks_due_by_project ON tasks (project, not_before) WHERE deferred = 1;

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

CREATE TABLE runs (
  id TEXT PRIMARY KEY,
  task TEXT NOT NULL,
  project TEXT NOT NULL,
  fence BIGINT NOT NULL,
  state TEXT NOT NULL,
  reason TEXT,
  detail TEXT,
  runner TEXT NOT NULL,
  agent TEXT NOT NULL,
  lease_until BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  ended_at BIGINT
);
CREATE INDEX runs_by_task ON runs (task, fence);
CREATE INDEX runs_live ON runs (lease_until) WHERE ended_at IS NULL;

-- Agents that take no work until a moment.
CREATE TABLE pauses (
  agent TEXT PRIMARY KEY,
  until BIGINT NOT NULL,
  why TEXT NOT NULL
);

{events}
CREATE INDEX events_by_task ON events (task) WHERE task IS NOT NULL;
