-- min_binary: 17
-- What people see of a version of a problem: its statement in each language, and its
-- pictures. They lie beside the version, whose digest and proofs stay when they
-- are made again by a newer renderer.

-- That a version was rendered, by which renderer, and what got lost.
CREATE TABLE problem_renderings (
  slug     text NOT NULL,
  version  text NOT NULL,
  renderer integer NOT NULL,                              -- problem.Renderer; 0 = something is still to be made
  job_id   bigint,                                        -- the newest job that did it; NULL = it came with the version
  warnings jsonb NOT NULL DEFAULT '[]',                   -- sentences that name file, key and reason
  at       timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (slug, version),
  FOREIGN KEY (slug, version) REFERENCES problem_versions (slug, version) ON DELETE CASCADE
);

CREATE TABLE problem_pages (
  slug     text NOT NULL,
  version  text NOT NULL,
  language text NOT NULL,                                 -- tag, such as 'en'
  title    text NOT NULL,
  html     text NOT NULL,                                 -- safe to show; '' = the statement is a PDF
  body     text NOT NULL,                                 -- without markup, to be searched
  document text NOT NULL DEFAULT '',                      -- name of the file that is the statement as a PDF
  PRIMARY KEY (slug, version, language),
  FOREIGN KEY (slug, version) REFERENCES problem_renderings (slug, version) ON DELETE CASCADE
);

-- Pictures, and statements that are PDF.
CREATE TABLE problem_page_files (
  slug    text NOT NULL,
  version text NOT NULL,
  name    text NOT NULL,                                  -- as pages name it
  type    text NOT NULL,                                  -- media type
  digest  bytea NOT NULL,                                 -- SHA-256 of what is shown
  bytes   bigint NOT NULL,
  PRIMARY KEY (slug, version, name),
  FOREIGN KEY (slug, version) REFERENCES problem_renderings (slug, version) ON DELETE CASCADE
);

-- Rows from before are of the kinds from before, so they need not be looked at.
ALTER TABLE jobs DROP CONSTRAINT jobs_kind;
ALTER TABLE jobs ADD CONSTRAINT jobs_kind
  CHECK (kind IN ('submission', 'run', 'import', 'verify', 'render', 'plugin_build', 'plugin_test')) NOT VALID;
