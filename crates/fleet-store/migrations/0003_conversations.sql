-- What the agent's own counters stood at, as JSON: a later run that goes on with the conversation begins there.
ALTER TABLE runs ADD COLUMN meter TEXT;

-- What people say to an agent after its task was written.
CREATE TABLE prompts (
  task TEXT NOT NULL REFERENCES tasks (id),
  seq BIGINT NOT NULL,          -- counts from one in each task
  fence BIGINT NOT NULL,        -- claims of the task by then: which run was at work, if one was
  text TEXT NOT NULL,
  author TEXT NOT NULL,
  at BIGINT NOT NULL,
  taken_by TEXT,                -- the run that was given it last
  sent_at BIGINT,               -- when its agent had it
  PRIMARY KEY (task, seq)
);
CREATE INDEX prompts_unsent ON prompts (task, seq) WHERE sent_at IS NULL;
