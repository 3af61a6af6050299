-- min_binary: 17
-- Accounts have a name for people and an e-mail address; letters go out by e-mail,
-- and hold links that work once; other links invite into a space.

ALTER TABLE users
  ADD COLUMN display_name text NOT NULL DEFAULT '',
  ADD COLUMN email        text,                           -- in small letters; NULL = none
  ADD CONSTRAINT users_email_small CHECK (email = lower(email) AND email <> '');
CREATE UNIQUE INDEX users_email ON users (email);

CREATE TABLE space_invitations (
  id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  token_hash text NOT NULL UNIQUE,
  space_id   bigint NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
  label      text NOT NULL,
  created_by text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL,
  most       integer NOT NULL CONSTRAINT space_invitations_most CHECK (most > 0), -- people who may come by it
  used       integer NOT NULL DEFAULT 0,
  revoked_at timestamptz
);
CREATE INDEX space_invitations_space ON space_invitations (space_id, id);

-- What somebody asked to be sent. Whether there is an account is found out when the
-- letter is written, and its link is made then: no secret waits here.
CREATE TABLE letters (
  id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  kind          text NOT NULL CONSTRAINT letters_kind CHECK (kind IN ('register', 'reset', 'invite', 'email', 'email_changed', 'password_changed')),
  asked         text NOT NULL,                            -- an address, or the name of an account
  user_name     text REFERENCES users (name) ON DELETE CASCADE, -- whom it is about, where that was known
  invitation_id bigint REFERENCES space_invitations (id) ON DELETE CASCADE,
  created_at    timestamptz NOT NULL DEFAULT now(),
  next_at       timestamptz NOT NULL DEFAULT now(),       -- of the next try; while one is made, when it is given up
  tries         integer NOT NULL DEFAULT 0,
  done_at       timestamptz,
  recipient     text,                                     -- whom it went to
  outcome       text,                                     -- sent, or why nothing was
  error         text                                      -- of the last try
);
CREATE INDEX letters_due ON letters (next_at) WHERE done_at IS NULL;
CREATE INDEX letters_done ON letters (done_at);
CREATE INDEX letters_asked ON letters (asked, created_at);
CREATE INDEX letters_recipient ON letters (recipient, done_at);
CREATE INDEX letters_user ON letters (user_name);
CREATE INDEX letters_invitation ON letters (invitation_id);

-- Links in letters. Each works once.
CREATE TABLE account_links (
  token_hash    text PRIMARY KEY,
  kind          text NOT NULL CONSTRAINT account_links_kind CHECK (kind IN ('register', 'reset', 'email')),
  user_name     text REFERENCES users (name) ON DELETE CASCADE, -- NULL of one that makes an account
  email         text NOT NULL,                            -- where it was sent
  epoch         integer NOT NULL DEFAULT 0,               -- holds while it is the user's
  invitation_id bigint REFERENCES space_invitations (id) ON DELETE CASCADE,
  tries         integer NOT NULL DEFAULT 0,               -- with names that were taken
  expires_at    timestamptz NOT NULL
);
CREATE INDEX account_links_expired ON account_links (expires_at);
CREATE INDEX account_links_user ON account_links (user_name);
CREATE INDEX account_links_invitation ON account_links (invitation_id);
