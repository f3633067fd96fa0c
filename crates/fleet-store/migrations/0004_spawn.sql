-- Who added a task: the run whose agent did, or nobody for people.
ALTER TABLE tasks ADD COLUMN parent TEXT;
-- How many runs stand between a person and the task.
ALTER TABLE tasks ADD COLUMN depth BIGINT NOT NULL DEFAULT 0;
-- How deep its descendants may be. Fixed when a person adds a task, and inherited: agents have no say in it.
ALTER TABLE tasks ADD COLUMN spawn_depth BIGINT NOT NULL DEFAULT 2;
