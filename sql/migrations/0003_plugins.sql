-- Uploaded plugins. The digest names a module for ever; what its name means can
-- be changed and changed back.

CREATE TABLE plugins (
  digest     text PRIMARY KEY,                            -- sha256:<hex>, also in the blob store
  kind       text NOT NULL CONSTRAINT plugins_kind CHECK (kind IN ('checker', 'interactor', 'toolchain')),
  name       text NOT NULL,
  version    text NOT NULL,
  protocol   text NOT NULL,
  bytes      bigint NOT NULL,
  manifest   jsonb NOT NULL,
  conforms   boolean NOT NULL,                            -- by the newest report
  job_id     bigint NOT NULL,                             -- whose result holds that report
  created_by text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX plugins_name ON plugins (kind, name, created_at DESC);

CREATE TABLE active_plugins (
  kind   text NOT NULL,
  name   text NOT NULL,
  digest text NOT NULL REFERENCES plugins (digest),
  PRIMARY KEY (kind, name)
);

-- Insert-only: the newest row of a name says what it means, the one before it
-- what a roll-back restores.
CREATE TABLE plugin_changes (
  id       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  kind     text NOT NULL,
  name     text NOT NULL,
  digest   text NOT NULL REFERENCES plugins (digest),
  previous text REFERENCES plugins (digest),
  by       text NOT NULL,
  at       timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX plugin_changes_name ON plugin_changes (kind, name, id DESC);

CREATE INDEX jobs_other ON jobs (job_id DESC) WHERE kind <> 'submission';
