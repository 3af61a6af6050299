-- Versions of problems are proved before they go live, and can be changed back.

-- A version may be kept that was never live.
ALTER TABLE problem_versions DROP CONSTRAINT problem_versions_slug_fkey;
ALTER TABLE problem_versions
  ADD COLUMN import_job bigint,                           -- the newest that brought it; NULL = it came another way
  ADD COLUMN proof_job  bigint,                           -- the newest that proved it
  ADD COLUMN proved     boolean,                          -- whether its proof found nothing wrong; NULL = there is none
  ADD COLUMN report     jsonb;                            -- of the proof
CREATE INDEX problem_versions_import ON problem_versions (import_job) WHERE import_job IS NOT NULL;

-- Insert-only: the newest row of a problem says which version is live, the one
-- before it what a roll-back restores.
CREATE TABLE problem_changes (
  id       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  slug     text NOT NULL,
  version  text NOT NULL,
  previous text,
  by       text NOT NULL,
  job_id   bigint UNIQUE,                                 -- of an import: it makes its version live once
  at       timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX problem_changes_slug ON problem_changes (slug, id DESC);
