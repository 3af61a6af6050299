-- Statements that pgx runs as they stand; sqlc does not read this file.

-- name: WebhookFeed
-- Goes on from the cursor and writes a delivery for each webhook that wants an
-- event. Only events of transactions older than all that run are looked at, so
-- that none can come before the cursor later. Of several senders one goes on and
-- the others pass. What a round hides from participants their webhooks are not told, nor
-- the number of the event, which would tell how many tests were run before it. The judgings of a rejudge set stay hidden until it is applied.
-- In a database that was restored elsewhere, transactions are numbered anew, and
-- the feed begins again with what comes.
WITH place AS MATERIALIZED (
  SELECT c.sink, c.xid, c.id, c.system_identifier = s.system_identifier::text AS ours, s.system_identifier
  FROM feed_cursors c, pg_control_system() s WHERE c.sink = 'webhooks' FOR UPDATE OF c SKIP LOCKED),
next AS MATERIALIZED (
  SELECT e.* FROM place c CROSS JOIN LATERAL (
    (SELECT s.xid, s.id, ARRAY[s.job_id] AS job_ids, ARRAY[s.generation] AS generations, ARRAY[s.attempt] AS attempts, s.kind, s.data,
       NULL::text[] AS verdicts, NULL::double precision[] AS scores, s.at
     FROM single_events s WHERE c.ours AND (s.xid, s.id) > (c.xid, c.id) AND s.xid < pg_snapshot_xmin(pg_current_snapshot())
     ORDER BY s.xid, s.id LIMIT @max::integer)
    UNION ALL
    (SELECT b.xid, b.id, b.job_ids, b.generations, b.attempts, b.kind, b.data, b.verdicts, b.scores, b.at
     FROM event_batches b WHERE c.ours AND (b.xid, b.id) > (c.xid, c.id) AND b.xid < pg_snapshot_xmin(pg_current_snapshot())
     ORDER BY b.xid, b.id LIMIT @max)) e),
-- A batch is not divided, so the last one may go beyond the limit.
seen AS MATERIALIZED (
  SELECT * FROM (SELECT n.*, sum(cardinality(n.job_ids)) OVER (ORDER BY n.xid, n.id) AS total FROM next n) t
  WHERE total - cardinality(job_ids) < @max),
told AS (
  SELECT e.id, e.job_id, e.at, 'submission.' || e.kind AS kind, m.author, m.problem, m.language, e.data,
    CASE e.generation WHEN 1 THEN 1 ELSE generation_seen(e.job_id, e.generation) END AS generation,
    CASE e.generation WHEN 1 THEN e.attempt ELSE attempt_seen(e.job_id, e.attempt) END AS attempt_id,
    CASE WHEN m.round_id IS NULL THEN 'full' ELSE feedback_told(e.job_id) END AS feedback
  FROM (
    SELECT s.id, u.job_id, u.generation, u.attempt, s.kind, coalesce(s.data, event_verdict(u.verdict, u.score)) AS data, s.at
    FROM seen s CROSS JOIN LATERAL unnest(s.job_ids, s.generations, s.attempts, s.verdicts, s.scores) AS u(job_id, generation, attempt, verdict, score)) e
  JOIN jobs j ON j.job_id = e.job_id AND j.kind = 'submission' JOIN submissions m ON m.job_id = e.job_id
  WHERE e.kind = ANY (@kinds::text[]) AND (e.generation = 1 OR event_seen(e.kind, e.job_id, e.generation))),
