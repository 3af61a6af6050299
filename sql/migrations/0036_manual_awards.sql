-- min_binary: 17
-- What a jury gives beside what the board gives, such as for the best name of a team.

CREATE TABLE round_awards (
  round_id     bigint NOT NULL REFERENCES rounds (id) ON DELETE CASCADE,
  code         text NOT NULL CONSTRAINT round_awards_code CHECK (code ~ '^[A-Za-z0-9_]([A-Za-z0-9_.-]{0,34}[A-Za-z0-9_-])?$'),
  citation     text NOT NULL,
  participants bigint[] NOT NULL DEFAULT '{}',
  by           text NOT NULL,
  at           timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (round_id, code)
);
