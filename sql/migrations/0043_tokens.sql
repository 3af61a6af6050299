-- min_binary: 17
-- Tokens that participants have spent on submissions, in rounds whose settings give some.
CREATE TABLE submission_tokens (
  job_id bigint PRIMARY KEY,
  by     text NOT NULL,
  at     timestamptz NOT NULL DEFAULT now()
);
