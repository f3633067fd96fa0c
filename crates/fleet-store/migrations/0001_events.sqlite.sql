-- One writer at a time commits, so the engine's own counter is in commit order and has no gaps.
CREATE TABLE events (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  at BIGINT NOT NULL,
  project TEXT,
  task TEXT,
  run TEXT,
  kind TEXT NOT NULL,
  data TEXT NOT NULL
);
CREATE INDEX events_by_task ON events (task) WHERE task IS NOT NULL;
