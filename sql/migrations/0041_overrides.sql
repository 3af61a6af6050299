-- min_binary: 17
-- Verdicts that staff of a round gave in the place of the judge's: each is a judging of its own, with a result.
CREATE TABLE verdict_overrides (
  job_id     bigint NOT NULL,
  generation integer NOT NULL,
  before     integer NOT NULL,                             -- the judging in whose place it came
  reason     text NOT NULL,
  by         text NOT NULL,
  at         timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (job_id, generation)
);
