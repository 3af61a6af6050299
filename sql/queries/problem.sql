-- name: ProblemSave :exec
WITH before AS MATERIALIZED (SELECT p.version FROM problems p WHERE p.slug = @slug FOR UPDATE),
kept AS (
  INSERT INTO problem_versions (slug, version, title, problem, created_by)
  SELECT @slug, @version, @title, @problem, @created_by WHERE (SELECT count(*) FROM before) >= 0 -- looks before it writes
  ON CONFLICT (slug, version) DO UPDATE SET title = excluded.title, problem = excluded.problem
  RETURNING slug, version, created_by),
change AS (
  INSERT INTO problem_changes (slug, version, previous, by)
  SELECT k.slug, k.version, (SELECT b.version FROM before b), @created_by FROM kept k
  WHERE k.version IS DISTINCT FROM (SELECT b.version FROM before b))
INSERT INTO problems (slug, version) SELECT slug, version FROM kept
ON CONFLICT (slug) DO UPDATE SET version = excluded.version, updated_at = now();

-- name: ProblemGet :one
SELECT problem_labelled(v.problem, p.slug)::jsonb AS problem, p.updated_at, EXISTS (SELECT 1 FROM hidden_problems h WHERE h.slug = p.slug)::boolean AS hidden
FROM problems p JOIN problem_versions v ON v.slug = p.slug AND v.version = p.version
WHERE p.slug = @slug;

-- name: ProblemList :many
SELECT (problem_labelled(v.problem, p.slug) - 'statement' - 'samples')::jsonb AS problem, p.updated_at, (h.slug IS NOT NULL)::boolean AS hidden
FROM problems p JOIN problem_versions v ON v.slug = p.slug AND v.version = p.version
LEFT JOIN hidden_problems h ON h.slug = p.slug
ORDER BY p.slug;

-- name: VersionKeep :exec
-- Keeps a version without making it live. Job 0 is none.
INSERT INTO problem_versions (slug, version, title, problem, created_by, import_job)
VALUES (@slug, @version, @title, @problem, @created_by, nullif(@job_id::bigint, 0))
ON CONFLICT (slug, version) DO UPDATE SET title = excluded.title, problem = excluded.problem,
  import_job = greatest(problem_versions.import_job, excluded.import_job);

-- name: VersionInstead :exec
-- In rounds, in the place of one of which nothing was known but what a contest said.
UPDATE round_problems SET version = is_now.version
FROM problem_versions was, problem_versions is_now
WHERE was.slug = @slug AND was.version = @instead AND is_now.slug = @slug AND is_now.version = @version
  AND round_problems.problem = @slug AND round_problems.version = @instead
  AND NOT EXISTS (SELECT 1 FROM unnest(ARRAY['title', 'max_score', 'cpu_ms', 'memory_mib', 'output_mib', 'code_kib', 'tests']) k
    WHERE was.problem -> k IS DISTINCT FROM is_now.problem -> k);

-- name: VersionProve :exec
-- A proof of no job, which is job 0, is of this moment.
UPDATE problem_versions SET proved = @proved::boolean, report = @report, proof_job = nullif(@job_id::bigint, 0)
WHERE slug = @slug AND version = @version AND (coalesce(proof_job, 0) <= @job_id OR @job_id = 0);

-- name: VersionGet :one
SELECT v.slug, v.version, v.title, v.created_by, v.created_at, coalesce(v.import_job, 0)::bigint AS import_job,
  coalesce(v.proof_job, 0)::bigint AS proof_job, v.proved, v.report, (p.version IS NOT NULL)::boolean AS live
FROM problem_versions v LEFT JOIN problems p ON p.slug = v.slug AND p.version = v.version
WHERE v.slug = @slug AND v.version = @version;

-- name: VersionOfImport :one
-- The version that an import has made already, if its worker was lost after that.
SELECT version FROM problem_versions WHERE import_job = @job_id::bigint;

-- name: VersionList :many
-- The newest of a problem first, without reports. An empty slug does not restrict.
SELECT v.slug, v.version, v.title, v.created_by, v.created_at, coalesce(v.import_job, 0)::bigint AS import_job,
  coalesce(v.proof_job, 0)::bigint AS proof_job, v.proved, (p.version IS NOT NULL)::boolean AS live
