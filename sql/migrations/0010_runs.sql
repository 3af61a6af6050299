-- Runs are found by the key that they were stored with, whoever asked for them.
-- The predicate keeps the index from submissions.
CREATE INDEX jobs_run_token ON jobs (idempotency_key) WHERE kind = 'run' AND idempotency_key IS NOT NULL;

-- Addresses that are told when a run has ended. A row is written before its run
-- is stored, so that none is forgotten, and removed when the address was told or
-- could not be.
CREATE TABLE callbacks (
  token      text PRIMARY KEY,                            -- idempotency key of the run
  group_key  text NOT NULL,                               -- and its group
  url        text NOT NULL,
  tries      integer NOT NULL DEFAULT 0,
  not_before timestamptz NOT NULL DEFAULT now(),
  created_at timestamptz NOT NULL DEFAULT now()
);
