-- Statements that pgx runs as they stand; sqlc does not read this file.

-- name: RejudgeSetAdd
INSERT INTO rejudge_sets (key, reason, request, skipped, created_by)
VALUES (@key::text, @reason::text, @request::jsonb, 0, @by::text)
ON CONFLICT (key) DO NOTHING RETURNING id;

-- name: RejudgeSetOfKey
SELECT id, request = @request::jsonb FROM rejudge_sets WHERE key = @key::text;

-- name: RejudgeSetCandidates
-- Submissions that are asked for. One that is under way, has no verdict yet, or
-- is about to be judged with a newer payload, is left to that judging.
SELECT p.job_id, j.status IN ('finished', 'cancelled', 'dead') AND j.live_generation IS NOT NULL AND p.next IS NULL AS eligible
FROM job_payloads p JOIN jobs j ON j.job_id = p.job_id
WHERE j.kind = 'submission' AND p.problem IS NOT NULL AND (@job_ids::bigint[] IS NULL OR p.job_id = ANY (@job_ids::bigint[]))
  AND (@problem::text = '' OR p.problem = @problem) AND (@language::text = '' OR j.language = @language)
  AND (@author::text = '' OR p.author = @author) AND (@verdict::text = '' OR j.verdict = @verdict)
ORDER BY p.job_id;

-- name: RejudgeSetTake
-- Takes into a set those that are still as they were when they were chosen, with
-- what everybody sees of them until it is applied. One that is in a set already is
-- seen as it was before that.
WITH held AS MATERIALIZED (
  SELECT job_id, generation, live_generation, status, attempt_id, tries, started_at, finished_at, last_error, rejudge_set FROM jobs
  WHERE job_id = ANY (@job_ids::bigint[]) AND status IN ('finished', 'cancelled', 'dead') AND live_generation IS NOT NULL
  ORDER BY job_id FOR UPDATE)
INSERT INTO rejudge_set_jobs (set_id, job_id, generation, before, seen_status, seen_generation, seen_attempt, seen_tries, seen_started, seen_finished, seen_error)
SELECT @id::bigint, h.job_id, h.generation + 1, h.live_generation, coalesce(m.seen_status, h.status), coalesce(m.seen_generation, h.generation),
  coalesce(m.seen_attempt, h.attempt_id), coalesce(m.seen_tries, h.tries),
  CASE WHEN m.job_id IS NULL THEN h.started_at ELSE m.seen_started END, CASE WHEN m.job_id IS NULL THEN h.finished_at ELSE m.seen_finished END,
  CASE WHEN m.job_id IS NULL THEN h.last_error ELSE m.seen_error END
FROM held h LEFT JOIN rejudge_set_jobs m ON m.set_id = h.rejudge_set AND m.job_id = h.job_id
ORDER BY h.job_id
RETURNING job_id;

-- name: RejudgeSetFill
WITH log AS (
  INSERT INTO audit_log (actor, action, subject, detail)
  SELECT created_by, 'rejudge_set', 'rejudge:' || id, request FROM rejudge_sets WHERE id = @id::bigint)
UPDATE rejudge_sets SET skipped = @skipped::integer WHERE id = @id RETURNING id;

-- name: RejudgeSetList
-- What became of each judging of a set. A job that was judged again since, or
-- that somebody cancelled, has left it.
SELECT s.id, coalesce(s.key, ''), s.reason, s.request, s.skipped, s.created_by, s.created_at, coalesce(s.resolution, ''), coalesce(s.resolved_by, ''), s.resolved_at,
  count(m.job_id),
  count(*) FILTER (WHERE j.generation = m.generation AND j.status = 'pending'),
  count(*) FILTER (WHERE j.generation = m.generation AND j.status = 'running'),
  count(*) FILTER (WHERE r.job_id IS NOT NULL),
  count(*) FILTER (WHERE j.generation = m.generation AND j.status = 'dead'),
  count(*) FILTER (WHERE r.job_id IS NULL AND (j.generation > m.generation OR j.generation = m.generation AND j.status = 'cancelled')),
  count(*) FILTER (WHERE (r.verdict, r.score) IS DISTINCT FROM (b.verdict, b.score) AND r.job_id IS NOT NULL)
FROM rejudge_sets s
LEFT JOIN rejudge_set_jobs m ON m.set_id = s.id
LEFT JOIN jobs j ON j.job_id = m.job_id
LEFT JOIN results r ON r.job_id = m.job_id AND r.generation = m.generation
LEFT JOIN results b ON b.job_id = m.job_id AND b.generation = m.before
WHERE (@id::bigint = 0 OR s.id = @id) AND s.id < @before::bigint
GROUP BY s.id ORDER BY s.id DESC LIMIT @max::integer;

-- name: RejudgeSetChanges
-- Judgings of a set whose verdict or score is another than before.
SELECT m.job_id, p.author, p.problem::text, coalesce(v.title, p.problem)::text, b.verdict, b.score, r.verdict, r.score
FROM rejudge_set_jobs m
JOIN job_payloads p ON p.job_id = m.job_id
LEFT JOIN problems a ON a.slug = p.problem
LEFT JOIN problem_versions v ON v.slug = a.slug AND v.version = a.version
JOIN results r ON r.job_id = m.job_id AND r.generation = m.generation
JOIN results b ON b.job_id = m.job_id AND b.generation = m.before
WHERE m.set_id = @id::bigint AND m.job_id > @after::bigint AND (r.verdict, r.score) IS DISTINCT FROM (b.verdict, b.score)
ORDER BY m.job_id LIMIT @max::integer;

