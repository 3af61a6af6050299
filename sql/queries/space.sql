-- name: SpaceGet :one
-- A space as somebody sees it, with the database's time.
SELECT s.*, now()::timestamptz AS now, coalesce(m.role, '')::text AS role,
  (SELECT count(*) FROM space_members c WHERE c.space_id = s.id) AS members,
  (SELECT count(*) FROM space_problems c WHERE c.space_id = s.id) AS problems
FROM spaces s LEFT JOIN space_members m ON m.space_id = s.id AND m.user_name = @viewer
WHERE s.slug = @slug;

-- name: SpaceList :many
-- The newest first: listed ones, those of the viewer, or all.
SELECT s.*, now()::timestamptz AS now, coalesce(m.role, '')::text AS role,
  (SELECT count(*) FROM space_members c WHERE c.space_id = s.id) AS members,
  (SELECT count(*) FROM space_problems c WHERE c.space_id = s.id) AS problems
FROM spaces s LEFT JOIN space_members m ON m.space_id = s.id AND m.user_name = @viewer
WHERE (s.listed OR m.role IS NOT NULL OR @all_of_them::boolean)
  AND (@before::text = '' OR s.id < (SELECT b.id FROM spaces b WHERE b.slug = @before))
ORDER BY s.id DESC LIMIT @max::integer;

-- name: SpaceCreate :execrows
WITH made AS (
  INSERT INTO spaces (slug, title, description, opens_at, closes_at, languages, max_source_kib, max_waiting, per_minute, listed, created_by)
  VALUES (@slug, @title, @description, @opens_at, @closes_at, @languages, @max_source_kib, @max_waiting, @per_minute, @listed, @by)
  ON CONFLICT DO NOTHING RETURNING *)
INSERT INTO audit_log (actor, action, subject, detail)
SELECT @by, 'space_create', 'space:' || made.slug, to_jsonb(made) - 'id' - 'slug' - 'description' - 'created_by' - 'created_at' FROM made;

-- name: SpaceUpdate :execrows
-- The log keeps what the settings were and what they are.
WITH before AS MATERIALIZED (SELECT s.* FROM spaces s WHERE s.slug = @slug FOR UPDATE),
changed AS (
  UPDATE spaces s SET title = @title, description = @description, opens_at = @opens_at, closes_at = @closes_at, languages = @languages,
    max_source_kib = @max_source_kib, max_waiting = @max_waiting, per_minute = @per_minute, listed = @listed
  FROM before b WHERE s.id = b.id RETURNING s.*)
INSERT INTO audit_log (actor, action, subject, detail)
SELECT @by::text, 'space_update', 'space:' || c.slug,
  (SELECT jsonb_object_agg(n.key, jsonb_build_array(o.value, n.value))
   FROM jsonb_each(to_jsonb(c)) n JOIN jsonb_each(to_jsonb(b)) o ON o.key = n.key AND o.value <> n.value AND n.key <> 'description')
FROM changed c, before b;

-- name: SpaceDelete :one
-- Only one that nobody has handed anything in to.
WITH gone AS (
  DELETE FROM spaces s WHERE s.slug = @slug AND NOT EXISTS (SELECT 1 FROM submissions u WHERE u.space_id = s.id) RETURNING s.slug),
log AS (INSERT INTO audit_log (actor, action, subject) SELECT @by::text, 'space_delete', 'space:' || gone.slug FROM gone)
SELECT EXISTS (SELECT 1 FROM spaces s WHERE s.slug = @slug)::boolean AS found, EXISTS (SELECT 1 FROM gone)::boolean AS done;

-- name: SpaceRole :one
SELECT role FROM space_members WHERE space_id = @space_id AND user_name = @user_name;

-- name: SpaceMembers :many
SELECT m.user_name, m.role, m.added_at, u.display_name FROM space_members m JOIN users u ON u.name = m.user_name
WHERE m.space_id = @space_id AND m.user_name > @after ORDER BY m.user_name LIMIT @max::integer;

-- name: SpaceMembersPut :many
-- Adds accounts, or changes their roles. It returns the names that no account
-- has; if there is one, nobody is added.
WITH given AS MATERIALIZED (SELECT DISTINCT name FROM unnest(@names::text[]) AS t(name)),
unknown AS MATERIALIZED (SELECT g.name FROM given g WHERE NOT EXISTS (SELECT 1 FROM users u WHERE u.name = g.name)),
changed AS (
  INSERT INTO space_members (space_id, user_name, role)
  SELECT s.id, g.name, @role FROM spaces s, given g WHERE s.id = @space_id AND NOT EXISTS (SELECT 1 FROM unknown) ORDER BY g.name
  ON CONFLICT (space_id, user_name) DO UPDATE SET role = excluded.role WHERE space_members.role <> excluded.role
  RETURNING space_id, user_name),