FROM problem_versions v LEFT JOIN problems p ON p.slug = v.slug AND p.version = v.version
WHERE @slug::text = '' OR v.slug = @slug
ORDER BY v.slug, v.created_at DESC, v.version;

-- name: VersionActivate :one
-- Nothing changes, and there is no row, when the version is live already, when it
-- may not be, or when the job has made it live before.
WITH before AS MATERIALIZED (SELECT p.version FROM problems p WHERE p.slug = @slug FOR UPDATE),
kept AS MATERIALIZED (
  SELECT v.slug, v.version, v.proved FROM problem_versions v
  WHERE v.slug = @slug AND v.version = @version AND (v.proved OR @unproved::boolean)
    AND (SELECT count(*) FROM before) >= 0 -- looks before it writes
    AND NOT EXISTS (SELECT 1 FROM problem_changes c WHERE c.job_id = nullif(@job_id::bigint, 0))),
active AS (
  INSERT INTO problems (slug, version) SELECT slug, version FROM kept
  ON CONFLICT (slug) DO UPDATE SET version = excluded.version, updated_at = now() WHERE problems.version <> excluded.version
  RETURNING problems.slug, problems.version),
change AS (
  INSERT INTO problem_changes (slug, version, previous, by, job_id)
  SELECT slug, version, (SELECT b.version FROM before b), @by::text, nullif(@job_id::bigint, 0) FROM active),
log AS (
  INSERT INTO audit_log (actor, action, subject, detail)
  SELECT @by, @action::text, 'problem:' || slug,
    jsonb_build_object('version', version, 'previous', (SELECT b.version FROM before b), 'proved', (SELECT k.proved FROM kept k)) FROM active)
SELECT version FROM active;

-- name: ProblemChanges :many
SELECT version, coalesce(previous, '')::text AS previous, by, at FROM problem_changes
WHERE slug = @slug ORDER BY id DESC LIMIT @max::integer;

-- name: CheckerMessagesSet :one
-- Who reads what a problem's checkers say; "" is as the package says. All is
-- refused, and there is no row, while a checker may give answers away. Nothing is
-- logged when nothing changes.
WITH before AS MATERIALIZED (SELECT s.checker_messages FROM problem_settings s WHERE s.slug = @slug FOR UPDATE),
may AS MATERIALIZED (SELECT 1 WHERE @checker_messages::text <> 'all' OR EXISTS (SELECT 1 FROM problems WHERE slug = @slug) AND checker_untold(@slug) IS NULL),
put AS (
  INSERT INTO problem_settings (slug, checker_messages, by) SELECT @slug, @checker_messages, @by FROM may WHERE @checker_messages <> ''
  ON CONFLICT (slug) DO UPDATE SET checker_messages = excluded.checker_messages, by = excluded.by, at = now()
  WHERE problem_settings.checker_messages <> excluded.checker_messages RETURNING slug),
gone AS (DELETE FROM problem_settings s WHERE s.slug = @slug AND @checker_messages = '' RETURNING s.slug),
log AS (
  INSERT INTO audit_log (actor, action, subject, detail)
  SELECT @by, 'checker_messages', 'problem:' || c.slug, jsonb_build_object('was', coalesce((SELECT b.checker_messages FROM before b), ''), 'is', @checker_messages)
  FROM (SELECT put.slug FROM put UNION ALL SELECT gone.slug FROM gone) c)
SELECT true::boolean AS done FROM may;

-- name: CheckerMessagesGet :one
-- What was chosen on the page, what the package says, what counts, and the first
-- checker that keeps all from counting.
SELECT coalesce((SELECT s.checker_messages FROM problem_settings s WHERE s.slug = @slug), '')::text AS chosen,
  coalesce((SELECT v.problem ->> 'checker_messages' FROM problems p JOIN problem_versions v ON v.slug = p.slug AND v.version = p.version WHERE p.slug = @slug), '')::text AS package,
  checker_messages(@slug)::text AS counts, (checker_untold(@slug) IS NOT NULL)::boolean AS barred, coalesce(checker_untold(@slug), '')::text AS untold;

-- name: ToldOfJob :one
SELECT checker_messages(coalesce(p.problem, ''))::text AS counts, coalesce(p.space_id, 0)::bigint AS space_id,
  (CASE WHEN p.round_id IS NULL THEN '' ELSE feedback_told(p.job_id) END)::text AS feedback
FROM (VALUES (1)) one LEFT JOIN job_payloads p ON p.job_id = @job_id;
