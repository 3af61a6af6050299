-- min_binary: 17
-- Callbacks of the Contest API: addresses that are told what contests' feeds tell, in order.

CREATE TABLE contest_hooks (
  id            text PRIMARY KEY,
  owner         text NOT NULL REFERENCES users (name) ON DELETE CASCADE,
  key_id        bigint REFERENCES api_keys (id) ON DELETE CASCADE, -- that made it, and without which it is told nothing; NULL = its owner did
  version       text NOT NULL,                             -- the release of the API
  url           text NOT NULL,
  token         text NOT NULL,                             -- sent along, by which the receiver knows who calls
  endpoints     text[] NOT NULL,                           -- empty = all
  contests      text[] NOT NULL,                           -- empty = all
  created_at    timestamptz NOT NULL DEFAULT now(),
  failures      integer NOT NULL DEFAULT 0,                -- one after the other
  failing_since timestamptz,
  next_at       timestamptz NOT NULL DEFAULT now(),
  leased_until  timestamptz,
  disabled_at   timestamptz
);
CREATE INDEX contest_hooks_owner ON contest_hooks (owner);

-- How far each is in the log of a round. One without a place begins where the log does: the round is younger.
CREATE TABLE contest_hook_places (
  hook_id  text NOT NULL REFERENCES contest_hooks (id) ON DELETE CASCADE,
  round_id bigint NOT NULL REFERENCES rounds (id) ON DELETE CASCADE,
  seq      bigint NOT NULL,
  PRIMARY KEY (hook_id, round_id)
);
