-- min_binary: 10
-- Accounts that administrators make, disable and reset; keys of programs; and a
-- log of what they did that can be searched.

ALTER TABLE users
  ADD COLUMN disabled_at timestamptz,                     -- NULL = may log in
  ADD COLUMN one_time    boolean NOT NULL DEFAULT false,  -- the password was given and has to be changed first
  ADD COLUMN epoch       integer NOT NULL DEFAULT 0;      -- raised to end all sessions at once
ALTER TABLE sessions ADD COLUMN epoch integer NOT NULL DEFAULT 0; -- holds while it is the user's
CREATE INDEX sessions_user ON sessions (user_name);

CREATE TABLE api_keys (
  id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  key_hash     text NOT NULL UNIQUE,                      -- of the secret, which nobody keeps
  user_name    text NOT NULL REFERENCES users (name) ON DELETE CASCADE,
  label        text NOT NULL,
  scope        text NOT NULL CONSTRAINT api_keys_scope CHECK (scope IN ('read', 'submit', 'setter', 'staff', 'admin')),
  created_at   timestamptz NOT NULL DEFAULT now(),
  expires_at   timestamptz,                               -- NULL = never
  last_used_at timestamptz,                               -- to the minute
  revoked_at   timestamptz
);
CREATE INDEX api_keys_user ON api_keys (user_name, id);

CREATE INDEX audit_log_actor ON audit_log (actor, id);
CREATE INDEX audit_log_action ON audit_log (action, id);
