-- Contests that were held elsewhere.

-- name: ImportJobIDs :many
SELECT nextval('jobs_job_id_seq')::bigint AS job_id FROM generate_series(1, @n::integer);

-- name: ImportJobs :copyfrom
INSERT INTO jobs (job_id, queue, group_key, language, max_tries, created_at, not_before, status, generation, attempt_id, started_at, finished_at,
  live_generation, verdict, score)
VALUES (@job_id, @queue, @group_key, @language, @max_tries, @created_at, @not_before, @status, @generation, @attempt_id, @started_at, @finished_at,
  @live_generation, @verdict, @score);

-- name: ImportPayloads :copyfrom
INSERT INTO job_payloads (job_id, payload, problem, code_bytes, space_id, round_id, participant_id)
VALUES (@job_id, @payload, @problem, @code_bytes, @space_id, @round_id, @participant_id);

-- name: ImportResults :copyfrom
INSERT INTO results (job_id, generation, attempt_id, verdict, score, result, worker, token, started_at, created_at)
VALUES (@job_id, @generation, @attempt_id, @verdict, @score, @result, @worker, @token, @started_at, @created_at);

-- name: ImportJudged :exec
-- That jobs came with their results, as lists of equal length.
INSERT INTO event_batches (kind, job_ids, generations, attempts, verdicts)
SELECT 'imported', @job_ids::bigint[], @generations::integer[], @attempts::integer[], @verdicts::text[];

-- name: ImportUnjudged :exec
-- That jobs came without one, and are not judged.
INSERT INTO single_events (job_id, generation, attempt, kind, data)
SELECT t.job_id, 1, 0, 'cancelled', jsonb_build_object('by', @by::text) FROM (SELECT unnest(@job_ids::bigint[]) AS job_id) t;

-- name: ImportClarification :one
INSERT INTO clarifications (round_id, code, participant_id, to_participants, to_groups, reply_to, problem, text, by, at, closed_at)
VALUES (@round_id, @code, sqlc.narg(participant_id), @to_participants::bigint[],
  coalesce((SELECT array_agg(g.id ORDER BY g.id) FROM team_groups g WHERE g.space_id = @space_id AND g.code = ANY (@groups::text[])), '{}'),
  sqlc.narg(reply_to), sqlc.narg(problem), @text, @by, @at, sqlc.narg(closed_at))
RETURNING id;

-- name: ImportRecorder :exec
INSERT INTO contest_recorders (round_id, seq, public_seq, teams_seq, shown, unshown) VALUES (@round_id, 0, 0, 0, 0, 1000000000);

-- name: ImportKnown :many
-- Versions of problems that are live, of those that are named, as far as there are any.
SELECT p.slug, p.version, v.problem AS facts, EXISTS (SELECT 1 FROM hidden_problems h WHERE h.slug = p.slug)::boolean AS hidden
FROM problems p JOIN problem_versions v ON v.slug = p.slug AND v.version = p.version WHERE p.slug = ANY (@slugs::text[]);
