-- name: TokenAdd :execrows
-- On what the participant handed in to the round.
INSERT INTO submission_tokens (job_id, by, at)
SELECT p.job_id, @by, coalesce(sqlc.narg(at)::timestamptz, now()) FROM job_payloads p
WHERE p.job_id = @job_id AND p.round_id = @round_id::bigint AND p.participant_id = @participant::bigint AND NOT p.unofficial
ON CONFLICT (job_id) DO NOTHING;

-- name: TokenList :many
-- What a participant handed in to a round, the newest first, and when a token was spent on it. The verdict as far as it is told.
SELECT p.job_id, p.problem::text AS problem, j.created_at, coalesce(CASE WHEN f.told THEN j.verdict END, '')::text AS verdict, (SELECT k.score FROM jobs k WHERE k.job_id = p.job_id AND f.told) AS score, t.at AS token_at
FROM job_payloads p JOIN jobs j ON j.job_id = p.job_id LEFT JOIN submission_tokens t ON t.job_id = p.job_id,
  LATERAL (SELECT verdict_told(p.job_id, p.round_id) AS told) f
WHERE p.round_id = @round_id::bigint AND p.participant_id = @participant::bigint AND p.problem IS NOT NULL AND NOT p.unofficial
ORDER BY p.job_id DESC;
