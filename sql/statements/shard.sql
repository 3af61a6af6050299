-- Statements that pgx runs as they stand; sqlc does not read this file.

-- name: ShardEnsure
INSERT INTO outbox_shards (queue, pool, shard)
SELECT @queue::text, @pool::text, generate_series(0, @shards::integer - 1) ON CONFLICT DO NOTHING;

-- name: ShardLease
-- Renews what a dispatcher holds, up to its fair share, gives back the rest, and
-- takes what is free or was held by one that has vanished.
WITH me AS (
  INSERT INTO dispatchers (queue, pool, name, seen_until) VALUES (@queue::text, @pool::text, @dispatcher::text, now() + @lease::interval)
  ON CONFLICT (queue, pool, name) DO UPDATE SET seen_until = excluded.seen_until),
gone AS (DELETE FROM dispatchers WHERE queue = @queue AND pool = @pool AND name <> @dispatcher AND seen_until < now() - interval '1 min'),
share AS MATERIALIZED (
  SELECT ceil(@shards::numeric / (1 + count(*)))::integer AS n FROM dispatchers
  WHERE queue = @queue AND pool = @pool AND name <> @dispatcher AND seen_until > now()),
held AS MATERIALIZED (
  SELECT shard FROM outbox_shards WHERE queue = @queue AND pool = @pool AND lock_owner = @dispatcher ORDER BY shard FOR UPDATE),
kept AS MATERIALIZED (SELECT shard FROM held WHERE shard < @shards ORDER BY shard LIMIT (SELECT n FROM share)),
free AS MATERIALIZED (
  SELECT shard FROM outbox_shards
  WHERE queue = @queue AND pool = @pool AND shard < @shards AND lock_owner IS DISTINCT FROM @dispatcher AND (lock_owner IS NULL OR lock_until < now())
  ORDER BY shard LIMIT greatest(0, (SELECT n FROM share) - (SELECT count(*) FROM kept)) FOR UPDATE SKIP LOCKED),
mine AS MATERIALIZED (SELECT shard FROM kept UNION ALL SELECT shard FROM free),
leased AS (
  UPDATE outbox_shards o SET lock_owner = @dispatcher, lock_until = now() + @lease
  FROM mine m WHERE o.queue = @queue AND o.pool = @pool AND o.shard = m.shard),
given AS (
  UPDATE outbox_shards o SET lock_owner = NULL, lock_until = NULL FROM held h
  WHERE o.queue = @queue AND o.pool = @pool AND o.shard = h.shard AND h.shard NOT IN (SELECT shard FROM kept))
SELECT shard FROM mine ORDER BY shard;

-- name: ShardRelease
WITH me AS (DELETE FROM dispatchers WHERE queue = @queue::text AND pool = @pool::text AND name = @dispatcher::text),
given AS (UPDATE outbox_shards SET lock_owner = NULL, lock_until = NULL WHERE queue = @queue AND pool = @pool AND lock_owner = @dispatcher RETURNING shard)
SELECT shard FROM given;