-- name: RejudgeSetMatrix
-- How many judgings of a set turned which verdict into which.
SELECT b.verdict, r.verdict, count(*)
FROM rejudge_set_jobs m
JOIN results r ON r.job_id = m.job_id AND r.generation = m.generation
JOIN results b ON b.job_id = m.job_id AND b.generation = m.before
WHERE m.set_id = @id::bigint
GROUP BY b.verdict, r.verdict ORDER BY b.verdict, r.verdict;

-- name: RejudgeSetApply
-- Shows the verdicts of a set, all at once, when none of its judgings is under
-- way any more.
WITH one AS MATERIALIZED (SELECT id, resolution FROM rejudge_sets WHERE id = @id::bigint FOR UPDATE),
member AS MATERIALIZED (
  SELECT j.job_id, j.status, j.attempt_id, m.generation
  FROM one JOIN rejudge_set_jobs m ON m.set_id = one.id JOIN jobs j ON j.job_id = m.job_id AND j.generation = m.generation
  WHERE one.resolution IS NULL ORDER BY j.job_id FOR UPDATE OF j),
open AS MATERIALIZED (SELECT count(*) AS n FROM member WHERE status IN ('pending', 'running')),
shown AS (
  UPDATE jobs j SET live_generation = r.generation, verdict = r.verdict, score = r.score, rejudge_set = NULL
  FROM member m JOIN results r ON r.job_id = m.job_id AND r.generation = m.generation
  WHERE j.job_id = m.job_id AND m.status = 'finished' AND (SELECT n FROM open) = 0
  RETURNING j.job_id, m.generation, m.attempt_id, r.verdict, r.score),
noted AS (
  UPDATE rejudge_set_jobs m SET applied = true FROM one WHERE m.set_id = one.id AND m.job_id = ANY (ARRAY(SELECT job_id FROM shown))),
resolved AS (
  UPDATE rejudge_sets s SET resolution = 'applied', resolved_by = @by::text, resolved_at = now()
  FROM one WHERE s.id = one.id AND one.resolution IS NULL AND (SELECT n FROM open) = 0 RETURNING s.id),
log AS (
  INSERT INTO audit_log (actor, action, subject, detail)
  SELECT @by, 'apply', 'rejudge:' || id, jsonb_build_object('submissions', (SELECT count(*) FROM shown)) FROM resolved),
event AS (
  INSERT INTO single_events (job_id, generation, attempt, kind, data)
  SELECT job_id, generation, attempt_id, 'applied',
    jsonb_strip_nulls(jsonb_build_object('by', @by::text, 'set', @id, 'verdict', verdict, 'score', score)) FROM shown)
SELECT coalesce(one.resolution, ''), (SELECT n FROM open), coalesce((SELECT array_agg(job_id) FROM shown), '{}') FROM one;

-- name: RejudgeSetCancel
-- Ends the judgings of a set that are under way. What is shown stays.
WITH one AS MATERIALIZED (SELECT id, resolution FROM rejudge_sets WHERE id = @id::bigint FOR UPDATE),
held AS MATERIALIZED (
  SELECT j.job_id, j.status, j.lease_owner, j.started_at
  FROM one JOIN rejudge_set_jobs m ON m.set_id = one.id JOIN jobs j ON j.job_id = m.job_id AND j.generation = m.generation
  WHERE one.resolution IS NULL AND j.status IN ('pending', 'running') ORDER BY j.job_id FOR UPDATE OF j),
cancelled AS (
  UPDATE jobs j SET status = 'cancelled', finished_at = now(), last_error = NULL, lease_owner = NULL, lease_token = NULL, lease_until = NULL
  FROM held h WHERE j.job_id = h.job_id RETURNING j.job_id, j.generation, j.attempt_id, h.status AS was, h.lease_owner, h.started_at),
outbox AS (DELETE FROM outbox_events WHERE job_id = ANY (ARRAY(SELECT job_id FROM cancelled))),
attempt AS (
  INSERT INTO attempts (job_id, attempt_id, generation, worker, started_at, outcome)
  SELECT job_id, attempt_id, generation, lease_owner, started_at, 'cancelled' FROM cancelled WHERE was = 'running'),
resolved AS (
  UPDATE rejudge_sets s SET resolution = 'cancelled', resolved_by = @by::text, resolved_at = now()
  FROM one WHERE s.id = one.id AND one.resolution IS NULL RETURNING s.id),
log AS (
  INSERT INTO audit_log (actor, action, subject, detail)
  SELECT @by, 'cancel', 'rejudge:' || id, jsonb_build_object('submissions', (SELECT count(*) FROM cancelled)) FROM resolved),
event AS (
  INSERT INTO single_events (job_id, generation, attempt, kind, data)
  SELECT job_id, generation, attempt_id, 'cancelled', jsonb_build_object('by', @by::text, 'set', @id) FROM cancelled)
SELECT coalesce(one.resolution, ''), 0::bigint, coalesce((SELECT array_agg(job_id) FROM cancelled), '{}') FROM one;
