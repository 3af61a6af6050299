-- name: UserCreate :execrows
INSERT INTO users (name, password_hash, role) VALUES (@name, @password_hash, @role) ON CONFLICT DO NOTHING;

-- name: UserSetPassword :execrows
UPDATE users SET password_hash = @password_hash WHERE name = @name;

-- name: UserGet :one
SELECT name, password_hash, role, created_at FROM users WHERE name = @name;

-- name: UserCount :one
SELECT count(*) FROM users;

-- name: SessionSave :exec
WITH expired AS (DELETE FROM sessions WHERE expires_at < now())
INSERT INTO sessions (token_hash, user_name, expires_at) VALUES (@token_hash, @user_name, @expires_at)
ON CONFLICT (token_hash) DO UPDATE SET expires_at = excluded.expires_at WHERE sessions.user_name = excluded.user_name;

-- name: SessionUser :one
SELECT u.name, u.password_hash, u.role, u.created_at FROM sessions s JOIN users u ON u.name = s.user_name
WHERE s.token_hash = @token_hash AND s.expires_at > now();

-- name: SessionDelete :exec
DELETE FROM sessions WHERE token_hash = @token_hash;
