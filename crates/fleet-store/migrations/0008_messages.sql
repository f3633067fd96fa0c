-- What is said to agents after their tasks were written: kept first, then delivered, with a receipt for each step.
CREATE TABLE messages (
  task TEXT NOT NULL REFERENCES tasks (id),
  seq BIGINT NOT NULL,                      -- counts from one in each task
  kind TEXT NOT NULL DEFAULT 'prompt',
  live BIGINT NOT NULL DEFAULT 1,           -- whether an agent at work is told, not only the next run
  fence BIGINT NOT NULL,                    -- claims of the task by then: which run was at work, if one was
  text TEXT NOT NULL,
  sender TEXT NOT NULL,
  stored_at BIGINT NOT NULL,
  expires_at BIGINT,                        -- nobody is told after this
  taken_by TEXT,                            -- the run that was given it last, to deliver it
  delivered_at BIGINT,                      -- when the agent of that run was given it
  seen_at BIGINT,                           -- when that agent showed that it has it
  PRIMARY KEY (task, seq)
);
CREATE INDEX messages_unseen ON messages (task, seq) WHERE seen_at IS NULL;
INSERT INTO messages (task, seq, fence, text, sender, stored_at, taken_by, delivered_at, seen_at)
  SELECT task, seq, fence, text, author, at, taken_by, sent_at, sent_at FROM prompts;
DROP TABLE prompts;

-- Keepers of the version before go on with their runs: each renewal of a lease counts the prompts that wait. One of
-- theirs who cannot take them from here leaves them to the next run.
CREATE VIEW prompts AS
  SELECT task, seq, fence, text, sender AS author, stored_at AS at, taken_by, seen_at AS sent_at
  FROM messages WHERE kind = 'prompt';
