-- name: FactorsGet :one
-- What counts of an account, and what its owner has to be told.
SELECT coalesce(f.totp_on, false)::boolean AS totp, f.totp_used_at, f.taken_off_by, f.taken_off_at,
  (SELECT count(*) FROM passkeys p WHERE p.user_name = u.name)::integer AS passkeys,
  (SELECT count(*) FROM recovery_codes r WHERE r.user_name = u.name AND r.used_at IS NULL)::integer AS recovery
FROM users u LEFT JOIN factors f ON f.user_name = u.name WHERE u.name = @user_name;

-- name: FactorsHandle :one
-- The handle of an account, which is made when it is first asked for.
INSERT INTO factors (user_name, handle) VALUES (@user_name, @handle)
ON CONFLICT (user_name) DO UPDATE SET user_name = excluded.user_name RETURNING handle;

-- name: TOTPBegin :one
-- A secret that does not count yet. One that waits already stays, so that a page
-- that is shown again shows the same; none comes back where one counts.
INSERT INTO factors (user_name, handle, totp_secret) VALUES (@user_name, @handle, @secret)
ON CONFLICT (user_name) DO UPDATE SET totp_secret = coalesce(factors.totp_secret, excluded.totp_secret) WHERE NOT factors.totp_on
RETURNING totp_secret;

-- name: TOTPSecret :one
SELECT totp_secret, totp_on FROM factors WHERE user_name = @user_name AND totp_secret IS NOT NULL;

-- name: TOTPConfirm :execrows
WITH confirmed AS (
  UPDATE factors SET totp_on = true, totp_step = @step, totp_used_at = NULL WHERE user_name = @user_name AND totp_secret IS NOT NULL AND NOT totp_on
  RETURNING user_name)
INSERT INTO audit_log (actor, action, subject) SELECT user_name, 'totp_set', 'user:' || user_name FROM confirmed;

-- name: TOTPTake :execrows
-- Takes a code, unless it or a later one was taken before.
UPDATE factors SET totp_step = @step, totp_used_at = now() WHERE user_name = @user_name AND totp_on AND totp_step < @step;

-- name: TOTPRemove :execrows
WITH removed AS (
  UPDATE factors f SET totp_on = false, totp_secret = NULL, totp_step = 0, totp_used_at = NULL WHERE f.user_name = @user_name AND f.totp_on RETURNING f.user_name),
codes AS (
  DELETE FROM recovery_codes r USING removed d WHERE r.user_name = d.user_name AND NOT EXISTS (SELECT 1 FROM passkeys p WHERE p.user_name = d.user_name))
INSERT INTO audit_log (actor, action, subject) SELECT d.user_name, 'totp_remove', 'user:' || d.user_name FROM removed d;

-- name: PasskeyAdd :execrows
WITH added AS (
  INSERT INTO passkeys (credential_id, user_name, label, public_key, transports, sign_count)
  SELECT @credential_id, @user_name, @label, @public_key, @transports, @sign_count
  WHERE (SELECT count(*) FROM passkeys p WHERE p.user_name = @user_name) < @most::integer
  ON CONFLICT DO NOTHING RETURNING passkeys.id, passkeys.user_name, passkeys.label)
INSERT INTO audit_log (actor, action, subject, detail)
SELECT a.user_name, 'passkey_add', 'user:' || a.user_name, jsonb_build_object('passkey', a.id, 'label', a.label) FROM added a;

-- name: PasskeyList :many
SELECT id, credential_id, user_name, label, public_key, transports, sign_count, created_at, last_used_at FROM passkeys WHERE user_name = @user_name ORDER BY id;

-- name: PasskeyGet :one
-- A passkey by the id that its authenticator gave it, with the handle of its account.
SELECT p.id, p.credential_id, p.user_name, p.label, p.public_key, p.transports, p.sign_count, p.created_at, p.last_used_at, f.handle
FROM passkeys p JOIN factors f ON f.user_name = p.user_name WHERE p.credential_id = @credential_id;

-- name: PasskeyTake :execrows
-- Takes a signature: its counter has to be above the last one, if it counts at all.
UPDATE passkeys SET sign_count = @sign_count, last_used_at = now()
WHERE id = @id AND (sign_count < @sign_count OR sign_count = 0 AND @sign_count = 0);

-- name: PasskeyRemove :execrows
WITH removed AS (DELETE FROM passkeys k WHERE k.id = @id AND k.user_name = @user_name RETURNING k.id, k.user_name, k.label),
codes AS (
  DELETE FROM recovery_codes r USING removed d JOIN factors f ON f.user_name = d.user_name
  WHERE r.user_name = d.user_name AND NOT f.totp_on AND NOT EXISTS (SELECT 1 FROM passkeys p WHERE p.user_name = d.user_name AND p.id <> d.id))
INSERT INTO audit_log (actor, action, subject, detail)
SELECT d.user_name, 'passkey_remove', 'user:' || d.user_name, jsonb_build_object('passkey', d.id, 'label', d.label) FROM removed d;

