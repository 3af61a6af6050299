-- name: OverridePut :one
-- Judges a submission of a participant to a round, by hand: as a judging of its own, behind the one that counts. Its result is that of
-- the one before, with another verdict. Not while it is judged, or in a rejudge set.
WITH held AS MATERIALIZED (
  SELECT j.job_id, j.generation FROM jobs j JOIN job_payloads p ON p.job_id = j.job_id
  WHERE j.job_id = @job_id AND p.round_id = @round_id::bigint AND p.participant_id IS NOT NULL AND NOT p.unofficial
    AND j.status = 'finished' AND j.live_generation = j.generation AND j.rejudge_set IS NULL AND p.next IS NULL
  FOR UPDATE OF j),
judged AS (
  UPDATE jobs SET generation = jobs.generation + 1, live_generation = jobs.generation + 1, attempt_id = jobs.attempt_id + 1,
    verdict = @verdict::text, score = sqlc.narg(score), started_at = now(), finished_at = now()
  FROM held WHERE jobs.job_id = held.job_id
  RETURNING jobs.job_id, jobs.generation, jobs.attempt_id, held.generation AS before),
kept AS (
  INSERT INTO results (job_id, generation, attempt_id, verdict, score, result, worker, token, started_at)
  SELECT n.job_id, n.generation, n.attempt_id, @verdict, sqlc.narg(score),
    (((r.result::jsonb - 'score' - 'message_by') - CASE WHEN sqlc.narg(score) IS NULL THEN '' ELSE 'groups' END)
      || jsonb_strip_nulls(jsonb_build_object('verdict', @verdict, 'score', sqlc.narg(score), 'message', @message::text)))::json,
    @worker::text, gen_random_uuid(), now()
  FROM judged n JOIN results r ON r.job_id = n.job_id AND r.generation = n.before),
noted AS (
  INSERT INTO verdict_overrides (job_id, generation, before, reason, by)
  SELECT job_id, generation, before, @reason, @by FROM judged),
event AS (
  INSERT INTO single_events (job_id, generation, attempt, kind, data)
  SELECT job_id, generation, attempt_id, 'finished', jsonb_strip_nulls(jsonb_build_object('verdict', @verdict, 'score', sqlc.narg(score))) FROM judged)
SELECT count(*) FROM judged;

-- name: OverrideList :many
SELECT o.job_id, o.generation, o.reason, o.by, o.at, p.problem::text AS problem, t.code, r.verdict, r.score, b.verdict AS before,
  (j.live_generation = o.generation)::boolean AS counts, coalesce(c.number, 0)::bigint AS number
FROM verdict_overrides o JOIN job_payloads p ON p.job_id = o.job_id JOIN jobs j ON j.job_id = o.job_id JOIN participants t ON t.id = p.participant_id
JOIN results r ON r.job_id = o.job_id AND r.generation = o.generation JOIN results b ON b.job_id = o.job_id AND b.generation = o.before
LEFT JOIN contest_submissions c ON c.job_id = o.job_id
WHERE p.round_id = @round_id::bigint AND o.job_id > @after::bigint ORDER BY o.job_id, o.generation LIMIT @max::integer;

-- name: OverrideWhere :one
-- Where a submission of a round stands that cannot be judged by hand; no row: there is none.
SELECT j.status, (j.rejudge_set IS NOT NULL)::boolean AS in_set FROM jobs j JOIN job_payloads p ON p.job_id = j.job_id
WHERE j.job_id = @job_id AND p.round_id = @round_id::bigint AND p.participant_id IS NOT NULL AND NOT p.unofficial;
