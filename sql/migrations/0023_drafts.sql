-- min_binary: 17
-- Setters at work: what they hand in to versions that are not live, whose turn it
-- is to change a problem, and what is said of a problem beside its versions.

-- A program on a version that need not be live. It is a kind of its own, so that
-- nothing that counts submissions or shows them to others takes it for one.
ALTER TABLE jobs DROP CONSTRAINT jobs_kind;
ALTER TABLE jobs ADD CONSTRAINT jobs_kind
  CHECK (kind IN ('submission', 'run', 'import', 'verify', 'render', 'plugin_build', 'plugin_test', 'draft')) NOT VALID;

CREATE TABLE draft_submissions (
  job_id  bigint PRIMARY KEY,
  slug    text NOT NULL,
  version text NOT NULL,
  author  text NOT NULL,
  at      timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX draft_submissions_slug ON draft_submissions (slug, job_id);

-- Changes of problems that are being saved, by the newest version that whoever
-- changes it has seen: of two one is first. A row whose job has ended binds nobody.
CREATE TABLE problem_edits (
  slug   text NOT NULL,
  seen   text NOT NULL,
  by     text NOT NULL,
  job_id bigint,                                          -- NULL = it is about to be stored
  at     timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (slug, seen)
);

-- What setters say of a problem without making a version. NULL: as the package
-- says.
CREATE TABLE problem_labels (
  slug       text PRIMARY KEY,
  tags       text[],
  difficulty integer,
  source     text,
  author     text,
  by         text NOT NULL,
  at         timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT problem_labels_difficulty CHECK (difficulty BETWEEN 1 AND 10000)
);

-- A problem as it is shown, with what its setters say of it.
CREATE FUNCTION problem_labelled(problem jsonb, wanted text) RETURNS jsonb LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT problem || coalesce((
    SELECT jsonb_strip_nulls(jsonb_build_object('tags', to_jsonb(l.tags), 'difficulty', l.difficulty, 'source', l.source, 'author', l.author))
    FROM problem_labels l WHERE l.slug = wanted), '{}')
$$;
