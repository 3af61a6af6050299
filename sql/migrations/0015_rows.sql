-- A job is one row less when it is handed in, and one update less when it ends:
-- what was handed in stands beside its payload, and what is shown of it is a
-- matter of the job.

ALTER TABLE jobs
  ADD COLUMN live_generation integer,                     -- whose verdict is shown; NULL = none yet
  ADD COLUMN verdict         text,                        -- of the live generation
  ADD COLUMN score           double precision,
  ADD CONSTRAINT jobs_live CHECK ((live_generation IS NULL) = (verdict IS NULL));
ALTER TABLE job_payloads
  ADD COLUMN problem    text,                             -- of submissions and runs; NULL = another kind
  ADD COLUMN author     text NOT NULL DEFAULT '',
  ADD COLUMN code_bytes integer NOT NULL DEFAULT 0,
  ADD COLUMN space_id   bigint,                           -- NULL = in none
  ADD COLUMN unofficial boolean NOT NULL DEFAULT false;   -- of somebody who prepares the space: bound by no limit, in no score

UPDATE jobs j SET live_generation = s.live_generation, verdict = s.verdict, score = s.score
FROM submissions s WHERE s.job_id = j.job_id AND s.live_generation IS NOT NULL;
UPDATE job_payloads p SET problem = s.problem, author = s.author, code_bytes = s.code_bytes, space_id = s.space_id, unofficial = s.unofficial
FROM submissions s WHERE s.job_id = p.job_id;

DROP TABLE submissions;
CREATE INDEX submissions_author ON job_payloads (author, job_id) WHERE problem IS NOT NULL;
CREATE INDEX submissions_problem ON job_payloads (problem, job_id) WHERE problem IS NOT NULL;
CREATE INDEX submissions_space ON job_payloads (space_id, job_id) WHERE space_id IS NOT NULL;
CREATE INDEX submissions_member ON job_payloads (space_id, author, job_id) WHERE space_id IS NOT NULL;

CREATE VIEW submissions AS
SELECT p.job_id, p.problem, j.language, p.author, p.code_bytes, j.created_at, j.live_generation, j.verdict, j.score, p.space_id, p.unofficial
FROM job_payloads p JOIN jobs j ON j.job_id = p.job_id
WHERE p.problem IS NOT NULL;
