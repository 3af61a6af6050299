-- name: WorkerBeat :exec
INSERT INTO workers (name, pool, languages, info, started_at) VALUES (@name, @pool, @languages, @info, @started_at)
ON CONFLICT (name) DO UPDATE SET pool = excluded.pool, languages = excluded.languages, info = excluded.info, seen_at = now();

-- name: WorkerList :many
SELECT info, seen_at FROM workers WHERE seen_at > now() - sqlc.arg(max_age)::interval ORDER BY name;

-- name: WorkerRuns :many
-- What workers have under way, the oldest first.
SELECT j.lease_owner::text AS worker, j.job_id, j.kind, j.language, j.attempt_id, j.started_at::timestamptz AS started_at
FROM outbox_events o JOIN jobs j ON j.job_id = o.job_id
WHERE o.state = 'L' AND j.status = 'running' ORDER BY j.started_at, j.job_id LIMIT @max::integer;

-- name: WorkerGone :exec
DELETE FROM workers WHERE name = @name OR seen_at < now() - interval '7 days';
