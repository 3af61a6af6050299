-- name: LetterAsk :execrows
-- Has a letter written, unless too many were asked for lately under the same words,
-- or too many wait.
INSERT INTO letters (kind, asked, user_name, invitation_id, language)
SELECT @kind, @asked, sqlc.narg(user_name), sqlc.narg(invitation_id), @language
WHERE (SELECT count(*) FROM letters l WHERE l.asked = @asked AND l.kind = @kind AND l.created_at > now() - interval '1 hour') < @most::bigint
  AND (SELECT count(*) FROM letters w WHERE w.done_at IS NULL) < @room::bigint;

-- name: LettersTake :many
-- Letters that are due, for as long as the lease. Those that were done long ago go.
WITH old AS (DELETE FROM letters o WHERE o.done_at < now() - interval '7 days'),
due AS MATERIALIZED (
  SELECT d.id FROM letters d WHERE d.done_at IS NULL AND d.next_at <= now() ORDER BY d.next_at, d.id LIMIT @max::integer FOR UPDATE SKIP LOCKED)
UPDATE letters l SET tries = l.tries + 1, next_at = now() + @lease::interval FROM due WHERE l.id = due.id
RETURNING l.id, l.kind, l.asked, l.user_name, l.invitation_id, l.language, l.tries, extract(epoch FROM now() - l.created_at)::float8 AS age;

-- name: LetterAgain :exec
UPDATE letters SET next_at = now() + @wait::interval, error = @error WHERE id = @id AND done_at IS NULL;

-- name: LetterDone :exec
UPDATE letters SET done_at = now(), outcome = @outcome, recipient = sqlc.narg(recipient), error = sqlc.narg(error) WHERE id = @id AND done_at IS NULL;

-- name: LettersSent :one
-- How many letters somebody was sent in the last hour.
SELECT count(*) FROM letters WHERE recipient = @recipient AND outcome = 'sent' AND done_at > now() - interval '1 hour';

-- name: LettersWaiting :one
SELECT count(*) AS waiting, coalesce(extract(epoch FROM now() - min(created_at)), 0)::float8 AS oldest FROM letters WHERE done_at IS NULL;

-- name: LinkMake :execrows
-- Of an account, only while it is as it was when the letter was written.
WITH expired AS (DELETE FROM account_links o WHERE o.expires_at < now())
INSERT INTO account_links (token_hash, kind, user_name, email, epoch, invitation_id, expires_at)
SELECT @token_hash, @kind, u.name, @email, coalesce(u.epoch, 0), sqlc.narg(invitation_id), now() + @life::interval
FROM (SELECT 1) one LEFT JOIN users u ON u.name = sqlc.narg(user_name)
WHERE sqlc.narg(user_name)::text IS NULL OR u.disabled_at IS NULL AND u.name IS NOT NULL;

-- name: LinkGet :one
-- A link that works. One to a new password ends with any change of the password or
-- of the address that it was sent to.
SELECT l.kind, l.email, coalesce(l.user_name, '')::text AS user_name, l.invitation_id
FROM account_links l LEFT JOIN users u ON u.name = l.user_name
WHERE l.token_hash = @token_hash AND l.expires_at > now()
  AND (l.user_name IS NULL OR u.epoch = l.epoch AND u.disabled_at IS NULL AND (l.kind <> 'reset' OR u.email = l.email));

-- name: LinkTake :one
-- The same, once: whoever comes second finds nothing.
DELETE FROM account_links l WHERE l.token_hash = @token_hash AND l.kind = @kind AND l.expires_at > now()
  AND (l.user_name IS NULL OR EXISTS (
    SELECT 1 FROM users u WHERE u.name = l.user_name AND u.epoch = l.epoch AND u.disabled_at IS NULL AND (l.kind <> 'reset' OR u.email = l.email)))
RETURNING l.email, coalesce(l.user_name, '')::text AS user_name, l.invitation_id;

-- name: LinkTried :exec
-- A name was taken. A link that tries too many is spent.
WITH spent AS (DELETE FROM account_links d WHERE d.token_hash = @token_hash AND d.tries + 1 >= @most::integer)
UPDATE account_links l SET tries = l.tries + 1 WHERE l.token_hash = @token_hash AND l.tries + 1 < @most;

-- name: LinksEnd :exec
-- All that an account was sent.
DELETE FROM account_links WHERE user_name = @user_name;

-- name: LetterTell :exec
-- What an address has to learn, whatever was asked for lately.
INSERT INTO letters (kind, asked, user_name, language) VALUES (@kind, @asked, sqlc.narg(user_name), @language);
