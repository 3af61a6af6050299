-- Workers, problems, people, and what people with privileges did.

CREATE TABLE workers (
  name       text PRIMARY KEY,                            -- WORKER_ID with its boot id
  pool       text NOT NULL,
  languages  text[] NOT NULL DEFAULT '{}',                -- those that it can serve now
  info       jsonb NOT NULL,
  started_at timestamptz NOT NULL,
  seen_at    timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE problems (
  slug       text PRIMARY KEY,
  version    text NOT NULL,                               -- the active one
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now()
);

-- A version names immutable content; problem is the view that was made from it.
CREATE TABLE problem_versions (
  slug       text NOT NULL REFERENCES problems (slug),
  version    text NOT NULL,                               -- digest of the package's manifest
  title      text NOT NULL,
  problem    jsonb NOT NULL,
  created_by text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (slug, version)
);

CREATE TABLE users (
  name          text PRIMARY KEY CHECK (name <> ''),
  password_hash text NOT NULL,
  role          text NOT NULL CONSTRAINT users_role CHECK (role IN ('contestant', 'setter', 'staff', 'admin')),
  created_at    timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE sessions (
  token_hash text PRIMARY KEY,
  user_name  text NOT NULL REFERENCES users (name) ON DELETE CASCADE,
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL
);
CREATE INDEX sessions_expiry ON sessions (expires_at);

CREATE TABLE audit_log (
  id      bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at      timestamptz NOT NULL DEFAULT now(),
  actor   text NOT NULL,
  action  text NOT NULL,
  subject text NOT NULL,
  detail  jsonb
);
CREATE INDEX audit_log_subject ON audit_log (subject, id DESC);
