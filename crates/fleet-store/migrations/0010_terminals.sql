-- Agents in terminals. They take no slot, because they may wait for a person for days; so a runner without a free slot
-- looks for them alone.
ALTER TABLE tasks ADD COLUMN interactive BIGINT NOT NULL DEFAULT 0;  -- 1 if its agent runs in a terminal
ALTER TABLE runs ADD COLUMN interactive BIGINT NOT NULL DEFAULT 0;   -- as its task was when it was claimed
CREATE INDEX tasks_interactive ON tasks (priority DESC, id) WHERE status = 'ready' AND interactive = 1;
CREATE INDEX tasks_interactive_due ON tasks (due) WHERE deferred = 1 AND interactive = 1;
DROP INDEX tasks_by_lane;
CREATE INDEX tasks_by_lane ON tasks (agent, project, has_scope, interactive, priority DESC, id) WHERE status = 'ready';

-- What the agent does now, while it runs.
ALTER TABLE runs ADD COLUMN agent_state TEXT;
ALTER TABLE runs ADD COLUMN agent_state_since BIGINT;
ALTER TABLE runs ADD COLUMN agent_state_text TEXT;       -- what it asks
ALTER TABLE runs ADD COLUMN agent_state_evidence TEXT;   -- how that is known
