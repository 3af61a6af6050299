-- min_binary: 17
-- What somebody proves besides a password: an authenticator app, passkeys, codes
-- for the day when both are lost. A program that knows no such table lets people in
-- with their password alone.

CREATE TABLE factors (
  user_name      text PRIMARY KEY REFERENCES users (name) ON DELETE CASCADE,
  handle         bytea NOT NULL UNIQUE,                   -- random: what passkeys call the account
  totp_secret    bytea,                                   -- of the authenticator app; NULL = none. It is needed as it is
  totp_on        boolean NOT NULL DEFAULT false,          -- a code of it was given, so it counts
  totp_step      bigint NOT NULL DEFAULT 0,               -- of the newest code that was taken: none up to it is taken again
  totp_used_at   timestamptz,
  wrong          integer NOT NULL DEFAULT 0,              -- codes in a row
  wrong_at       timestamptz,
  taken_off_by   text,                                    -- who took all off, until the owner was told; NULL = nobody
  taken_off_at   timestamptz,
  CONSTRAINT factors_totp CHECK (totp_secret IS NOT NULL OR NOT totp_on)
);

CREATE TABLE passkeys (
  id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  credential_id bytea NOT NULL UNIQUE,
  user_name     text NOT NULL REFERENCES factors (user_name) ON DELETE CASCADE,
  label         text NOT NULL,
  public_key    bytea NOT NULL,                           -- as X.509 has it (SubjectPublicKeyInfo)
  transports    text[] NOT NULL,                          -- how browsers reach the authenticator
  sign_count    bigint NOT NULL,                          -- of the last signature, 0 where it does not count
  created_at    timestamptz NOT NULL DEFAULT now(),
  last_used_at  timestamptz
);
CREATE INDEX passkeys_user ON passkeys (user_name, id);

CREATE TABLE recovery_codes (
  user_name text NOT NULL REFERENCES factors (user_name) ON DELETE CASCADE,
  code_hash text NOT NULL,                                -- of the code, which nobody keeps
  used_at   timestamptz,
  PRIMARY KEY (user_name, code_hash)
);

-- Logins whose password was right, and that wait for a second factor. They are no
-- sessions.
CREATE TABLE half_logins (
  token_hash text PRIMARY KEY,                            -- of what only the browser has that began it
  user_name  text NOT NULL REFERENCES users (name) ON DELETE CASCADE,
  epoch      integer NOT NULL,                            -- holds while it is the user's, as that of a session
  next       text NOT NULL,                               -- where to go on
  tries      integer NOT NULL DEFAULT 0,
  expires_at timestamptz NOT NULL
);
CREATE INDEX half_logins_expired ON half_logins (expires_at);
CREATE INDEX half_logins_user ON half_logins (user_name);

-- What a passkey has to sign, once.
CREATE TABLE passkey_challenges (
  holder_hash text PRIMARY KEY,                           -- of what it is for, and of what only the browser has that asked
  challenge   bytea NOT NULL,
  expires_at  timestamptz NOT NULL
);
CREATE INDEX passkey_challenges_expired ON passkey_challenges (expires_at);
