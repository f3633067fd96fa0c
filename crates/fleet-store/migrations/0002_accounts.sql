-- A pause is of an account: several agents on several machines may use one. Its row stays when it is over, because of
-- the strikes, until the account has served a run again.
ALTER TABLE pauses RENAME COLUMN agent TO account;
ALTER TABLE pauses ADD COLUMN strikes BIGINT NOT NULL DEFAULT 0;  -- refusals in a row
ALTER TABLE pauses ADD COLUMN agent TEXT;                         -- who was refused, and in which run
ALTER TABLE pauses ADD COLUMN run TEXT;
ALTER TABLE pauses ADD COLUMN set_at BIGINT NOT NULL DEFAULT 0;
UPDATE pauses SET agent = account;

ALTER TABLE tasks ADD COLUMN waits BIGINT NOT NULL DEFAULT 0;
-- A claim looks at agent, so that is always the one of the next attempt. What the author wanted lies here meanwhile.
ALTER TABLE tasks ADD COLUMN asked_agent TEXT;

ALTER TABLE runs ADD COLUMN account TEXT;               -- NULL goes by the name of the agent
ALTER TABLE runs ADD COLUMN reserved_micro_usd BIGINT;  -- put aside when it was claimed
ALTER TABLE runs ADD COLUMN reserved_tokens BIGINT;
ALTER TABLE runs ADD COLUMN booked_micro_usd BIGINT NOT NULL DEFAULT 0;  -- what the ledger has of it
ALTER TABLE runs ADD COLUMN booked_tokens BIGINT NOT NULL DEFAULT 0;
UPDATE runs SET booked_micro_usd = micro_usd, booked_tokens = input_tokens + output_tokens;

-- What all runs used, by the day (since 1970, UTC).
CREATE TABLE ledger (
  day BIGINT PRIMARY KEY,
  micro_usd BIGINT NOT NULL,
  tokens BIGINT NOT NULL
);
INSERT INTO ledger (day, micro_usd, tokens)
  SELECT coalesce(ended_at, created_at) / 86400000, CAST(sum(booked_micro_usd) AS BIGINT), CAST(sum(booked_tokens) AS BIGINT)
  FROM runs WHERE booked_micro_usd <> 0 OR booked_tokens <> 0 GROUP BY 1;
