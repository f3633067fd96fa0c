-- Written again at each move of the workflow, so what it says lies apart.
CREATE TABLE workflows (
  id TEXT PRIMARY KEY,
  project TEXT NOT NULL REFERENCES projects (id),
  name TEXT NOT NULL,
  state TEXT NOT NULL,
  priority BIGINT NOT NULL,     -- of its tasks
  base TEXT NOT NULL,           -- the commit that it starts from
  why TEXT,
  parent TEXT,                  -- as of tasks
  depth BIGINT NOT NULL,
  spawn_depth BIGINT NOT NULL,
  tally TEXT NOT NULL,          -- JSON object: how many parts stand where
  version BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  ended_at BIGINT
);
CREATE INDEX workflows_by_state ON workflows (state, id);
CREATE INDEX workflows_by_project ON workflows (project, state, id);

CREATE TABLE workflow_texts (
  workflow TEXT NOT NULL REFERENCES workflows (id),
  kind TEXT NOT NULL,           -- spec (JSON), source (as somebody wrote it)
  text TEXT NOT NULL,
  PRIMARY KEY (workflow, kind)
) {without_rowid};

-- The parts of workflows: each stage once, or as often as it has copies. A row belongs to one task at most, for ever.
CREATE TABLE stages (
  workflow TEXT NOT NULL REFERENCES workflows (id),
  part BIGINT NOT NULL,         -- its place, from 0
  stage BIGINT NOT NULL,        -- the place of its stage
  number BIGINT NOT NULL,       -- which copy, from 1
  name TEXT NOT NULL,
  item TEXT,                    -- the text that it is for
  state TEXT NOT NULL,
  skip TEXT,
  replaced BIGINT NOT NULL,     -- 1 when another has taken its place
  detail TEXT,                  -- a sentence about a bad end
  task TEXT,
  started_at BIGINT,
  ended_at BIGINT,
  PRIMARY KEY (workflow, part)
) {without_rowid};

ALTER TABLE tasks ADD COLUMN workflow TEXT;
ALTER TABLE tasks ADD COLUMN part BIGINT;
ALTER TABLE tasks ADD COLUMN may_be_empty BIGINT NOT NULL DEFAULT 0;
