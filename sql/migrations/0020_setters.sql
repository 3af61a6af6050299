-- min_binary: 17
-- Whose problems are whose, and how much room and how many versions setters take.

-- Who may change a problem, besides staff. A problem without an owner, such as a
-- sample problem, is for staff alone.
CREATE TABLE problem_owners (
  slug  text PRIMARY KEY,
  owner text NOT NULL REFERENCES users (name) ON DELETE CASCADE,
  at    timestamptz NOT NULL DEFAULT now()
);
CREATE TABLE problem_authors (
  slug      text NOT NULL,
  user_name text NOT NULL REFERENCES users (name) ON DELETE CASCADE,
  by        text NOT NULL,
  at        timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (slug, user_name)
);

-- Who made the first version owns a problem that is here already.
INSERT INTO problem_owners (slug, owner, at)
SELECT f.slug, f.created_by, f.created_at
FROM (SELECT DISTINCT ON (slug) slug, created_by, created_at FROM problem_versions ORDER BY slug, created_at, version) f
JOIN users u ON u.name = f.created_by;

-- The files of versions. Of those from before nothing is here until they are proved
-- again, so that they count for nothing.
CREATE TABLE version_blobs (
  slug    text NOT NULL,
  version text NOT NULL,
  digest  bytea NOT NULL,                                 -- SHA-256
  bytes   bigint NOT NULL,
  PRIMARY KEY (slug, version, digest),
  FOREIGN KEY (slug, version) REFERENCES problem_versions (slug, version) ON DELETE CASCADE
);
CREATE INDEX version_blobs_digest ON version_blobs (digest);
CREATE INDEX problem_versions_by ON problem_versions (created_by);

-- What a setter sent on a day, which begins at midnight UTC.
CREATE TABLE setter_days (
  user_name text NOT NULL REFERENCES users (name) ON DELETE CASCADE,
  day       date NOT NULL,
  versions  integer NOT NULL DEFAULT 0,
  bytes     bigint NOT NULL DEFAULT 0,                    -- of archives
  PRIMARY KEY (user_name, day)
);
