-- name: IdentityUser :one
SELECT u.name, u.password_hash, u.role, u.created_at, u.disabled_at, u.one_time, u.display_name, coalesce(u.email, '')::text AS email, u.language, u.zone
FROM identities i JOIN users u ON u.name = i.user_name WHERE i.issuer = @issuer AND i.subject = @subject;

-- name: IdentityCreate :execrows
-- An account for somebody who comes for the first time, unless its name is taken.
WITH made AS (
  INSERT INTO users (name, password_hash, role) VALUES (@name, @password_hash, 'contestant') ON CONFLICT DO NOTHING RETURNING name),
bound AS (
  INSERT INTO identities (issuer, subject, user_name) SELECT @issuer, @subject, name FROM made)
INSERT INTO audit_log (actor, action, subject, detail)
SELECT name, 'user_create', 'user:' || name, jsonb_build_object('role', 'contestant', 'issuer', @issuer::text) FROM made;

-- name: LoginBegin :exec
WITH expired AS (DELETE FROM oidc_logins o WHERE o.expires_at < now())
INSERT INTO oidc_logins (state_hash, browser_hash, nonce, verifier, next, proves, act, form, expires_at)
VALUES (@state_hash, @browser_hash, @nonce, @verifier, @next, @proves, @act, @form, @expires_at);

-- name: LoginTake :one
-- Once, by the browser that began it.
DELETE FROM oidc_logins WHERE state_hash = @state_hash AND browser_hash = @browser_hash AND expires_at > now() RETURNING nonce, verifier, next, proves, act, form;

-- name: IdentityKnown :one
-- Whether a user may prove who they are at an issuer.
SELECT EXISTS (SELECT 1 FROM identities WHERE issuer = @issuer AND user_name = @user_name)::boolean;
