-- min_binary: 17
-- What is told of a round that nothing in it depends on: persons, accounts that came with it, and commentary. The data is as the
-- log of the round has it.
CREATE TABLE round_extras (
  round_id bigint NOT NULL REFERENCES rounds (id) ON DELETE CASCADE,
  kind     text NOT NULL CONSTRAINT round_extras_kind CHECK (kind IN ('person', 'account', 'commentary')),
  code     text NOT NULL,
  data     jsonb NOT NULL,
  by       text NOT NULL,
  at       timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (round_id, kind, code)
);
