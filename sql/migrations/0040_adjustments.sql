-- min_binary: 17
-- What staff add to the rows of participants, such as minutes for who was handed something too early. NULL by = nothing was.
ALTER TABLE round_entries
  ADD COLUMN adjust_minutes bigint NOT NULL DEFAULT 0,
  ADD COLUMN adjust_points  float8 NOT NULL DEFAULT 0,
  ADD COLUMN adjust_reason  text NOT NULL DEFAULT '',
  ADD COLUMN adjust_by      text,
  ADD COLUMN adjust_at      timestamptz,
  ADD CONSTRAINT round_entries_minutes CHECK (adjust_minutes BETWEEN -100000 AND 100000),
  ADD CONSTRAINT round_entries_points CHECK (adjust_points BETWEEN -1000000 AND 1000000);
