-- Sets of submissions that are judged again beside what is shown, to be applied
-- together or not at all.

CREATE TABLE rejudge_sets (
  id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  key         text UNIQUE,                                -- a repeated request finds its set; NULL = none
  reason      text NOT NULL,
  request     jsonb NOT NULL,                             -- which submissions were asked for
  skipped     integer NOT NULL,                           -- of them, under way or without a verdict
  created_by  text NOT NULL,
  created_at  timestamptz NOT NULL DEFAULT now(),
  resolution  text CONSTRAINT rejudge_sets_resolution CHECK (resolution IN ('applied', 'cancelled')),
  resolved_by text,
  resolved_at timestamptz,
  CONSTRAINT rejudge_sets_resolved CHECK ((resolution IS NULL) = (resolved_at IS NULL) AND (resolution IS NULL) = (resolved_by IS NULL))
);

CREATE TABLE rejudge_set_jobs (
  set_id     bigint NOT NULL REFERENCES rejudge_sets (id),
  job_id     bigint NOT NULL,
  generation integer NOT NULL,                            -- the judging of this set
  before     integer NOT NULL,                            -- the live one when the set began
  PRIMARY KEY (set_id, job_id)
);
CREATE INDEX rejudge_set_jobs_job ON rejudge_set_jobs (job_id);
