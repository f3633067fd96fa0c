-- How often the work of a task failed its checks, since it was added or retried by a person.
ALTER TABLE tasks ADD COLUMN check_failures BIGINT NOT NULL DEFAULT 0;
-- How often it began a new conversation because the one before was full, since then.
ALTER TABLE tasks ADD COLUMN context_restarts BIGINT NOT NULL DEFAULT 0;
