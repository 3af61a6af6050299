-- Statements that pgx runs as they stand; sqlc does not read this file.

-- name: ContestFeedJobs
-- Goes on from the cursor and notes each submission of a round that something
-- happened to. Only events of transactions older than all that run are looked at,
-- so that none can come before the cursor later. Of several recorders one goes on
-- and the others pass. In a database that was restored elsewhere, transactions are
-- numbered anew: everything is looked at again.
WITH place AS MATERIALIZED (
  SELECT c.source, c.xid, c.id, c.system_identifier = s.system_identifier::text AS ours, s.system_identifier
  FROM contest_cursors c, pg_control_system() s WHERE c.source = 'jobs' FOR UPDATE OF c SKIP LOCKED),
seen AS MATERIALIZED (
  SELECT e.* FROM place c CROSS JOIN LATERAL (
    (SELECT s.xid, s.id, s.kind, ARRAY[s.job_id] AS job_ids
     FROM single_events s WHERE c.ours AND (s.xid, s.id) > (c.xid, c.id) AND s.xid < pg_snapshot_xmin(pg_current_snapshot())
     ORDER BY s.xid, s.id LIMIT @max::integer)
    UNION ALL
    (SELECT b.xid, b.id, b.kind, b.job_ids
     FROM event_batches b WHERE c.ours AND (b.xid, b.id) > (c.xid, c.id) AND b.xid < pg_snapshot_xmin(pg_current_snapshot())
     ORDER BY b.xid, b.id LIMIT @max)
    ORDER BY xid, id LIMIT @max) e),
noted AS (
  INSERT INTO contest_due (round_id, job_id)
  SELECT DISTINCT p.round_id, p.job_id FROM seen s CROSS JOIN LATERAL unnest(s.job_ids) AS u(job_id) JOIN round_submissions p ON p.job_id = u.job_id
  WHERE s.kind NOT IN ('claimed', 'test') AND EXISTS (SELECT 1 FROM rounds r WHERE r.id = p.round_id)
  UNION SELECT r.id, 0 FROM place c, rounds r WHERE NOT c.ours
  ORDER BY 1, 2 ON CONFLICT DO NOTHING RETURNING 1),
@ContestFeedMoved

-- name: ContestFeedChanges
-- The same with what was changed in rounds: all of the round is looked at, or of
-- all rounds of the space. A new round gets its log.
WITH place AS MATERIALIZED (
  SELECT c.source, c.xid, c.id, c.system_identifier = s.system_identifier::text AS ours, s.system_identifier
  FROM contest_cursors c, pg_control_system() s WHERE c.source = 'changes' FOR UPDATE OF c SKIP LOCKED),
seen AS MATERIALIZED (
  SELECT e.* FROM place c CROSS JOIN LATERAL (
    SELECT s.xid, s.id, s.space_id, s.round_id
    FROM round_changes s WHERE c.ours AND (s.xid, s.id) > (c.xid, c.id) AND s.xid < pg_snapshot_xmin(pg_current_snapshot())
    ORDER BY s.xid, s.id LIMIT @max::integer) e),
changed AS MATERIALIZED (
  SELECT DISTINCT r.id FROM seen s JOIN rounds r ON r.id = s.round_id OR s.round_id IS NULL AND r.space_id = s.space_id ORDER BY 1),
opened AS (INSERT INTO contest_recorders (round_id) SELECT id FROM changed ON CONFLICT DO NOTHING),
noted AS (INSERT INTO contest_due (round_id, job_id) SELECT id, 0 FROM changed ON CONFLICT DO NOTHING RETURNING 1),
@ContestFeedMoved

-- name: ContestFeedMoved :part
-- Moves the cursor behind what was seen, and says whether there is more, how much
-- was noted, and whether the database was restored elsewhere.
last AS (SELECT xid, id FROM seen ORDER BY xid DESC, id DESC LIMIT 1),
moved AS (
  UPDATE contest_cursors c SET xid = coalesce(l.xid, pg_snapshot_xmin(pg_current_snapshot())), id = coalesce(l.id, 0), system_identifier = k.system_identifier::text
  FROM place k LEFT JOIN last l ON true WHERE c.source = k.source AND (l.id IS NOT NULL OR NOT k.ours))
SELECT (SELECT count(*) FROM seen) >= @max, (SELECT count(*) FROM noted), NOT k.ours FROM place k
