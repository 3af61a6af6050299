-- name: DeadLetterList :many
-- Newest first.
SELECT d.job_id, d.generation, d.attempt_id, d.tries, d.reason, d.error, d.at, d.resolution, d.resolved_by, d.resolved_at, j.kind, j.queue,
  coalesce((SELECT a.detail ->> 'reason' FROM audit_log a
    WHERE d.resolution = 'discarded' AND a.subject = 'job:' || d.job_id AND a.action = 'discard' AND (a.detail ->> 'generation')::integer = d.generation
    ORDER BY a.id DESC LIMIT 1), '')::text AS note
FROM dead_letters d JOIN jobs j ON j.job_id = d.job_id
WHERE (d.job_id, d.generation) < (@before::bigint, @before_generation::integer) AND (@unresolved::boolean = false OR d.resolution IS NULL) AND (@job_id::bigint = 0 OR d.job_id = @job_id)
  AND (@reason::text = '' OR d.reason = @reason)
ORDER BY d.job_id DESC, d.generation DESC LIMIT @max::integer;

-- name: DeadLetterReasons :many
-- Why jobs were given up that nobody has cared for, the most frequent first.
SELECT reason, count(*) AS letters FROM dead_letters WHERE resolution IS NULL GROUP BY reason ORDER BY letters DESC, reason;

-- name: DeadLettersToReplay :many
-- Unresolved dead letters of jobs behind one, in order.
SELECT d.job_id FROM dead_letters d JOIN jobs j USING (job_id)
WHERE d.job_id > @behind AND d.resolution IS NULL AND d.at <= @until AND (@reason::text = '' OR d.reason = @reason) AND j.status = 'dead'
ORDER BY d.job_id LIMIT @max::integer;

-- name: DatabaseNow :one
SELECT now()::timestamptz AS now;
