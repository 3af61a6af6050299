-- name: ProblemRights :one
-- What somebody is to a problem. One that has an owner and no version is about to
-- be made.
SELECT (EXISTS (SELECT 1 FROM problem_versions v WHERE v.slug = @slug) OR EXISTS (SELECT 1 FROM problem_owners o WHERE o.slug = @slug))::boolean AS known,
  EXISTS (SELECT 1 FROM problem_owners o WHERE o.slug = @slug AND o.owner = @name)::boolean AS owns,
  EXISTS (SELECT 1 FROM problem_authors a WHERE a.slug = @slug AND a.user_name = @name)::boolean AS writes;

-- name: OwnerClaim :exec
-- Whoever has an account owns the problem that they are the first to make.
INSERT INTO problem_owners (slug, owner)
SELECT @slug, u.name FROM users u
WHERE u.name = @name AND NOT EXISTS (SELECT 1 FROM problem_versions v WHERE v.slug = @slug)
ON CONFLICT DO NOTHING;

-- name: ProblemPeople :many
-- The owner first.
SELECT o.owner AS name, true AS owner, o.at FROM problem_owners o WHERE o.slug = @slug
UNION ALL SELECT a.user_name, false, a.at FROM problem_authors a WHERE a.slug = @slug
ORDER BY owner DESC, name;

-- name: OwnerSet :exec
-- Nothing is logged when nothing changes. An owner is no co-author besides.
WITH held AS (
  INSERT INTO problem_owners (slug, owner) VALUES (@slug, @name)
  ON CONFLICT (slug) DO UPDATE SET owner = excluded.owner, at = now() WHERE problem_owners.owner <> excluded.owner RETURNING owner),
alone AS (DELETE FROM problem_authors WHERE slug = @slug AND user_name = @name)
INSERT INTO audit_log (actor, action, subject, detail)
SELECT @by, 'problem_owner', 'problem:' || @slug::text, jsonb_build_object('owner', owner) FROM held;

-- name: AuthorAdd :exec
WITH added AS (
  INSERT INTO problem_authors (slug, user_name, by)
  SELECT @slug, @name, @by WHERE NOT EXISTS (SELECT 1 FROM problem_owners o WHERE o.slug = @slug AND o.owner = @name)
  ON CONFLICT DO NOTHING RETURNING user_name)
INSERT INTO audit_log (actor, action, subject, detail)
SELECT @by, 'problem_author_add', 'problem:' || @slug::text, jsonb_build_object('author', user_name) FROM added;

-- name: AuthorRemove :execrows
WITH gone AS (DELETE FROM problem_authors WHERE slug = @slug AND user_name = @name RETURNING user_name)
INSERT INTO audit_log (actor, action, subject, detail)
SELECT @by::text, 'problem_author_remove', 'problem:' || @slug::text, jsonb_build_object('author', user_name) FROM gone;

-- name: VersionFiles :exec
-- Notes the files of a version, once.
INSERT INTO version_blobs (slug, version, digest, bytes)
SELECT @slug, @version, g.digest, max(g.bytes)::bigint
FROM (SELECT unnest(@digests::bytea[]) AS digest, unnest(@sizes::bigint[]) AS bytes) g GROUP BY g.digest
ON CONFLICT DO NOTHING;

-- name: SetterUsed :one
-- Bytes of the files that only versions of one setter have.
SELECT coalesce(sum(own.bytes), 0)::bigint AS bytes FROM (
  SELECT DISTINCT b.digest, b.bytes FROM problem_versions v JOIN version_blobs b ON b.slug = v.slug AND b.version = v.version
  WHERE v.created_by = @name) own
WHERE NOT EXISTS (
  SELECT 1 FROM version_blobs o JOIN problem_versions v ON v.slug = o.slug AND v.version = o.version
  WHERE o.digest = own.digest AND v.created_by <> @name);

-- name: SettersUsed :many
-- The same of each, the most first.
SELECT own.by AS name, sum(own.bytes)::bigint AS bytes FROM (
  SELECT min(v.created_by)::text AS by, max(b.bytes) AS bytes FROM version_blobs b JOIN problem_versions v ON v.slug = b.slug AND v.version = b.version
  GROUP BY b.digest HAVING min(v.created_by) = max(v.created_by)) own
GROUP BY own.by ORDER BY 2 DESC, 1 LIMIT @max::integer;

-- name: FilesUnknown :one
-- Bytes of those files that no version has.
SELECT coalesce(sum(g.bytes), 0)::bigint AS bytes FROM (
  SELECT f.digest, max(f.bytes) AS bytes
  FROM (SELECT unnest(@digests::bytea[]) AS digest, unnest(@sizes::bigint[]) AS bytes) f GROUP BY f.digest) g
WHERE NOT EXISTS (SELECT 1 FROM version_blobs b WHERE b.digest = g.digest);

-- name: SetterDayTake :execrows
-- Reserves a version of today, unless the setter has made or sent as much as they may.
INSERT INTO setter_days (user_name, day, versions)
SELECT @name, (now() AT TIME ZONE 'UTC')::date, 1 WHERE @max_bytes::bigint = 0 OR @bytes::bigint <= @max_bytes
ON CONFLICT (user_name, day) DO UPDATE SET versions = setter_days.versions + 1
WHERE setter_days.versions < @max_versions::integer AND (@max_bytes = 0 OR setter_days.bytes + @bytes <= @max_bytes);

-- name: SetterSaveTake :execrows
-- Reserves a further save of somebody who has saved a change of the problem within
-- the half hour before, and not the first one of today.
UPDATE setter_days d SET saves = d.saves + 1
WHERE d.user_name = @name AND d.day = (now() AT TIME ZONE 'UTC')::date AND d.saves < @max_saves::integer
  AND (@max_bytes::bigint = 0 OR d.bytes < @max_bytes)
  AND EXISTS (SELECT 1 FROM problem_edits e WHERE e.slug = @slug AND e.by = @name AND e.job_id IS NOT NULL AND e.at > now() - interval '30 min');

-- name: SetterDayAdd :exec
-- What was sent after all; a version or save that came to nothing is -1.
UPDATE setter_days SET versions = greatest(versions + @versions::integer, 0), saves = greatest(saves + @saves::integer, 0), bytes = bytes + @bytes::bigint
WHERE user_name = @name AND day = (now() AT TIME ZONE 'UTC')::date;

-- name: SetterDay :one
SELECT coalesce(max(versions), 0)::integer AS versions, coalesce(max(saves), 0)::integer AS saves, coalesce(max(bytes), 0)::bigint AS bytes,
  ceil(extract(epoch FROM date_trunc('day', now() AT TIME ZONE 'UTC') + interval '1 day' - now() AT TIME ZONE 'UTC'))::bigint AS seconds_left
FROM setter_days WHERE user_name = @name AND day = (now() AT TIME ZONE 'UTC')::date;
