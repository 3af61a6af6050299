-- name: PluginSave :exec
INSERT INTO plugins (digest, kind, name, version, protocol, bytes, manifest, conforms, leaks, job_id, created_by)
VALUES (@digest, @kind, @name, @version, @protocol, @bytes, @manifest, @conforms, sqlc.narg(leaks)::boolean, @job_id, @created_by)
ON CONFLICT (digest) DO UPDATE SET conforms = excluded.conforms, leaks = excluded.leaks, job_id = excluded.job_id
WHERE plugins.job_id <= excluded.job_id;

-- name: PluginGet :one
SELECT sqlc.embed(p), (a.digest IS NOT NULL)::boolean AS active
FROM plugins p LEFT JOIN active_plugins a ON a.digest = p.digest AND a.kind = p.kind AND a.name = p.name
WHERE p.digest = @digest;

-- name: PluginList :many
-- Newest first within a name. An empty kind or name does not restrict.
SELECT sqlc.embed(p), (a.digest IS NOT NULL)::boolean AS active
FROM plugins p LEFT JOIN active_plugins a ON a.digest = p.digest AND a.kind = p.kind AND a.name = p.name
WHERE (@kind::text = '' OR p.kind = @kind) AND (@name::text = '' OR p.name = @name)
ORDER BY p.kind, p.name, p.created_at DESC, p.digest;

-- name: PluginActivate :one
-- Nothing changes, and there is no row, when the name means this version
-- already.
WITH held AS MATERIALIZED (SELECT digest, kind, name FROM plugins WHERE plugins.digest = @digest FOR UPDATE),
before AS MATERIALIZED (
  SELECT a.digest FROM active_plugins a JOIN held h ON a.kind = h.kind AND a.name = h.name FOR UPDATE OF a),
active AS (
  INSERT INTO active_plugins (kind, name, digest)
  SELECT kind, name, digest FROM held WHERE (SELECT count(*) FROM before) >= 0 -- looks before it writes
  ON CONFLICT (kind, name) DO UPDATE SET digest = excluded.digest WHERE active_plugins.digest <> excluded.digest
  RETURNING active_plugins.kind, active_plugins.name, active_plugins.digest),
change AS (
  INSERT INTO plugin_changes (kind, name, digest, previous, by)
  SELECT kind, name, digest, (SELECT b.digest FROM before b), @by::text FROM active),
log AS (
  INSERT INTO audit_log (actor, action, subject, detail)
  SELECT @by, 'activate', 'plugin:' || name, jsonb_build_object('kind', kind, 'digest', digest, 'previous', (SELECT b.digest FROM before b)) FROM active)
SELECT digest FROM active;

-- name: PluginChanges :many
SELECT digest, coalesce(previous, '')::text AS previous, by, at FROM plugin_changes
WHERE kind = @kind AND name = @name ORDER BY id DESC LIMIT @max::integer;