-- name: RecoverySet :execrows
-- Other codes in place of all that there are, for an account that needs any.
WITH held AS MATERIALIZED (
  SELECT f.user_name FROM factors f
  WHERE f.user_name = @user_name AND (f.totp_on OR EXISTS (SELECT 1 FROM passkeys p WHERE p.user_name = f.user_name)) FOR UPDATE),
old AS (DELETE FROM recovery_codes r USING held h WHERE r.user_name = h.user_name AND r.code_hash <> ALL(@code_hashes::text[])),
made AS (INSERT INTO recovery_codes (user_name, code_hash) SELECT h.user_name, unnest(@code_hashes::text[]) FROM held h)
INSERT INTO audit_log (actor, action, subject) SELECT h.user_name, 'recovery_codes', 'user:' || h.user_name FROM held h;

-- name: RecoveryTake :execrows
-- Takes a code, once.
WITH taken AS (
  UPDATE recovery_codes c SET used_at = now() WHERE c.user_name = @user_name AND c.code_hash = @code_hash AND c.used_at IS NULL RETURNING c.user_name)
INSERT INTO audit_log (actor, action, subject, detail)
SELECT t.user_name, 'recovery_use', 'user:' || t.user_name,
  jsonb_build_object('left', (SELECT count(*) - 1 FROM recovery_codes r WHERE r.user_name = t.user_name AND r.used_at IS NULL)) FROM taken t;

-- name: CodeTry :one
-- Counts a code as wrong before it is looked at, so that many at once gain nothing. Who has none left comes from
-- wherever, with the right password; a browser that is known for the account does not wait for them.
UPDATE factors SET wrong = wrong + 1, wrong_at = now() WHERE user_name = @user_name
  AND (@known::boolean OR wrong < @most::integer OR wrong_at < now() - make_interval(secs => @pause::float8))
RETURNING wrong;

-- name: CodeRight :exec
UPDATE factors SET wrong = 0, wrong_at = NULL WHERE user_name = @user_name;

-- name: FactorsOff :execrows
-- Takes everything off an account, in the name of somebody else, whom its owner will be told.
WITH keys AS (DELETE FROM passkeys k WHERE k.user_name = @user_name RETURNING k.id),
codes AS (DELETE FROM recovery_codes r WHERE r.user_name = @user_name),
off AS (
  UPDATE factors f SET totp_on = false, totp_secret = NULL, totp_step = 0, totp_used_at = NULL, wrong = 0, wrong_at = NULL,
    taken_off_by = @by::text, taken_off_at = now()
  FROM (SELECT g.totp_on FROM factors g WHERE g.user_name = @user_name FOR UPDATE) was
  WHERE f.user_name = @user_name AND (was.totp_on OR EXISTS (SELECT 1 FROM keys)) RETURNING f.user_name, was.totp_on AS totp),
ended AS (DELETE FROM half_logins h USING off o WHERE h.user_name = o.user_name)
INSERT INTO audit_log (actor, action, subject, detail)
SELECT @by::text, 'factors_off', 'user:' || o.user_name, jsonb_build_object('totp', o.totp, 'passkeys', (SELECT count(*) FROM keys)) FROM off o;

-- name: FactorsTold :exec
-- The owner knows of what was taken off.
UPDATE factors SET taken_off_by = NULL, taken_off_at = NULL WHERE user_name = @user_name;

-- name: HalfLoginSave :execrows
-- Only for somebody who may log in with the password that was checked.
WITH expired AS (DELETE FROM half_logins h WHERE h.expires_at < now())
INSERT INTO half_logins (token_hash, user_name, epoch, next, expires_at)
SELECT @token_hash, u.name, u.epoch, @next, @expires_at FROM users u
WHERE u.name = @user_name AND u.password_hash = @password_hash AND u.disabled_at IS NULL;

-- name: HalfLoginGet :one
SELECT u.name, u.password_hash, u.role, u.created_at, u.disabled_at, u.one_time, h.next FROM half_logins h JOIN users u ON u.name = h.user_name
WHERE h.token_hash = @token_hash AND h.expires_at > now() AND h.epoch = u.epoch AND u.disabled_at IS NULL AND h.tries < @most::integer;

-- name: HalfLoginTry :execrows
UPDATE half_logins SET tries = tries + 1 WHERE token_hash = @token_hash AND tries < @most::integer AND expires_at > now();

-- name: HalfLoginEnd :execrows
DELETE FROM half_logins WHERE token_hash = @token_hash AND expires_at > now();

-- name: ChallengeSave :exec
WITH expired AS (DELETE FROM passkey_challenges c WHERE c.expires_at < now() AND c.holder_hash <> @holder_hash)
INSERT INTO passkey_challenges (holder_hash, challenge, expires_at) VALUES (@holder_hash, @challenge, @expires_at)
ON CONFLICT (holder_hash) DO UPDATE SET challenge = excluded.challenge, expires_at = excluded.expires_at;

-- name: ChallengeTake :one
DELETE FROM passkey_challenges WHERE holder_hash = @holder_hash AND expires_at > now() RETURNING challenge;
