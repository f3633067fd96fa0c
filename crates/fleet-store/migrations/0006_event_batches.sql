-- Batches of events that come from no piece of the agent's output (its standard error, notes of its keeper) are told
-- apart by their numbers: one that is sent again, because its answer was lost, is stored once.
ALTER TABLE runs ADD COLUMN batches BIGINT NOT NULL DEFAULT 0;