made AS (
  INSERT INTO webhook_deliveries (webhook_id, event_id, job_id, kind, body)
  SELECT w.id, t.id, t.job_id, t.kind, json_strip_nulls(json_build_object(
    'type', t.kind, 'timestamp', to_char(t.at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
    'data', json_build_object('event_id', CASE f.feedback WHEN 'full' THEN t.id END, 'job_id', t.job_id, 'url', '/submissions/' || t.job_id, 'problem', t.problem,
      'language', t.language, 'author', t.author, 'generation', t.generation, 'attempt_id', t.attempt_id,
      'verdict', CASE WHEN o.told THEN t.data -> 'verdict' END, 'score', CASE WHEN o.told THEN t.data -> 'score' END)))::text
  FROM told t JOIN webhooks w ON t.kind = ANY (w.kinds) AND t.at >= w.created_at AND w.disabled_at IS NULL
    AND (w.everyone OR w.owner = t.author) AND w.problem IN ('', t.problem)
  JOIN users u ON u.name = w.owner AND @WebhookMay
  CROSS JOIN LATERAL (SELECT CASE WHEN u.role IN ('staff', 'admin') THEN 'full' ELSE t.feedback END AS feedback) f
  CROSS JOIN LATERAL (SELECT f.feedback IN ('full', 'groups') AS told) o
  ORDER BY t.id, t.job_id, w.id
  ON CONFLICT DO NOTHING RETURNING 1),
last AS (SELECT xid, id FROM seen ORDER BY xid DESC, id DESC LIMIT 1),
moved AS (
  UPDATE feed_cursors c SET xid = coalesce(l.xid, pg_snapshot_xmin(pg_current_snapshot())), id = coalesce(l.id, 0), system_identifier = k.system_identifier::text
  FROM place k LEFT JOIN last l ON true WHERE c.sink = k.sink AND (l.id IS NOT NULL OR NOT k.ours))
SELECT (SELECT coalesce(max(total), 0) FROM seen) >= @max, (SELECT count(*) FROM made), NOT k.ours FROM place k;

-- name: WebhookMay :part
-- Whether the owner u of the webhook w may be told.
u.disabled_at IS NULL AND (NOT w.everyone OR u.role IN ('staff', 'admin'))

-- name: WebhookDue
-- Takes messages that are due for as long as the lease: at most a few at once of
-- one webhook, and of one that fails one at once, so that a slow receiver does not
-- hold up the others.
WITH due AS MATERIALIZED (
  SELECT d.id FROM webhooks w JOIN users u ON u.name = w.owner AND @WebhookMay
  CROSS JOIN LATERAL (
    SELECT d.id, d.next_at FROM webhook_deliveries d WHERE d.webhook_id = w.id AND d.done_at IS NULL AND d.next_at <= now()
    ORDER BY d.next_at, d.id
    LIMIT greatest(0, CASE WHEN w.failing_since IS NULL THEN @each::integer ELSE 1 END - (
      SELECT count(*) FROM webhook_deliveries b WHERE b.webhook_id = w.id AND b.leased_until > now()))
    FOR UPDATE SKIP LOCKED) d
  WHERE w.disabled_at IS NULL ORDER BY d.next_at, d.id LIMIT @max::integer)
UPDATE webhook_deliveries d SET tries = d.tries + 1, leased_until = now() + @lease::interval, next_at = now() + @lease
FROM due, webhooks w WHERE d.id = due.id AND w.id = d.webhook_id
RETURNING d.id, d.webhook_id, d.message::text, d.kind, d.body, d.tries, w.url, w.secret;

-- name: WebhookSettle
-- The end of a try, unless somebody else has tried since. A failure is tried again
-- later and later, unless it is final; a webhook that has failed for long is
-- disabled.
WITH owner AS MATERIALIZED ( -- first, as a deletion does
  SELECT w.id FROM webhooks w WHERE w.id = (SELECT d.webhook_id FROM webhook_deliveries d WHERE d.id = @id::bigint) FOR NO KEY UPDATE),
held AS MATERIALIZED (
  SELECT d.id, d.webhook_id, CASE WHEN @taken::boolean THEN true WHEN @final::boolean OR d.tries - d.tries_before >= @tries_max::integer THEN false END AS taken
  FROM owner o JOIN webhook_deliveries d ON d.webhook_id = o.id WHERE d.id = @id AND d.tries = @tries::integer AND d.done_at IS NULL FOR UPDATE OF d),
settled AS (
  UPDATE webhook_deliveries d SET leased_until = NULL, tried_at = now(), status = nullif(@status::integer, 0), error = nullif(@error::text, ''),
    taken = h.taken, done_at = CASE WHEN h.taken IS NOT NULL THEN now() END,
    next_at = now() + greatest(@wait::interval, least(@longest::interval, @shortest::interval * power(4, least(d.tries - d.tries_before, 12) - 1)) * (0.75 + random() / 2))
  FROM held h WHERE d.id = h.id),
hook AS (
  UPDATE webhooks w SET failing_since = CASE WHEN NOT @taken THEN coalesce(w.failing_since, now()) END,
    disabled_at = CASE WHEN @gone::boolean OR NOT @taken AND w.failing_since < now() - @patience::interval THEN coalesce(w.disabled_at, now()) ELSE w.disabled_at END
  FROM held h WHERE w.id = h.webhook_id AND (NOT @taken OR w.failing_since IS NOT NULL)
  RETURNING w.id, w.owner, w.disabled_at = now() AS off),
log AS (
  INSERT INTO audit_log (actor, action, subject, detail)
  SELECT 'system', 'webhook_disable', 'webhook:' || id, jsonb_build_object('user', owner, 'reason', CASE WHEN @gone THEN 'gone' ELSE 'failing' END) FROM hook WHERE off)
SELECT h.taken IS NULL, coalesce((SELECT off FROM hook), false) FROM held h;
