-- name: ProfileGet :one
SELECT u.name, u.created_at, (u.disabled_at IS NOT NULL)::boolean AS disabled, coalesce(p.seen_by, 'self')::text AS seen_by
FROM users u LEFT JOIN profiles p ON p.name = u.name WHERE u.name = @name;

-- name: ProfileSet :exec
INSERT INTO profiles (name, seen_by) VALUES (@name, @seen_by)
ON CONFLICT (name) DO UPDATE SET seen_by = excluded.seen_by, at = now() WHERE profiles.seen_by <> excluded.seen_by;

-- name: ProfileProblems :many
-- The problems that somebody has tried, those that were solved last first: of what the
-- viewer may see. Hidden problems, and spaces that are not listed and not the viewer's,
-- are left out.
SELECT s.problem, v.title, count(*) AS tries, bool_or(s.verdict = 'AC')::boolean AS solved, coalesce(min(s.created_at) FILTER (WHERE s.verdict = 'AC'), 'epoch')::timestamptz AS first
FROM profile_submissions s
JOIN problems p ON p.slug = s.problem
JOIN problem_versions v ON v.slug = p.slug AND v.version = p.version
WHERE s.author = @author::text AND (NOT s.hidden OR @hidden::boolean)
  AND (s.listed OR @everything::boolean OR EXISTS (SELECT 1 FROM space_members m WHERE m.space_id = s.space_id AND m.user_name = @viewer))
GROUP BY s.problem, v.title
ORDER BY first DESC, s.problem LIMIT @max::integer;

-- name: ProfileDays :many
-- How often somebody has handed in on each day (UTC) of the last ones, of the same.
SELECT ((now() AT TIME ZONE 'UTC')::date - (s.created_at AT TIME ZONE 'UTC')::date)::integer AS ago, count(*) AS submitted, count(*) FILTER (WHERE s.verdict = 'AC') AS accepted
FROM profile_submissions s
WHERE s.author = @author::text AND (NOT s.hidden OR @hidden::boolean)
  AND (s.listed OR @everything::boolean OR EXISTS (SELECT 1 FROM space_members m WHERE m.space_id = s.space_id AND m.user_name = @viewer))
  AND s.created_at > now() - make_interval(days => @days::integer)
GROUP BY ago ORDER BY ago;
