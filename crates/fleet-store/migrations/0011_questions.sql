-- Questions of agents to people are messages, too, and so are the answers.
ALTER TABLE messages ADD COLUMN question TEXT;      -- of a question: JSON with options, default, the answer
ALTER TABLE messages ADD COLUMN default_at BIGINT;  -- of an open question: when its default answers
ALTER TABLE messages ADD COLUMN reply_to BIGINT;    -- of an answer: the number of its question
CREATE INDEX messages_questions ON messages (stored_at) WHERE kind = 'question' AND seen_at IS NULL;
CREATE INDEX messages_defaults ON messages (default_at) WHERE default_at IS NOT NULL AND seen_at IS NULL;

-- What agents had asked before that is in the results of their runs.
INSERT INTO messages (task, seq, kind, live, fence, text, sender, stored_at, question)
  SELECT t.id, coalesce((SELECT max(m.seq) FROM messages m WHERE m.task = t.id), 0) + 1, 'question', 0, t.fence,
    coalesce(nullif({summary}, ''), 'It ended with a question.'), r.id, coalesce(r.ended_at, t.updated_at), '{"parked":true}'
  FROM tasks t JOIN runs r ON r.task = t.id AND r.fence = t.fence
    LEFT JOIN run_texts x ON x.run = r.id AND x.kind = 'result'
  WHERE t.state = 'waiting';
