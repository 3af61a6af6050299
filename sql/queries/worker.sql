-- name: WorkerBeat :exec
INSERT INTO workers (name, pool, languages, info, started_at) VALUES (@name, @pool, @languages, @info, @started_at)
ON CONFLICT (name) DO UPDATE SET pool = excluded.pool, languages = excluded.languages, info = excluded.info, seen_at = now();

-- name: WorkerList :many
SELECT info, seen_at FROM workers WHERE seen_at > now() - sqlc.arg(max_age)::interval ORDER BY name;

-- name: WorkerGone :exec
DELETE FROM workers WHERE name = @name OR seen_at < now() - interval '7 days';
