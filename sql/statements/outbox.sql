-- Statements that pgx runs as they stand; sqlc does not read this file.
--
-- The queue is often empty, and a plan that was made then must be right when a
-- million jobs wait. A join with outbox_events is not: PostgreSQL may read all of
-- it for each row of the other side. So rows are named by an array, which can
-- only be looked up.

-- name: OutboxChosen :part
-- Ready rows in the order of the queue, locked. In a lifo queue the newest job of
-- a group takes the group's first slot, unless that slot has aged; the two swap
-- their places.
q AS MATERIALIZED (SELECT * FROM queues WHERE name = @queue::text AND NOT paused),
shard AS MATERIALIZED (
  SELECT shard FROM outbox_shards
  WHERE queue = @queue AND pool = @pool::text AND lock_owner = @dispatcher::text AND lock_until > now() AND shard < @shards::integer),
busy AS MATERIALIZED (
  SELECT group_key, count(*) AS n FROM outbox_events
  WHERE state IN ('D', 'L') AND queue = @queue AND group_key <> '' AND (SELECT group_limit FROM q) > 0 GROUP BY group_key),
limited AS MATERIALIZED (SELECT array_agg(group_key) AS keys FROM busy WHERE n >= (SELECT group_limit FROM q)),
slot AS MATERIALIZED (
  SELECT o.job_id, o.group_key, o.lane, o.priority, o.rank_at,
    o.lifo AND o.lane = 2 AND o.priority = 0 AND o.delayed_at IS NULL AND (SELECT ordering FROM q) = 'lifo'
      AND o.created_at > now() - (SELECT max_wait FROM q) AS swaps
  FROM outbox_events o
  WHERE o.queue = (SELECT name FROM q) AND o.pool = @pool AND o.state = 'R'
    AND (@languages::text[] IS NULL OR o.language = '' OR o.language = ANY (@languages::text[]))
    AND (@shards::integer <= 1 OR mod(hashtext(CASE o.group_key WHEN '' THEN o.job_id::text ELSE o.group_key END) & 2147483647, @shards) = ANY (ARRAY(SELECT shard FROM shard)))
    AND ((SELECT keys FROM limited) IS NULL OR o.group_key <> ALL ((SELECT keys FROM limited)::text[]))
  ORDER BY o.lane, o.priority DESC, o.rank_at, o.job_id LIMIT @max::integer FOR UPDATE OF o SKIP LOCKED),
allowed AS MATERIALIZED (
  SELECT s.* FROM slot s WHERE (SELECT group_limit FROM q) = 0
  UNION ALL
  SELECT job_id, group_key, lane, priority, rank_at, swaps FROM (
    SELECT s.*, row_number() OVER (PARTITION BY s.group_key ORDER BY s.lane, s.priority DESC, s.rank_at, s.job_id)
      + coalesce((SELECT b.n FROM busy b WHERE b.group_key = s.group_key), 0) AS nth
    FROM slot s WHERE (SELECT group_limit FROM q) > 0) s
  WHERE s.group_key = '' OR s.nth <= (SELECT group_limit FROM q)),
swapping AS (SELECT group_key, count(*) AS slots FROM allowed WHERE swaps GROUP BY group_key),
newest AS MATERIALIZED (
  SELECT n.* FROM swapping g CROSS JOIN LATERAL (
    SELECT o.job_id, o.group_key, o.lane, o.priority, o.rank_at FROM outbox_events o
    WHERE o.queue = @queue AND o.pool = @pool AND o.group_key = g.group_key
      AND o.lifo AND o.state = 'R' AND o.lane = 2 AND o.priority = 0 AND o.delayed_at IS NULL
      AND (@languages IS NULL OR o.language = '' OR o.language = ANY (@languages))
    ORDER BY o.job_id DESC LIMIT g.slots FOR UPDATE OF o SKIP LOCKED) n),
swap AS (
  SELECT a.job_id AS loser, b.job_id AS winner, a.lane, a.priority, a.rank_at AS early, b.rank_at AS late
  FROM (SELECT *, row_number() OVER (PARTITION BY group_key ORDER BY rank_at, job_id) AS i FROM allowed
        WHERE swaps AND NOT EXISTS (SELECT 1 FROM newest n WHERE n.job_id = allowed.job_id)) a
  JOIN (SELECT *, row_number() OVER (PARTITION BY group_key ORDER BY rank_at, job_id) AS i FROM newest
        WHERE NOT EXISTS (SELECT 1 FROM allowed s WHERE s.job_id = newest.job_id)) b USING (group_key, i)),
chosen AS MATERIALIZED (
  SELECT job_id FROM allowed WHERE job_id NOT IN (SELECT loser FROM swap)
  UNION ALL SELECT winner FROM swap)

-- name: OutboxChosenPlain :part
-- OutboxChosen where nothing has to be known of groups: no lifo, no limit of a
-- group, no shards. Most queues are like that, and PostgreSQL takes longer to
-- prepare for the whole of OutboxChosen than to choose.
q AS MATERIALIZED (SELECT * FROM queues WHERE name = @queue::text AND NOT paused AND ordering = 'fifo' AND group_limit = 0),
chosen AS MATERIALIZED (
  SELECT o.job_id FROM outbox_events o
  WHERE o.queue = (SELECT name FROM q) AND o.pool = @pool::text AND o.state = 'R'
    AND (@languages::text[] IS NULL OR o.language = '' OR o.language = ANY (@languages::text[]))
  ORDER BY o.lane, o.priority DESC, o.rank_at, o.job_id LIMIT @max::integer FOR UPDATE OF o SKIP LOCKED)