log AS (
  INSERT INTO audit_log (actor, action, subject, detail)
  SELECT @by::text, 'space_member', 'space:' || s.slug, jsonb_build_object('role', @role::text, 'members', c.names)
  FROM (SELECT space_id, jsonb_agg(user_name ORDER BY user_name) AS names FROM changed GROUP BY space_id) c JOIN spaces s ON s.id = c.space_id)
SELECT name::text FROM unknown ORDER BY name;

-- name: SpaceMemberRemove :execrows
WITH gone AS (DELETE FROM space_members WHERE space_id = @space_id AND user_name = @user_name RETURNING space_id, user_name, role)
INSERT INTO audit_log (actor, action, subject, detail)
SELECT @by::text, 'space_member_remove', 'space:' || s.slug, jsonb_build_object('member', g.user_name, 'was', g.role)
FROM gone g JOIN spaces s ON s.id = g.space_id;

-- name: SpaceProblems :many
-- In order, with what somebody achieved officially, in how many tries up to the first
-- that was accepted, and how many members have solved each. Rounds have boards of their own.
WITH solved AS MATERIALIZED (
  SELECT u.problem, count(DISTINCT u.author) AS n FROM submissions u
  WHERE u.space_id = @space_id AND u.round_id IS NULL AND u.verdict = 'AC' AND NOT u.unofficial GROUP BY u.problem)
SELECT p.problem, v.title, p.points,
  coalesce(p.points, CASE WHEN (v.problem ->> 'scoring')::boolean THEN nullif((v.problem ->> 'max_score')::float8, 0) END, 1)::float8 AS worth, (h.slug IS NOT NULL)::boolean AS hidden,
  coalesce(b.tries, 0)::bigint AS tries, coalesce(b.verdict, '')::text AS verdict, b.score, coalesce(b.job_id, 0)::bigint AS job_id,
  coalesce(s.n, 0)::bigint AS solved
FROM space_problems p
JOIN problems a ON a.slug = p.problem
JOIN problem_versions v ON v.slug = a.slug AND v.version = a.version
LEFT JOIN hidden_problems h ON h.slug = p.problem
LEFT JOIN solved s ON s.problem = p.problem
LEFT JOIN LATERAL (
  SELECT count(*) FILTER (WHERE u.job_id <= f.first) OVER () AS tries, u.verdict, u.score, u.job_id FROM submissions u,
    (SELECT coalesce(min(a.job_id), 9223372036854775807) AS first FROM submissions a
     WHERE a.space_id = p.space_id AND a.round_id IS NULL AND a.author = @viewer AND a.problem = p.problem AND a.verdict = 'AC') f
  WHERE u.space_id = p.space_id AND u.round_id IS NULL AND u.author = @viewer AND u.problem = p.problem AND u.verdict NOT IN ('JE', 'SE')
  ORDER BY u.score DESC NULLS LAST, u.verdict = 'AC' DESC, u.job_id DESC LIMIT 1) b ON true
WHERE p.space_id = @space_id ORDER BY p.place, p.problem;

-- name: SpaceHold :one
-- Keeps others from changing the problems of a space until the transaction ends.
SELECT slug FROM spaces WHERE id = @id FOR UPDATE;

-- name: SpaceHoldSlug :one
-- SpaceHold by the short name.
SELECT id FROM spaces WHERE slug = @slug FOR UPDATE;

-- name: SpaceProblemOrder :many
SELECT problem, points FROM space_problems WHERE space_id = @space_id ORDER BY place, problem;

-- name: SpaceProblemsSet :exec
-- Replaces the problems of a space. Points below zero are none.
WITH given AS MATERIALIZED (
  SELECT (@problems::text[])[n]::text AS problem, nullif((@points::float8[])[n]::float8, -1) AS points, n
  FROM generate_series(1, cardinality(@problems::text[])) AS t(n)),
gone AS (DELETE FROM space_problems p WHERE p.space_id = @space_id AND p.problem <> ALL (@problems::text[]))
INSERT INTO space_problems (space_id, problem, place, points) SELECT @space_id, problem, n, points FROM given
ON CONFLICT (space_id, problem) DO UPDATE SET place = excluded.place, points = excluded.points;

