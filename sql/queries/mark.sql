-- name: MarkAdd :execrows
-- Only what a participant handed in to the round.
INSERT INTO submission_marks (job_id, reason, by)
SELECT p.job_id, @reason, @by FROM job_payloads p
WHERE p.job_id = @job_id AND p.round_id = @round_id::bigint AND p.participant_id IS NOT NULL AND NOT p.unofficial
ON CONFLICT (job_id) DO NOTHING;

-- name: MarkRemove :execrows
DELETE FROM submission_marks m USING job_payloads p WHERE m.job_id = @job_id AND p.job_id = m.job_id AND p.round_id = @round_id::bigint;

-- name: MarkList :many
SELECT m.job_id, m.reason, m.by, m.at, p.problem::text AS problem, t.code, coalesce(c.number, 0)::bigint AS number
FROM submission_marks m JOIN job_payloads p ON p.job_id = m.job_id JOIN participants t ON t.id = p.participant_id
LEFT JOIN contest_submissions c ON c.job_id = m.job_id
WHERE p.round_id = @round_id::bigint AND m.job_id > @after::bigint ORDER BY m.job_id LIMIT @max::integer;
