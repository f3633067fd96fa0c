-- Writers commit side by side and a lower number may commit later, so `id` only orders what one reader sees;
-- `seq` is given afterwards by whoever reads, one at a time, to rows that are committed (see `postgres::sequence`).
-- Nobody reads a row without one, so a writer pays for one index and the rest comes with the number.
CREATE TABLE events (
  id BIGINT GENERATED ALWAYS AS IDENTITY,
  seq BIGINT,
  at BIGINT NOT NULL,
  project TEXT,
  task TEXT,
  run TEXT,
  kind TEXT NOT NULL,
  data TEXT NOT NULL
);
CREATE INDEX events_by_task ON events (task, seq) WHERE task IS NOT NULL AND seq IS NOT NULL;
CREATE INDEX events_unsequenced ON events (id) WHERE seq IS NULL;
CREATE UNIQUE INDEX events_by_seq ON events (seq) WHERE seq IS NOT NULL;
