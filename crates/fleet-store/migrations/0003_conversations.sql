-- What the agent's own counters stood at, as JSON: a later run that goes on with the conversation begins there.
ALTER TABLE runs ADD COLUMN meter TEXT;
