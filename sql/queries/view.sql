-- name: SubmissionView :one
-- One submission with its queue row, live result and payload. A judging in a
-- rejudge set goes on beside it: the submission stays finished, and whoever may
-- not see the whole sees it as it was when the set began.
SELECT j.job_id, s.problem::text AS problem, coalesce(v.title, s.problem)::text AS title, j.language, s.author,
  (CASE WHEN m.job_id IS NOT NULL THEN m.seen_status WHEN j.rejudge_set IS NOT NULL AND j.live_generation IS NOT NULL THEN 'finished' ELSE j.status END)::text AS status,
  (CASE WHEN m.job_id IS NULL THEN coalesce(o.state::text, '') ELSE '' END)::text AS queue_state,
  (CASE WHEN @whole::boolean OR j.generation = 1 THEN j.generation ELSE generation_seen(j.job_id, coalesce(m.seen_generation, j.generation)) END)::integer AS generation,
  (CASE WHEN @whole OR j.generation = 1 THEN j.attempt_id ELSE attempt_seen(j.job_id, coalesce(m.seen_attempt, j.attempt_id)) END)::integer AS attempt_id,
  coalesce(m.seen_tries, j.tries)::integer AS tries, j.max_tries, j.trace_id, j.created_at,
  (m.job_id IS NOT NULL)::boolean AS aside, j.started_at, m.seen_started, j.finished_at, m.seen_finished,
  coalesce(CASE WHEN m.job_id IS NULL THEN j.last_error ELSE m.seen_error END, '')::text AS last_error, checker_messages(s.problem) AS checker_messages,
  r.result, s.payload, coalesce(c.slug, '')::text AS space, coalesce(s.space_id, 0)::bigint AS space_id, s.unofficial
FROM jobs j
JOIN job_payloads s ON s.job_id = j.job_id
LEFT JOIN rejudge_set_jobs m ON m.set_id = j.rejudge_set AND m.job_id = j.job_id AND NOT @whole
LEFT JOIN outbox_events o ON o.job_id = j.job_id
LEFT JOIN results r ON r.job_id = j.job_id AND r.generation = j.live_generation
LEFT JOIN spaces c ON c.id = s.space_id
LEFT JOIN problems p ON p.slug = s.problem
LEFT JOIN problem_versions v ON v.slug = p.slug AND v.version = p.version
WHERE j.job_id = @job_id AND j.kind = 'submission';

-- name: SubmissionList :many
-- Newest first. The result comes without its tests, groups and compiler output.
SELECT j.job_id, s.problem::text AS problem, coalesce(v.title, s.problem)::text AS title, j.language, s.author,
  (CASE WHEN m.job_id IS NOT NULL THEN m.seen_status WHEN j.rejudge_set IS NOT NULL AND j.live_generation IS NOT NULL THEN 'finished' ELSE j.status END)::text AS status,
  (CASE WHEN m.job_id IS NULL THEN coalesce(o.state::text, '') ELSE '' END)::text AS queue_state,
  (CASE WHEN @whole::boolean OR j.generation = 1 THEN j.generation ELSE generation_seen(j.job_id, coalesce(m.seen_generation, j.generation)) END)::integer AS generation,
  (CASE WHEN @whole OR j.generation = 1 THEN j.attempt_id ELSE attempt_seen(j.job_id, coalesce(m.seen_attempt, j.attempt_id)) END)::integer AS attempt_id,
  coalesce(m.seen_tries, j.tries)::integer AS tries, j.max_tries, j.trace_id, j.created_at,
  (m.job_id IS NOT NULL)::boolean AS aside, j.started_at, m.seen_started, j.finished_at, m.seen_finished,
  coalesce(CASE WHEN m.job_id IS NULL THEN j.last_error ELSE m.seen_error END, '')::text AS last_error, checker_messages(s.problem) AS checker_messages,
  (r.result::jsonb - '{tests,groups,compile}'::text[])::json AS result, coalesce(c.slug, '')::text AS space, coalesce(s.space_id, 0)::bigint AS space_id, s.unofficial
FROM job_payloads s
JOIN jobs j ON j.job_id = s.job_id
LEFT JOIN rejudge_set_jobs m ON m.set_id = j.rejudge_set AND m.job_id = j.job_id AND NOT @whole
LEFT JOIN outbox_events o ON o.job_id = j.job_id
LEFT JOIN results r ON r.job_id = s.job_id AND r.generation = j.live_generation
LEFT JOIN spaces c ON c.id = s.space_id
LEFT JOIN problems p ON p.slug = s.problem
LEFT JOIN problem_versions v ON v.slug = p.slug AND v.version = p.version
WHERE s.job_id < @before AND s.problem IS NOT NULL
  AND (@author::text = '' OR s.author = @author)
  AND (@problem::text = '' OR s.problem = @problem)
  AND (@language::text = '' OR j.language = @language)
  AND (@verdict::text = '' OR j.verdict = @verdict)
  AND (@space_id::bigint = 0 OR s.space_id = @space_id)
  AND j.kind = 'submission'
ORDER BY s.job_id DESC LIMIT @max::integer;

-- name: AuditLogAdd :exec
INSERT INTO audit_log (actor, action, subject, detail) VALUES (@actor, @action, @subject, @detail);

-- name: AuditLogList :many
-- Newest first. A subject without a name behind its colon stands for all of its
-- kind.
SELECT id, at, actor, action, subject, detail FROM audit_log
WHERE id < @before AND (@actor::text = '' OR actor = @actor) AND (@action::text = '' OR action = @action)
  AND (@subject::text = '' OR subject = @subject OR right(@subject, 1) = ':' AND starts_with(subject, @subject))
ORDER BY id DESC LIMIT @max::integer;
