-- Statements that pgx runs as they stand; sqlc does not read this file.

-- name: RetireEvents
-- Looks at events in the order of the feeds, which it never passes. Of a job that
-- ended long ago, all events before its newest move go; a batch goes when it may
-- go for all its jobs.
WITH slowest AS MATERIALIZED (SELECT xid, id FROM feed_cursors ORDER BY xid, id LIMIT 1),
seen AS MATERIALIZED (
  (SELECT e.xid, e.id, e.job_id, e.at < now() - @age::interval AS past FROM single_events e
   WHERE (e.xid, e.id) > (@xid::text::xid8, @id::bigint)
     AND (NOT EXISTS (SELECT 1 FROM slowest) OR (e.xid, e.id) <= (SELECT xid, id FROM slowest))
   ORDER BY e.xid, e.id LIMIT @max::integer)
  UNION ALL
  (SELECT b.xid, b.id, NULL, b.at < now() - @age FROM event_batches b
   WHERE (b.xid, b.id) > (@xid::text::xid8, @id)
     AND (NOT EXISTS (SELECT 1 FROM slowest) OR (b.xid, b.id) <= (SELECT xid, id FROM slowest))
   ORDER BY b.xid, b.id LIMIT @max)
  ORDER BY xid, id LIMIT @max),
old AS MATERIALIZED (
  SELECT s.job_id, s.id FROM seen s JOIN jobs j ON j.job_id = s.job_id
  WHERE s.past AND j.finished_at < now() - @age
    AND EXISTS (SELECT 1 FROM events_of(s.job_id) n WHERE n.id > s.id AND event_moves(n.kind))),
spent AS MATERIALIZED (
  SELECT s.xid, s.id FROM seen s JOIN event_batches b ON b.xid = s.xid AND b.id = s.id
  WHERE s.past AND s.job_id IS NULL AND NOT EXISTS (
    SELECT 1 FROM unnest(b.job_ids, b.generations) AS u(job_id, generation) JOIN jobs j ON j.job_id = u.job_id
    WHERE j.finished_at IS NULL OR j.finished_at >= now() - @age
      OR b.kind IN ('finished', 'imported') AND j.generation = u.generation)),
gone AS (DELETE FROM single_events e USING old o WHERE e.job_id = o.job_id AND e.id = o.id RETURNING e.id),
batch AS (DELETE FROM event_batches b USING spent o WHERE b.xid = o.xid AND b.id = o.id RETURNING cardinality(b.job_ids) AS n),
last AS (SELECT xid, id FROM seen ORDER BY xid DESC, id DESC LIMIT 1)
SELECT (SELECT count(*) FROM gone) + (SELECT coalesce(sum(n), 0) FROM batch)::bigint,
  (SELECT count(*) = @max AND bool_or(past) FROM seen) AS more, xid::text, id
FROM last WHERE EXISTS (SELECT 1 FROM seen WHERE past);

-- name: RetireJobs
-- Removes jobs that ended long ago with everything about them (a batch of events
-- goes with the last of its jobs), except what somebody still has to look at: an
-- open dead letter or rejudge set, the report of a plugin or of a version, events
-- that a feed has not read.
WITH slowest AS MATERIALIZED (SELECT xid, id FROM feed_cursors ORDER BY xid, id LIMIT 1),
seen AS MATERIALIZED (
  SELECT j.job_id FROM jobs j WHERE j.job_id > @after::bigint AND (j.kind = 'submission') = @submissions::boolean
  ORDER BY j.job_id LIMIT @max::integer),
old AS MATERIALIZED (
  SELECT j.job_id FROM jobs j JOIN seen s ON s.job_id = j.job_id
  WHERE j.status IN ('finished', 'cancelled', 'dead') AND j.finished_at < now() - @age::interval
    AND NOT EXISTS (SELECT 1 FROM dead_letters d WHERE d.job_id = j.job_id AND d.resolution IS NULL)
    AND NOT EXISTS (SELECT 1 FROM plugins p WHERE p.job_id = j.job_id)
    AND NOT EXISTS (SELECT 1 FROM problem_versions v WHERE v.proof_job = j.job_id)
    AND NOT EXISTS (SELECT 1 FROM rejudge_set_jobs m JOIN rejudge_sets t ON t.id = m.set_id WHERE m.job_id = j.job_id AND t.resolution IS NULL)
    AND NOT EXISTS (SELECT 1 FROM events_of(j.job_id) e, slowest WHERE (e.xid, e.id) > (slowest.xid, slowest.id))
  ORDER BY j.job_id FOR UPDATE OF j SKIP LOCKED),
payload AS (DELETE FROM job_payloads x USING old o WHERE x.job_id = o.job_id),
result AS (DELETE FROM results x USING old o WHERE x.job_id = o.job_id),
attempt AS (DELETE FROM attempts x USING old o WHERE x.job_id = o.job_id),
letter AS (DELETE FROM dead_letters x USING old o WHERE x.job_id = o.job_id),
draft AS (DELETE FROM draft_submissions x USING old o WHERE x.job_id = o.job_id),
mark AS (DELETE FROM submission_marks x USING old o WHERE x.job_id = o.job_id),
tokened AS (DELETE FROM submission_tokens x USING old o WHERE x.job_id = o.job_id),
overridden AS (DELETE FROM verdict_overrides x USING old o WHERE x.job_id = o.job_id),
number AS (DELETE FROM contest_submissions x USING old o WHERE x.job_id = o.job_id),
member AS (DELETE FROM rejudge_set_jobs x USING old o WHERE x.job_id = o.job_id),
event AS (DELETE FROM single_events x USING old o WHERE x.job_id = o.job_id),
gone AS (DELETE FROM jobs j USING old o WHERE j.job_id = o.job_id RETURNING j.job_id)
SELECT (SELECT count(*) FROM gone), count(*) = @max AS more, coalesce(max(job_id), @after) FROM seen;

-- name: RetireGroups
-- A clock that stands in the past says as much as none.
WITH gone AS (DELETE FROM groups WHERE next_at < now() - interval '1 day' AND weight = 1 RETURNING 1) SELECT count(*) FROM gone;

-- name: RetireDeliveries
-- Messages to webhooks that are tried no more: taken, given up, or of one that is
-- disabled.
WITH old AS MATERIALIZED (
  SELECT d.id FROM webhook_deliveries d JOIN webhooks w ON w.id = d.webhook_id
  WHERE d.created_at < now() - @age::interval AND (d.done_at IS NOT NULL OR w.disabled_at IS NOT NULL AND d.leased_until IS NULL)
  ORDER BY d.id LIMIT @max::integer FOR UPDATE OF d SKIP LOCKED),
gone AS (DELETE FROM webhook_deliveries d USING old o WHERE d.id = o.id RETURNING 1)
SELECT count(*) FROM gone;
