-- name: UserCreate :execrows
WITH made AS (
  INSERT INTO users (name, password_hash, role, one_time) VALUES (@name, @password_hash, @role, @one_time) ON CONFLICT DO NOTHING RETURNING name, role)
INSERT INTO audit_log (actor, action, subject, detail)
SELECT @by::text, 'user_create', 'user:' || name, jsonb_build_object('role', role) FROM made;

-- name: UserSetPassword :execrows
-- A user's own change, from the password that was checked. It ends every session
-- of the user but one.
WITH changed AS (
  UPDATE users SET password_hash = @password_hash, one_time = false, epoch = epoch + 1
  WHERE name = @name AND password_hash = @old_hash AND disabled_at IS NULL RETURNING name, epoch),
kept AS (UPDATE sessions s SET epoch = c.epoch FROM changed c WHERE s.user_name = c.name AND s.token_hash = @keep)
INSERT INTO audit_log (actor, action, subject) SELECT name, 'password', 'user:' || name FROM changed;

-- name: UserResetPassword :execrows
-- An administrator's. It ends every session of the user.
WITH changed AS (
  UPDATE users SET password_hash = @password_hash, one_time = true, epoch = epoch + 1 WHERE name = @name RETURNING name)
INSERT INTO audit_log (actor, action, subject) SELECT @by::text, 'user_reset', 'user:' || name FROM changed;

-- name: UserChange :one
-- Changes the role of a user, or whether they may log in, which ends their
-- sessions. The lock on all administrators keeps the last one from being lost,
-- also to two changes at once.
WITH admins AS MATERIALIZED (SELECT name FROM users WHERE role = 'admin' AND disabled_at IS NULL ORDER BY name FOR UPDATE),
held AS MATERIALIZED (
  SELECT u.name, u.role, u.disabled_at IS NOT NULL AS disabled,
    coalesce(sqlc.narg(role)::text, u.role) AS new_role, coalesce(sqlc.narg(disabled)::boolean, u.disabled_at IS NOT NULL) AS new_disabled
  FROM users u WHERE u.name = @name AND (SELECT count(*) FROM admins) >= 0 FOR UPDATE),
allowed AS MATERIALIZED (
  SELECT h.* FROM held h
  WHERE (h.role, h.disabled) <> (h.new_role, h.new_disabled)
    AND (h.role <> 'admin' OR h.disabled OR h.new_role = 'admin' AND NOT h.new_disabled OR EXISTS (SELECT 1 FROM admins a WHERE a.name <> h.name))),
changed AS (
  UPDATE users u SET role = a.new_role, epoch = u.epoch + a.new_disabled::integer,
    disabled_at = CASE WHEN a.new_disabled THEN coalesce(u.disabled_at, now()) END
  FROM allowed a WHERE u.name = a.name),
log AS (
  INSERT INTO audit_log (actor, action, subject, detail)
  SELECT @by::text, CASE WHEN role <> new_role THEN 'user_role' WHEN new_disabled THEN 'user_disable' ELSE 'user_enable' END, 'user:' || name,
    CASE WHEN role <> new_role THEN jsonb_build_object('was', role, 'role', new_role) END FROM allowed)
SELECT (EXISTS (SELECT 1 FROM allowed) OR (h.role, h.disabled) = (h.new_role, h.new_disabled))::boolean AS done FROM held h;

-- name: UserGet :one
SELECT name, password_hash, role, created_at, disabled_at, one_time, display_name, coalesce(email, '')::text AS email, language, zone FROM users WHERE name = @name;

-- name: UserReads :execrows
UPDATE users SET language = coalesce(sqlc.narg(language), language), zone = coalesce(sqlc.narg(zone), zone) WHERE name = @name;

-- name: UserList :many
SELECT name, role, created_at, disabled_at, one_time, display_name, coalesce(email, '')::text AS email FROM users
WHERE name > @after AND starts_with(name, @prefix::text) AND (@role::text = '' OR role = @role) ORDER BY name LIMIT @max::integer;

-- name: UserCount :one
SELECT count(*) FROM users;

-- name: SessionSave :execrows
-- Only for somebody who may log in with the password that was checked, or whom a
-- provider vouches for.
WITH expired AS (DELETE FROM sessions s USING users u WHERE u.name = s.user_name AND (s.expires_at < now() OR s.epoch <> u.epoch))
INSERT INTO sessions (token_hash, user_name, expires_at, epoch, proved_at)
SELECT @token_hash, u.name, @expires_at, u.epoch, CASE WHEN @proved::boolean THEN now() END FROM users u
WHERE u.name = @user_name AND u.password_hash = @password_hash AND u.disabled_at IS NULL;

-- name: SessionUser :one
SELECT u.name, u.password_hash, u.role, u.created_at, u.disabled_at, u.one_time, u.display_name, coalesce(u.email, '')::text AS email, u.language, u.zone FROM sessions s JOIN users u ON u.name = s.user_name
WHERE s.token_hash = @token_hash AND s.expires_at > now() AND s.epoch = u.epoch AND u.disabled_at IS NULL;

-- name: SessionProve :execrows
-- Of a session that goes on, of the user who proved it, at a time that has passed.
UPDATE sessions s SET proved_at = least(now(), @proved_at::timestamptz) FROM users u
WHERE s.token_hash = @token_hash AND u.name = s.user_name AND u.name = @user_name
  AND s.expires_at > now() AND s.epoch = u.epoch AND u.disabled_at IS NULL;

-- name: SessionProved :one
-- How long ago, in seconds.
SELECT extract(epoch FROM now() - proved_at)::float8 AS age FROM sessions WHERE token_hash = @token_hash AND proved_at IS NOT NULL;

-- name: SessionDelete :exec
DELETE FROM sessions WHERE token_hash = @token_hash;