-- name: SpaceDesk :one
-- A space and one of its problems as somebody sees them, for handing in.
SELECT s.*, now()::timestamptz AS now, coalesce(m.role, '')::text AS role,
  coalesce(p.place, 0)::integer AS place, v.problem, coalesce(a.updated_at, s.created_at)::timestamptz AS updated_at, (h.slug IS NOT NULL)::boolean AS hidden
FROM spaces s
LEFT JOIN space_members m ON m.space_id = s.id AND m.user_name = @viewer
LEFT JOIN (space_problems p JOIN problems a ON a.slug = p.problem JOIN problem_versions v ON v.slug = a.slug AND v.version = a.version
  LEFT JOIN hidden_problems h ON h.slug = p.problem) ON p.space_id = s.id AND p.problem = @problem
WHERE s.slug = @slug;

-- name: SpaceScores :many
-- What each contestant achieved officially: of each problem their best, as a share
-- of its points. Rounds have boards of their own.
WITH best AS MATERIALIZED (
  SELECT u.author, u.problem, bool_or(u.verdict = 'AC') AS solved,
    max(CASE WHEN u.score IS NULL THEN CASE u.verdict WHEN 'AC' THEN coalesce(p.points, 1) ELSE 0 END
             WHEN p.points IS NULL THEN u.score
             WHEN coalesce((v.problem ->> 'max_score')::float8, 0) > 0 THEN p.points * least(1, u.score / (v.problem ->> 'max_score')::float8)
             ELSE least(p.points, u.score) END) AS points
  FROM submissions u
  JOIN space_problems p ON p.space_id = u.space_id AND p.problem = u.problem
  JOIN problems a ON a.slug = p.problem
  JOIN problem_versions v ON v.slug = a.slug AND v.version = a.version
  WHERE u.space_id = @space_id AND u.round_id IS NULL AND NOT u.unofficial AND u.verdict NOT IN ('JE', 'SE')
  GROUP BY u.author, u.problem)
SELECT m.user_name, (SELECT u.display_name FROM users u WHERE u.name = m.user_name)::text AS display_name, count(*) FILTER (WHERE b.solved) AS solved, coalesce(round(sum(b.points)::numeric, 4), 0)::float8 AS points, count(b.problem) AS tried
FROM space_members m LEFT JOIN best b ON b.author = m.user_name
WHERE m.space_id = @space_id AND m.role = 'contestant'
GROUP BY m.user_name ORDER BY points DESC, solved DESC, m.user_name LIMIT @max::integer;

-- name: ProblemLent :one
-- Whether somebody sees a hidden problem through a space or a round: as one who
-- prepares it, or while it is open, which a round is to who takes part.
SELECT (EXISTS (
  SELECT 1 FROM round_problems p JOIN rounds r ON r.id = p.round_id JOIN space_members m ON m.space_id = r.space_id
  WHERE p.problem = @problem AND m.user_name = @viewer
    AND (@prepares::boolean AND m.role <> 'contestant' OR r.starts_at <= now() AND (r.practice OR coalesce(round_time(r.id, now()) < r.duration_ms, true))
      AND EXISTS (SELECT 1 FROM round_entries e JOIN participant_members t ON t.participant_id = e.participant_id
        WHERE e.round_id = r.id AND t.user_name = m.user_name AND t.role = 'contestant'))) OR EXISTS (
  SELECT 1 FROM space_problems p JOIN space_members m ON m.space_id = p.space_id JOIN spaces s ON s.id = p.space_id
  WHERE p.problem = @problem AND m.user_name = @viewer
    AND (@prepares::boolean AND m.role <> 'contestant' OR coalesce(s.opens_at <= now(), true) AND coalesce(s.closes_at > now(), true))))::boolean AS lent;

-- name: ProblemHide :execrows
-- Nothing is logged when nothing changes.
WITH hid AS (
  INSERT INTO hidden_problems (slug, by) SELECT @slug, @by WHERE @hidden::boolean ON CONFLICT DO NOTHING RETURNING slug),
shown AS (DELETE FROM hidden_problems WHERE slug = @slug AND NOT @hidden RETURNING slug)
INSERT INTO audit_log (actor, action, subject)
SELECT @by, CASE WHEN @hidden::boolean THEN 'problem_hide' ELSE 'problem_show' END, 'problem:' || slug FROM (SELECT hid.slug FROM hid UNION ALL SELECT shown.slug FROM shown) changed;

-- name: ProblemHidden :one
SELECT EXISTS (SELECT 1 FROM hidden_problems WHERE slug = @slug)::boolean AS hidden;
