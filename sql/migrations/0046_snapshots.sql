-- min_binary: 17
-- What a board was when it was shown: the digest of it, as of a line of the log. The newest of each round and view is kept, and
-- compared with what the log gives when it is counted again.
CREATE TABLE contest_snapshots (
  round_id bigint NOT NULL REFERENCES rounds (id) ON DELETE CASCADE,
  view     text NOT NULL CONSTRAINT contest_snapshots_view CHECK (view IN ('public', 'staff')),
  seq      bigint NOT NULL,
  digest   bytea NOT NULL CONSTRAINT contest_snapshots_digest CHECK (octet_length(digest) = 32),
  at       timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (round_id, view)
);
