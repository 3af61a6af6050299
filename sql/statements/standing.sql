-- Statements that pgx runs as they stand; sqlc does not read this file. Each returns
-- rows of one shape, jobRow: where jobs stand, and what their kind adds.

-- name: Standing :part
-- Where a job stands. A judging in a rejudge set goes on beside it: the submission
-- stays finished, and whoever may not see the whole sees it as it was when the set
-- began.
j.job_id, j.kind, j.queue, j.group_key,
  (CASE WHEN m.job_id IS NOT NULL THEN m.seen_status WHEN j.rejudge_set IS NOT NULL AND j.live_generation IS NOT NULL THEN 'finished' ELSE j.status END)::text AS status,
  (CASE WHEN m.job_id IS NULL THEN coalesce((SELECT o.state::text FROM outbox_events o WHERE o.job_id = j.job_id), '') ELSE '' END)::text AS queue_state,
  (CASE WHEN @whole::boolean OR j.generation = 1 THEN j.generation ELSE generation_seen(j.job_id, coalesce(m.seen_generation, j.generation)) END)::integer AS generation,
  (CASE WHEN @whole OR j.generation = 1 THEN j.attempt_id ELSE attempt_seen(j.job_id, coalesce(m.seen_attempt, j.attempt_id)) END)::integer AS attempt_id,
  coalesce(m.seen_tries, j.tries)::integer AS tries, j.max_tries, j.trace_id, j.created_at,
  (CASE WHEN m.job_id IS NULL THEN j.started_at ELSE m.seen_started END) AS started_at,
  (CASE WHEN m.job_id IS NULL THEN j.finished_at ELSE m.seen_finished END) AS finished_at,
  coalesce(CASE WHEN m.job_id IS NULL THEN j.last_error ELSE m.seen_error END, '')::text AS last_error

-- name: StandingJoins :part
LEFT JOIN rejudge_set_jobs m ON m.set_id = j.rejudge_set AND m.job_id = j.job_id AND NOT @whole

-- name: Submitted :part
-- What a submission adds. A list has results without their tests, groups and
-- compiler output.
s.problem, coalesce(v.title, s.problem) AS title, j.language, s.author, checker_messages(s.problem) AS told,
  coalesce(c.slug, '') AS space, coalesce(s.space_id, 0) AS space_id, coalesce(s.participant_id, 0) AS participant,
  coalesce((SELECT coalesce(nullif(t.display_name, ''), t.name) FROM participants t WHERE t.id = s.participant_id), '') AS team,
  coalesce((SELECT d.code FROM rounds d WHERE d.id = s.round_id), '') AS round, s.unofficial,
  CASE WHEN s.round_id IS NULL THEN '' ELSE feedback_told(s.job_id) END AS feedback

-- name: SubmittedJoins :part
LEFT JOIN results r ON r.job_id = j.job_id AND r.generation = j.live_generation
LEFT JOIN spaces c ON c.id = s.space_id
LEFT JOIN problems p ON p.slug = s.problem
LEFT JOIN problem_versions v ON v.slug = p.slug AND v.version = p.version

-- name: StandingSubmission
SELECT @Standing, @Submitted, r.result, s.payload
FROM jobs j
JOIN job_payloads s ON s.job_id = j.job_id
@StandingJoins
@SubmittedJoins
WHERE j.job_id = @job_id AND j.kind = 'submission';

-- name: StandingSubmissions
-- Newest first.
SELECT @Standing, @Submitted, (r.result::jsonb - '{tests,groups,compile}'::text[])::json AS result
FROM job_payloads s
JOIN jobs j ON j.job_id = s.job_id
@StandingJoins
@SubmittedJoins
WHERE s.job_id < @before AND s.problem IS NOT NULL
  AND (@author::text = '' OR s.author = @author)
  AND (@problem::text = '' OR s.problem = @problem)
  AND (@language::text = '' OR j.language = @language)
  AND (@verdict::text = '' OR j.verdict = @verdict AND (@unveiled::boolean OR verdict_told(s.job_id, s.round_id)))
  AND (@space_id::bigint = 0 OR s.space_id = @space_id)
  AND (@round_id::bigint = 0 OR s.round_id = @round_id)
  AND (@participant::bigint = 0 OR s.participant_id = @participant)
  AND j.kind = 'submission'
ORDER BY s.job_id DESC LIMIT @max::integer;

-- name: StandingDraft
SELECT @Standing, d.slug AS problem, d.version, coalesce(v.title, d.slug) AS title, j.language, d.author, r.result, s.payload
FROM draft_submissions d
JOIN jobs j ON j.job_id = d.job_id AND j.kind = 'draft'
@StandingJoins
LEFT JOIN job_payloads s ON s.job_id = d.job_id
LEFT JOIN results r ON r.job_id = j.job_id AND r.generation = j.generation
LEFT JOIN problem_versions v ON v.slug = d.slug AND v.version = d.version
WHERE d.job_id = @job_id;

-- name: StandingDrafts
-- Newest first. An empty version does not restrict.
SELECT @Standing, d.slug AS problem, d.version, coalesce(v.title, d.slug) AS title, j.language, d.author,
  (r.result::jsonb - '{tests,groups,compile}'::text[])::json AS result
FROM draft_submissions d
JOIN jobs j ON j.job_id = d.job_id AND j.kind = 'draft'
@StandingJoins
LEFT JOIN results r ON r.job_id = j.job_id AND r.generation = j.generation
LEFT JOIN problem_versions v ON v.slug = d.slug AND v.version = d.version
WHERE d.slug = @slug AND (@version::text = '' OR d.version = @version) AND d.job_id < @before
ORDER BY d.job_id DESC LIMIT @max::integer;

-- name: StandingRuns
SELECT @Standing, coalesce(j.idempotency_key, '') AS token, checker_messages(coalesce(s.problem, '')) AS told, r.result, s.payload
FROM jobs j
@StandingJoins
LEFT JOIN results r ON r.job_id = j.job_id AND r.generation = j.generation
LEFT JOIN job_payloads s ON s.job_id = j.job_id
WHERE j.job_id = ANY (@job_ids::bigint[]) AND j.kind = 'run';

-- name: StandingJob
-- The head of the payload: files may be large, and come last in it.
SELECT @Standing, r.result, substring(s.payload from 1 for 4096) AS payload
FROM jobs j
@StandingJoins
LEFT JOIN results r ON r.job_id = j.job_id AND r.generation = j.generation
LEFT JOIN job_payloads s ON s.job_id = j.job_id
WHERE j.job_id = @job_id;

-- name: StandingJobs
-- The newest jobs of some kinds other than submission. Of the result a list has the
-- verdict.
SELECT @Standing, CASE WHEN r.verdict IS NOT NULL THEN json_build_object('verdict', r.verdict) END AS result,
  substring(s.payload from 1 for 4096) AS payload
FROM jobs j
@StandingJoins
LEFT JOIN results r ON r.job_id = j.job_id AND r.generation = j.generation
LEFT JOIN job_payloads s ON s.job_id = j.job_id
WHERE j.kind <> 'submission' AND j.kind = ANY (@kinds::text[]) AND j.job_id < @before
ORDER BY j.job_id DESC LIMIT @max::integer;
