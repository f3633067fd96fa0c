-- For keepers of the version before 0008.
DROP VIEW prompts;

-- What an author decided is one value. The columns beside it are for statements that look for tasks or compare them.
ALTER TABLE tasks ADD COLUMN spec TEXT NOT NULL DEFAULT '';  -- JSON object, without the description
{task_specs}

-- Keepers of the version before go on with their runs: of tasks that were there then they read labels, retry, meta,
-- complexity, model, base, read_only and may_be_empty. Nobody else does, and a later version drops them.
ALTER TABLE tasks RENAME COLUMN labels TO old_labels;
ALTER TABLE tasks RENAME COLUMN retry TO old_retry;
ALTER TABLE tasks RENAME COLUMN meta TO old_meta;
ALTER TABLE tasks ADD COLUMN labels TEXT;
ALTER TABLE tasks ADD COLUMN retry TEXT;
ALTER TABLE tasks ADD COLUMN meta TEXT;
UPDATE tasks SET labels = old_labels, retry = old_retry, meta = old_meta;
ALTER TABLE tasks DROP COLUMN old_labels;
ALTER TABLE tasks DROP COLUMN old_retry;
ALTER TABLE tasks DROP COLUMN old_meta;

-- They can add and edit no tasks any more, because their statements name this column: they would leave spec empty.
ALTER TABLE tasks RENAME COLUMN scoped TO has_scope;

-- A stage of a workflow that runs, or one of its copies, is a part everywhere.
ALTER TABLE stages RENAME TO parts;
