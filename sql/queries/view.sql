-- name: AuditLogAdd :exec
INSERT INTO audit_log (actor, action, subject, detail) VALUES (@actor, @action, @subject, @detail);

-- name: AuditLogList :many
-- Newest first. A subject without a name behind its colon stands for all of its
-- kind.
SELECT id, at, actor, action, subject, detail FROM audit_log
WHERE id < @before AND (@actor::text = '' OR actor = @actor) AND (@action::text = '' OR action = @action)
  AND (@subject::text = '' OR subject = @subject OR right(@subject, 1) = ':' AND starts_with(subject, @subject))
ORDER BY id DESC LIMIT @max::integer;

-- name: JobStamps :many
-- A job has another stamp when it has another event: those of batches move the row of the job as well.
SELECT j.job_id, concat_ws('.', j.status, j.generation, j.attempt_id, (SELECT max(e.id) FROM single_events e WHERE e.job_id = j.job_id))::text AS stamp
FROM jobs j WHERE j.job_id = ANY (@job_ids::bigint[]);
