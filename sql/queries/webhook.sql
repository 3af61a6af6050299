-- name: WebhookCreate :one
-- The feed of webhooks begins with the first of them. The epoch of its cursor tells
-- a deletion of the last one that another has been made meanwhile.
WITH made AS (
  INSERT INTO webhooks (owner, everyone, problem, url, kinds, secret)
  SELECT u.name, @everyone, @problem, @url, @kinds::text[], @secret FROM users u WHERE u.name = @owner AND u.disabled_at IS NULL
  RETURNING id, owner, url, everyone, created_at),
feed AS (
  INSERT INTO feed_cursors (sink, system_identifier, xid)
  SELECT 'webhooks', (SELECT system_identifier::text FROM pg_control_system()), pg_snapshot_xmin(pg_current_snapshot()) FROM made
  ON CONFLICT (sink) DO UPDATE SET epoch = feed_cursors.epoch + 1),
log AS (
  INSERT INTO audit_log (actor, action, subject, detail)
  SELECT @by::text, 'webhook_create', 'webhook:' || id, jsonb_build_object('user', owner, 'host', substring(url FROM '^[A-Za-z]+://([^/?#]*)'), 'everyone', everyone) FROM made)
SELECT id, created_at FROM made;

-- name: WebhookList :many
-- Of one user, or of everybody (''), newest first.
SELECT id, owner, everyone, problem, url, kinds, created_at, disabled_at, failing_since FROM webhooks
WHERE (@owner::text = '' OR owner = @owner) AND id < @before ORDER BY id DESC LIMIT @max::integer;

-- name: WebhookGet :one
SELECT id, owner, everyone, problem, url, kinds, created_at, disabled_at, failing_since FROM webhooks WHERE id = @id;

-- name: WebhookDelete :execrows
WITH feed AS MATERIALIZED (SELECT epoch FROM feed_cursors WHERE sink = 'webhooks'),
gone AS (DELETE FROM webhooks w WHERE w.id = @id RETURNING w.id, w.owner),
ended AS (
  DELETE FROM feed_cursors c USING feed, gone
  WHERE c.sink = 'webhooks' AND c.epoch = feed.epoch AND NOT EXISTS (SELECT 1 FROM webhooks o WHERE o.id <> gone.id))
INSERT INTO audit_log (actor, action, subject, detail)
SELECT @by::text, 'webhook_delete', 'webhook:' || id, jsonb_build_object('user', owner) FROM gone;

-- name: WebhookDisable :one
WITH held AS MATERIALIZED (SELECT w.id, w.owner, w.disabled_at IS NOT NULL AS was FROM webhooks w WHERE w.id = @id FOR UPDATE),
changed AS (
  UPDATE webhooks w SET disabled_at = CASE WHEN @disabled::boolean THEN now() END, failing_since = CASE WHEN @disabled THEN w.failing_since END
  FROM held h WHERE w.id = h.id AND h.was <> @disabled RETURNING w.id, w.owner),
log AS (
  INSERT INTO audit_log (actor, action, subject, detail)
  SELECT @by::text, CASE WHEN @disabled THEN 'webhook_disable' ELSE 'webhook_enable' END, 'webhook:' || id, jsonb_build_object('user', owner) FROM changed)
SELECT id FROM held;

-- name: WebhookSecret :execrows
WITH changed AS (UPDATE webhooks w SET secret = @secret WHERE w.id = @id RETURNING w.id, w.owner)
INSERT INTO audit_log (actor, action, subject, detail)
SELECT @by::text, 'webhook_secret', 'webhook:' || id, jsonb_build_object('user', owner) FROM changed;

-- name: WebhookTry :one
INSERT INTO webhook_deliveries (webhook_id, kind, body)
SELECT w.id, 'webhook.test', json_build_object('type', 'webhook.test',
  'timestamp', to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'data', json_build_object('webhook_id', w.id))::text
FROM webhooks w WHERE w.id = @webhook_id RETURNING webhook_deliveries.id;

-- name: DeliveryList :many
SELECT id, coalesce(job_id, 0)::bigint AS job_id, message::text AS message, kind, created_at, tries, next_at, tried_at, status, error, done_at, taken FROM webhook_deliveries
WHERE webhook_id = @webhook_id AND id < @before ORDER BY id DESC LIMIT @max::integer;

-- name: DeliveryAgain :execrows
-- Has a message sent again that was taken or given up. One that waits goes at once.
UPDATE webhook_deliveries SET tries_before = tries, next_at = now(), done_at = NULL, taken = NULL
WHERE id = @id AND webhook_id = @webhook_id AND leased_until IS NULL;
