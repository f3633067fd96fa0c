-- A task has no NUL characters. `\\u0000` is a backslash and five others: char(1), which no JSON text has, stands for its
-- backslashes meanwhile.
UPDATE tasks SET meta = replace(replace(replace(meta, '\\', char(1)), '\u0000', ''), char(1), '\\')
WHERE instr(meta, '\u0000') > 0;

-- What was in columns and in the users' metadata, as one JSON object.
UPDATE tasks SET spec = json_object(
  'title', title, 'priority', priority, 'labels', json(labels), 'scope', json(scope), 'complexity', complexity,
  'agent', nullif(coalesce(asked_agent, agent), ''), 'model', model, 'base', base, 'branch', branch,
  'limits', json(limits), 'retry', json(retry), 'batch', batch,
  'read_only', json(iif(read_only = 1, 'true', 'false')), 'may_be_empty', json(iif(may_be_empty = 1, 'true', 'false')),
  'meta', json(json_remove(meta, '$."fleet.effort"', '$."fleet.args"', '$."fleet.profile"', '$."fleet.parent"',
    '$."fleet.project_agent"', iif(meta ->> '$.setup' = 'skip', '$.setup', '$."fleet.effort"'))),
  'tuning', json_object('effort', meta ->> '$."fleet.effort"',
    'args', json(iif(json_valid(meta ->> '$."fleet.args"'), meta ->> '$."fleet.args"', '[]'))),
  'setup', iif(meta ->> '$.setup' = 'skip', 'skip', 'full'),
  'profile', meta ->> '$."fleet.profile"',
  'on_behalf_of', (SELECT p.id FROM tasks p WHERE p.id = tasks.meta ->> '$."fleet.parent"'),
  'project_agent', iif(meta ->> '$."fleet.project_agent"' IN (agent, asked_agent), meta ->> '$."fleet.project_agent"', NULL));
