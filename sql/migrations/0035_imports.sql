-- min_binary: 17
-- Contests that were held elsewhere, with their results, and rehearsals whose time passes faster.

-- A submission may come with its result, which nobody judged here: an event of its own says so, which nobody is told of
-- who waits for results.
ALTER TABLE event_batches DROP CONSTRAINT event_batches_kind,
  ADD CONSTRAINT event_batches_kind CHECK (kind IN ('submitted', 'claimed', 'finished', 'imported'));
CREATE OR REPLACE FUNCTION event_moves(kind text) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT kind IN ('submitted', 'claimed', 'retry', 'released', 'worker_lost', 'finished', 'imported', 'cancelled', 'restored', 'dead', 'rejudge')
$$;

-- How many milliseconds of contest time pass in one.
ALTER TABLE rounds ADD COLUMN speed integer NOT NULL DEFAULT 1 CONSTRAINT rounds_speed CHECK (speed BETWEEN 1 AND 1000);

-- The contest time of a moment, as before, at the round's speed.
CREATE OR REPLACE FUNCTION round_time(round bigint, moment timestamptz) RETURNS bigint LANGUAGE sql STABLE AS $$
  SELECT CASE WHEN moment <= r.starts_at THEN -ceil(extract(epoch FROM r.starts_at - moment) * 1000 * r.speed)
    ELSE floor(1000 * r.speed * (extract(epoch FROM moment - r.starts_at) - coalesce((
      SELECT sum(extract(epoch FROM least(d.to_at, moment) - greatest(d.from_at, r.starts_at))) FROM round_removed d
      WHERE d.round_id = r.id AND d.undone_at IS NULL AND least(d.to_at, moment) > greatest(d.from_at, r.starts_at)), 0))) END::bigint
  FROM rounds r WHERE r.id = round
$$;
