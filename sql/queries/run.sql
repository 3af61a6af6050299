-- name: JobStates :many
-- How jobs stand, which is little to read.
SELECT job_id, status FROM jobs WHERE job_id = ANY (@job_ids::bigint[]);

-- name: RunsOfTokens :many
-- The index jobs_run_token answers. Keys are unique within a group only.
SELECT job_id, idempotency_key::text AS token, group_key FROM jobs
WHERE idempotency_key = ANY (@tokens::text[]) AND kind = 'run' ORDER BY job_id;

-- name: RunPage :many
-- Runs whose keys begin so, newest first.
SELECT job_id FROM jobs
WHERE kind = 'run' AND starts_with(idempotency_key, @prefix::text)
ORDER BY job_id DESC OFFSET @skip::bigint LIMIT @max::bigint;

-- name: RunCount :one
SELECT count(*) FROM jobs
WHERE kind = 'run' AND starts_with(idempotency_key, @prefix::text);

-- name: RunCensus :many
-- How many runs whose keys begin so there are of each day, language and end. The signal is that of the test that decided.
SELECT (j.created_at AT TIME ZONE 'UTC')::date AS day, j.language, j.status, coalesce(r.verdict, '')::text AS verdict,
  coalesce((SELECT (t->>'exit_signal')::integer FROM json_array_elements(CASE r.verdict WHEN 'RE' THEN r.result->'tests' END) t
    WHERE t->>'verdict' = r.verdict LIMIT 1), 0)::integer AS signal,
  count(*) AS runs
FROM jobs j LEFT JOIN results r ON r.job_id = j.job_id AND r.generation = j.generation
WHERE j.kind = 'run' AND starts_with(j.idempotency_key, @prefix::text)
GROUP BY 1, 2, 3, 4, 5;

-- name: DatabaseSize :one
SELECT pg_database_size(current_database())::bigint;

-- name: CallbackSave :exec
INSERT INTO callbacks (token, group_key, url) VALUES (@token, @group_key, @url);

-- name: CallbackDue :many
-- Takes callbacks whose runs have ended, for as long as the lease. One whose run
-- was never stored, or is kept no more, is forgotten after a day.
WITH lost AS (
  DELETE FROM callbacks c WHERE c.created_at < now() - interval '1 day' AND NOT EXISTS (
    SELECT 1 FROM jobs j WHERE j.idempotency_key = c.token AND j.group_key = c.group_key AND j.kind = 'run')),
due AS MATERIALIZED (
  SELECT c.token, j.job_id FROM callbacks c
  JOIN jobs j ON j.idempotency_key = c.token AND j.group_key = c.group_key AND j.kind = 'run'
  WHERE c.not_before <= now() AND j.status IN ('finished', 'cancelled', 'dead')
  ORDER BY c.not_before LIMIT @max::integer FOR UPDATE OF c SKIP LOCKED)
UPDATE callbacks c SET tries = c.tries + 1, not_before = now() + interval '1 min'
FROM due WHERE c.token = due.token
RETURNING c.token, due.job_id, c.url, c.tries;

-- name: CallbackDone :exec
DELETE FROM callbacks WHERE token = @token;

-- name: CallbackAgain :exec
UPDATE callbacks SET not_before = now() + tries * interval '1 s' WHERE token = @token;
