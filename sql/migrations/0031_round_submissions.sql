-- min_binary: 17
-- What is handed in to rounds, and the time of a round.

ALTER TABLE job_payloads
  ADD COLUMN round_id       bigint,                        -- NULL = in none
  ADD COLUMN participant_id bigint;                        -- who handed it in; NULL = somebody who prepares the round
CREATE INDEX submissions_round ON job_payloads (round_id, job_id) WHERE round_id IS NOT NULL;
CREATE INDEX submissions_participant ON job_payloads (participant_id, job_id) WHERE participant_id IS NOT NULL;

-- The contest time of a moment, in milliseconds: what has passed since the start, without what was removed. It is NULL
-- where the round has no start, and below 0 before it.
CREATE FUNCTION round_time(round bigint, moment timestamptz) RETURNS bigint LANGUAGE sql STABLE AS $$
  SELECT CASE WHEN moment <= r.starts_at THEN -ceil(extract(epoch FROM r.starts_at - moment) * 1000)
    ELSE floor(1000 * (extract(epoch FROM moment - r.starts_at) - coalesce((
      SELECT sum(extract(epoch FROM least(d.to_at, moment) - greatest(d.from_at, r.starts_at))) FROM round_removed d
      WHERE d.round_id = r.id AND d.undone_at IS NULL AND least(d.to_at, moment) > greatest(d.from_at, r.starts_at)), 0))) END::bigint
  FROM rounds r WHERE r.id = round
$$;