-- name: OutboxPick
-- Marks what it chooses as delivered, for the stream. The commit does not wait for the disk: were it lost with the
-- server, the job would be ready and in the stream, and delivered twice. A claim waits, and takes this along.
WITH @OutboxChosen,
lost AS (
  UPDATE outbox_events o SET rank_at = (SELECT s.late FROM swap s WHERE s.loser = o.job_id)
  WHERE o.job_id = ANY (ARRAY(SELECT loser FROM swap))),
won AS (
  UPDATE outbox_events o
  SET state = 'D', rank_at = coalesce((SELECT s.early FROM swap s WHERE s.winner = o.job_id), o.rank_at), deliveries = o.deliveries + 1,
    dispatched_at = now(), stream_entry_id = NULL, lock_owner = @dispatcher::text, lock_until = now() + (SELECT redeliver FROM q)
  WHERE o.job_id = ANY (ARRAY(SELECT job_id FROM chosen))
  RETURNING o.job_id, o.generation, o.attempt_id, o.lane, o.priority, o.rank_at, o.trace_id, o.payload_ref, o.created_at),
event AS (INSERT INTO single_events (job_id, generation, attempt, kind) SELECT job_id, generation, attempt_id, 'dispatched' FROM won)
SELECT job_id, trace_id, coalesce(payload_ref, 'pg:' || job_id), priority, created_at
FROM won WHERE set_config('synchronous_commit', 'off', true) = 'off' ORDER BY lane, priority DESC, rank_at, job_id;

-- name: OutboxPublished
-- A note for people. A row that somebody holds just now is being claimed, and
-- needs none. Returned is what another dispatcher has picked meanwhile.
WITH held AS MATERIALIZED (
  SELECT job_id FROM outbox_events
  WHERE job_id = ANY (@job_ids::bigint[]) AND state = 'D' AND lock_owner = @dispatcher::text AND stream_entry_id IS NULL
  ORDER BY job_id FOR UPDATE SKIP LOCKED),
marked AS (
  UPDATE outbox_events SET stream_entry_id = (@entries::text[])[array_position(@job_ids, job_id)]
  WHERE job_id = ANY (ARRAY(SELECT job_id FROM held)))
SELECT job_id FROM outbox_events WHERE job_id = ANY (@job_ids::bigint[]) AND state = 'D' AND lock_owner <> @dispatcher;

-- name: OutboxPublishFailed
-- The stream did not take them: not a try, so only the queue row changes. The
-- pause grows with every time that this happened, not with deliveries that were
-- lost.
WITH held AS MATERIALIZED (
  SELECT job_id FROM outbox_events
  WHERE job_id = ANY (@job_ids::bigint[]) AND state = 'D' AND lock_owner = @dispatcher::text ORDER BY job_id FOR UPDATE),
moved AS (
  UPDATE outbox_events o SET state = 'S', lock_owner = NULL, lock_until = NULL, stream_entry_id = NULL, last_error = @message::text,
    not_before = now() + least(interval '5 min', interval '1 s' * power(2, least(10, (
      SELECT count(*) FROM single_events e WHERE e.job_id = o.job_id AND e.generation = o.generation AND e.kind = 'publish_failed')))) * (0.5 + random() / 2)
  WHERE o.job_id = ANY (ARRAY(SELECT job_id FROM held)) RETURNING o.job_id, o.generation, o.attempt_id),
event AS (
  INSERT INTO single_events (job_id, generation, attempt, kind, data)
  SELECT job_id, generation, attempt_id, 'publish_failed', jsonb_build_object('error', @message::text) FROM moved)
SELECT job_id FROM moved;

-- name: OutboxPromote
WITH due AS MATERIALIZED (
  SELECT job_id FROM outbox_events WHERE state = 'S' AND not_before <= now() ORDER BY not_before LIMIT 1000 FOR UPDATE SKIP LOCKED),
moved AS (
  UPDATE outbox_events SET state = 'R' WHERE job_id = ANY (ARRAY(SELECT job_id FROM due)) RETURNING job_id, generation, attempt_id),
event AS (INSERT INTO single_events (job_id, generation, attempt, kind) SELECT job_id, generation, attempt_id, 'promoted' FROM moved)
SELECT job_id FROM moved;

-- name: OutboxRedeliver
WITH late AS MATERIALIZED (
  SELECT job_id FROM outbox_events WHERE state = 'D' AND (lock_until < now() OR @all::boolean)
  ORDER BY lock_until LIMIT @max::integer FOR UPDATE SKIP LOCKED),
moved AS (
  UPDATE outbox_events SET state = 'R', lock_owner = NULL, lock_until = NULL, stream_entry_id = NULL
  WHERE job_id = ANY (ARRAY(SELECT job_id FROM late)) RETURNING job_id, generation, attempt_id),
event AS (INSERT INTO single_events (job_id, generation, attempt, kind) SELECT job_id, generation, attempt_id, 'redelivered' FROM moved)
SELECT job_id FROM moved ORDER BY job_id;

-- name: OutboxOutstanding
SELECT count(*) FROM outbox_events WHERE queue = @queue::text AND state = 'D';
