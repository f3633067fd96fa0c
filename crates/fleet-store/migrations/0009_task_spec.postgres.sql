-- A task has no NUL characters. `\\u0000` is a backslash and five others: chr(1), which no JSON text has, stands for its
-- backslashes meanwhile.
UPDATE tasks SET meta = replace(replace(replace(meta, '\\', chr(1)), '\u0000', ''), chr(1), '\\')
WHERE strpos(meta, '\u0000') > 0;

-- What was in columns and in the users' metadata, as one JSON object.
UPDATE tasks SET spec = json_build_object(
  'title', title, 'priority', priority, 'labels', labels::json, 'scope', scope::json, 'complexity', complexity,
  'agent', nullif(coalesce(asked_agent, agent), ''), 'model', model, 'base', base, 'branch', branch,
  'limits', limits::json, 'retry', retry::json, 'batch', batch,
  'read_only', read_only = 1, 'may_be_empty', may_be_empty = 1,
  'meta', m.entries - ARRAY['fleet.effort', 'fleet.args', 'fleet.profile', 'fleet.parent', 'fleet.project_agent',
    CASE WHEN m.entries ->> 'setup' = 'skip' THEN 'setup' ELSE 'fleet.effort' END],
  'tuning', json_build_object('effort', m.entries ->> 'fleet.effort',
    'args', CASE WHEN m.entries ->> 'fleet.args' ~ '^\s*\[.*\]\s*$' THEN (m.entries ->> 'fleet.args')::json ELSE '[]' END),
  'setup', CASE WHEN m.entries ->> 'setup' = 'skip' THEN 'skip' ELSE 'full' END,
  'profile', m.entries ->> 'fleet.profile',
  'on_behalf_of', (SELECT p.id FROM tasks p WHERE p.id = m.entries ->> 'fleet.parent'),
  'project_agent', CASE WHEN m.entries ->> 'fleet.project_agent' IN (agent, asked_agent)
    THEN m.entries ->> 'fleet.project_agent' END)::text
FROM (SELECT id AS task, meta::jsonb AS entries FROM tasks) AS m
WHERE m.task = tasks.id;
