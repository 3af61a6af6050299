-- min_binary: 17
-- Submissions to rounds that staff have not count, such as one from the machine of another team.

CREATE TABLE submission_marks (
  job_id bigint PRIMARY KEY,
  reason text NOT NULL,
  by     text NOT NULL,
  at     timestamptz NOT NULL DEFAULT now()
);
