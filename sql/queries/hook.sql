-- name: HookCreate :execrows
-- It is told what comes from now on. An owner has at most so many.
WITH made AS (
  INSERT INTO contest_hooks (id, owner, key_id, version, url, token, endpoints, contests)
  SELECT @id, u.name, nullif(@key_id::bigint, 0), @version, @url, @token, @endpoints::text[], @contests::text[] FROM users u
  WHERE u.name = @owner AND u.disabled_at IS NULL AND (SELECT count(*) FROM contest_hooks h WHERE h.owner = u.name) < @most::integer
  RETURNING id, owner, url),
places AS (
  INSERT INTO contest_hook_places (hook_id, round_id, seq) SELECT m.id, c.round_id, c.seq FROM made m, contest_recorders c)
INSERT INTO audit_log (actor, action, subject, detail)
SELECT owner, 'contest_hook_create', 'user:' || owner, jsonb_build_object('webhook', id, 'host', substring(url FROM '^[A-Za-z]+://([^/?#]*)')) FROM made;

-- name: HookList :many
-- Of one owner, or of everybody ('').
SELECT id, owner, version, url, endpoints, contests, (disabled_at IS NULL AND (key_id IS NULL OR EXISTS (
  SELECT 1 FROM api_keys k WHERE k.id = key_id AND k.revoked_at IS NULL AND coalesce(k.expires_at > now(), true))))::boolean AS active
FROM contest_hooks WHERE (@owner::text = '' OR owner = @owner) AND (@id::text = '' OR id = @id) ORDER BY id LIMIT @max::integer;

-- name: HookDelete :execrows
WITH gone AS (DELETE FROM contest_hooks h WHERE h.id = @id AND (@owner::text = '' OR h.owner = @owner) RETURNING h.id, h.owner)
INSERT INTO audit_log (actor, action, subject, detail)
SELECT @by::text, 'contest_hook_delete', 'user:' || owner, jsonb_build_object('webhook', id) FROM gone;

-- name: HookDue :one
-- Takes one that a log has something for behind its place, for as long as the lease. What it wants to be told of is up to
-- whoever calls, who moves the place also past what it does not. One that a key made is told nothing without the key.
WITH due AS MATERIALIZED (
  SELECT h.id, coalesce(k.scope, '')::text AS scope, r.id AS round_id, r.code, coalesce(p.seq, 0)::bigint AS seq, c.seq AS last
  FROM contest_hooks h
  JOIN users u ON u.name = h.owner AND u.disabled_at IS NULL
  LEFT JOIN api_keys k ON k.id = h.key_id AND k.revoked_at IS NULL AND coalesce(k.expires_at > now(), true)
  JOIN contest_recorders c ON true JOIN rounds r ON r.id = c.round_id AND r.duration_ms IS NOT NULL AND (h.contests = '{}' OR r.code = ANY (h.contests))
  LEFT JOIN contest_hook_places p ON p.hook_id = h.id AND p.round_id = c.round_id
  WHERE h.disabled_at IS NULL AND (h.key_id IS NULL OR k.id IS NOT NULL) AND h.next_at <= now() AND (h.leased_until IS NULL OR h.leased_until < now()) AND c.seq > coalesce(p.seq, 0)
  ORDER BY h.next_at, h.id, r.id LIMIT 1 FOR UPDATE OF h SKIP LOCKED)
UPDATE contest_hooks h SET leased_until = now() + make_interval(secs => @lease_s::float8) FROM due WHERE h.id = due.id
RETURNING h.id, h.owner, due.scope, h.version, h.url, h.token, h.endpoints, h.failures, h.failing_since, h.leased_until, now()::timestamptz AS now, due.round_id, due.code, due.seq, due.last;

-- name: HookTaken :execrows
-- What was told is told no more. The lease ends, unless somebody else has it by now.
WITH moved AS (
  INSERT INTO contest_hook_places AS p (hook_id, round_id, seq) VALUES (@id, @round_id, @seq)
  ON CONFLICT (hook_id, round_id) DO UPDATE SET seq = greatest(p.seq, excluded.seq))
UPDATE contest_hooks SET leased_until = NULL, failures = 0, failing_since = NULL, next_at = now() WHERE id = @id AND leased_until = @leased_until::timestamptz;

-- name: HookFailed :exec
-- It is tried again after a time, or no more, unless somebody else has it by now.
WITH changed AS (
  UPDATE contest_hooks SET leased_until = NULL, failures = contest_hooks.failures + 1, failing_since = coalesce(contest_hooks.failing_since, now()),
    next_at = now() + make_interval(secs => @wait_s::float8), disabled_at = CASE WHEN @disable::boolean THEN now() END
  WHERE contest_hooks.id = @id AND contest_hooks.leased_until = @leased_until::timestamptz RETURNING contest_hooks.id, contest_hooks.owner, contest_hooks.disabled_at)
INSERT INTO audit_log (actor, action, subject, detail)
SELECT 'system', 'contest_hook_disable', 'user:' || changed.owner, jsonb_build_object('webhook', changed.id) FROM changed WHERE changed.disabled_at IS NOT NULL;
