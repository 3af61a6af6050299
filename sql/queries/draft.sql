-- name: DraftNote :exec
-- Says what a job is about that was stored.
INSERT INTO draft_submissions (job_id, slug, version, author) VALUES (@job_id, @slug, @version, @author)
ON CONFLICT DO NOTHING;

-- name: VersionLabelled :one
-- A version as its page would show it.
SELECT problem_labelled(v.problem, v.slug)::jsonb AS problem, v.created_at FROM problem_versions v WHERE v.slug = @slug AND v.version = @version;

-- name: VersionNewest :one
SELECT version, created_by, created_at FROM problem_versions WHERE slug = @slug ORDER BY created_at DESC, version LIMIT 1;

-- name: EditBegin :execrows
-- Takes the turn to make what follows a version, unless somebody else's save of the
-- same is under way. One that was not stored within a few minutes is not.
INSERT INTO problem_edits (slug, seen, by) VALUES (@slug, @seen, @by)
ON CONFLICT (slug, seen) DO UPDATE SET by = excluded.by, job_id = NULL, at = now()
WHERE CASE WHEN problem_edits.job_id IS NULL THEN problem_edits.at < now() - interval '15 min'
  ELSE NOT EXISTS (SELECT 1 FROM jobs j WHERE j.job_id = problem_edits.job_id AND j.status IN ('pending', 'running')) END;

-- name: EditJob :exec
UPDATE problem_edits SET job_id = @job_id::bigint WHERE slug = @slug AND seen = @seen AND by = @by;

-- name: EditEnd :exec
-- Gives the turn back: nothing was stored.
DELETE FROM problem_edits WHERE slug = @slug AND seen = @seen AND by = @by AND job_id IS NULL;

-- name: EditGet :one
SELECT by, coalesce(job_id, 0)::bigint AS job_id, at FROM problem_edits WHERE slug = @slug AND seen = @seen;

-- name: VersionAsImported :one
-- A version as its package says.
SELECT v.problem, v.created_at FROM problem_versions v WHERE v.slug = @slug AND v.version = @version;
