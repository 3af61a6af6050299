-- name: ProblemSave :exec
WITH problem AS (
  INSERT INTO problems (slug, version) VALUES (@slug, @version)
  ON CONFLICT (slug) DO UPDATE SET version = excluded.version, updated_at = now()
  RETURNING slug)
INSERT INTO problem_versions (slug, version, title, problem, created_by)
SELECT slug, @version, @title, @problem, @created_by FROM problem
ON CONFLICT (slug, version) DO UPDATE SET title = excluded.title, problem = excluded.problem;

-- name: ProblemGet :one
SELECT v.problem, p.updated_at FROM problems p JOIN problem_versions v ON v.slug = p.slug AND v.version = p.version
WHERE p.slug = @slug;

-- name: ProblemList :many
SELECT (v.problem - 'statement' - 'samples')::jsonb AS problem, p.updated_at
FROM problems p JOIN problem_versions v ON v.slug = p.slug AND v.version = p.version
ORDER BY p.slug;
