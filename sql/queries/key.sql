-- name: KeyCreate :one
WITH made AS (
  INSERT INTO api_keys (key_hash, user_name, label, scope, expires_at)
  SELECT @key_hash, u.name, @label, @scope, sqlc.narg(expires_at) FROM users u WHERE u.name = @user_name AND u.disabled_at IS NULL
  RETURNING id, user_name, label, scope, created_at, expires_at),
log AS (
  INSERT INTO audit_log (actor, action, subject, detail)
  SELECT @by::text, 'key_create', 'key:' || id, jsonb_strip_nulls(jsonb_build_object('user', user_name, 'scope', scope, 'expires_at', expires_at)) FROM made)
SELECT id, created_at FROM made;

-- name: KeyUser :one
-- Whose key it is. Its use is noted to the minute, so that a busy program does
-- not write at every request.
WITH found AS MATERIALIZED (
  SELECT k.id, k.scope, k.last_used_at, u.name, u.role, u.created_at
  FROM api_keys k JOIN users u ON u.name = k.user_name
  WHERE k.key_hash = @key_hash AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > now())
    AND u.disabled_at IS NULL AND NOT u.one_time),
used AS (
  UPDATE api_keys k SET last_used_at = now() FROM found f
  WHERE k.id = f.id AND (f.last_used_at IS NULL OR f.last_used_at < now() - interval '1 minute'))
SELECT id, scope, name, role, created_at FROM found;

-- name: KeyList :many
-- The keys of a user, newest first.
SELECT id, user_name, label, scope, created_at, expires_at, last_used_at, revoked_at FROM api_keys
WHERE user_name = @user_name AND id < @before ORDER BY id DESC LIMIT @max::integer;

-- name: KeyRevoke :one
-- Of one user, or of anybody ('').
WITH held AS MATERIALIZED (
  SELECT k.id, k.user_name, k.revoked_at FROM api_keys k WHERE k.id = @id AND (@user_name::text = '' OR k.user_name = @user_name) FOR UPDATE),
gone AS (UPDATE api_keys k SET revoked_at = now() FROM held h WHERE k.id = h.id AND h.revoked_at IS NULL RETURNING k.id, k.user_name),
log AS (
  INSERT INTO audit_log (actor, action, subject, detail)
  SELECT @by::text, 'key_revoke', 'key:' || id, jsonb_build_object('user', user_name) FROM gone)
SELECT user_name FROM held;
