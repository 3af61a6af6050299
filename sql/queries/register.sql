-- name: UserByEmail :one
SELECT name, password_hash, role, created_at, disabled_at, one_time, display_name, coalesce(email, '')::text AS email, language, zone FROM users WHERE email = @email;

-- name: UserNames :many
-- What people are called who are called anything.
SELECT name, display_name FROM users WHERE name = ANY (@names::text[]) AND display_name <> '';

-- name: UserSetDisplayName :one
WITH was AS MATERIALIZED (SELECT u.name, u.display_name FROM users u WHERE u.name = @name FOR UPDATE),
changed AS (
  UPDATE users u SET display_name = @display_name FROM was w WHERE u.name = w.name AND w.display_name <> @display_name RETURNING u.name),
log AS (
  INSERT INTO audit_log (actor, action, subject, detail)
  SELECT @by::text, 'user_display_name', 'user:' || c.name, jsonb_build_object('was', w.display_name, 'display_name', @display_name::text)
  FROM changed c JOIN was w ON w.name = c.name)
SELECT count(*) FROM was;

-- name: UserSetEmail :one
-- Returns what it was. The log does not keep addresses: they are not everybody's who
-- reads it.
WITH was AS MATERIALIZED (SELECT u.name, u.email FROM users u WHERE u.name = @name FOR UPDATE),
changed AS (
  UPDATE users u SET email = sqlc.narg(email) FROM was w WHERE u.name = w.name AND w.email IS DISTINCT FROM sqlc.narg(email)::text RETURNING u.name),
log AS (
  INSERT INTO audit_log (actor, action, subject, detail)
  SELECT @by::text, 'user_email', 'user:' || c.name, jsonb_build_object('had', w.email IS NOT NULL, 'has', sqlc.narg(email)::text IS NOT NULL)
  FROM changed c JOIN was w ON w.name = c.name)
SELECT coalesce(w.email, '')::text AS email FROM was w;

-- name: UserRegister :execrows
-- An account that its owner makes.
WITH made AS (
  INSERT INTO users (name, password_hash, role, display_name, email) VALUES (@name, @password_hash, 'contestant', @display_name, sqlc.narg(email))
  ON CONFLICT (name) DO NOTHING RETURNING name, email)
INSERT INTO audit_log (actor, action, subject, detail)
SELECT name, 'user_register', 'user:' || name, jsonb_build_object('role', 'contestant', 'by_email', email IS NOT NULL) FROM made;

-- name: UserNewPassword :one
-- By a link that was sent to the owner. All sessions end.
WITH changed AS (
  UPDATE users SET password_hash = @password_hash, one_time = false, epoch = epoch + 1 WHERE name = @name AND disabled_at IS NULL RETURNING name),
ended AS (DELETE FROM sessions s USING changed c WHERE s.user_name = c.name RETURNING 1),
log AS (INSERT INTO audit_log (actor, action, subject, detail) SELECT c.name, 'password', 'user:' || c.name, jsonb_build_object('by', 'link') FROM changed c)
SELECT count(*) AS found, (SELECT count(*) FROM ended) AS sessions FROM changed;

-- name: FirstPasswordWaits :one
-- Whether the only account is that of the first start, and nobody has logged in to it yet.
SELECT (count(*) = 1 AND bool_and(name = 'admin' AND one_time) AND NOT EXISTS (SELECT 1 FROM sessions))::boolean AS waits FROM users;
