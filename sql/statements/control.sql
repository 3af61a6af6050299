-- Statements that pgx runs as they stand; sqlc does not read this file.

-- name: JobCancel
-- Wins at once: a running worker's next heartbeat does not return the job, and
-- its finalize is refused. Who did it and why is kept beside the job, on two lines;
-- what an undo needs goes into the audit log.
WITH held AS MATERIALIZED (
  SELECT job_id, status, lease_owner, started_at FROM jobs
  WHERE job_id = @job_id::bigint AND (status = 'pending' OR status = 'running' AND NOT @only_pending::boolean) FOR UPDATE),
cancelled AS (
  UPDATE jobs j SET status = 'cancelled', finished_at = now(), last_error = @by::text || E'\n' || @why::text, lease_owner = NULL, lease_token = NULL, lease_until = NULL
  FROM held h WHERE j.job_id = h.job_id RETURNING j.job_id, j.generation, j.attempt_id, h.status AS was, h.lease_owner, h.started_at),
outbox AS (
  DELETE FROM outbox_events WHERE job_id = (SELECT job_id FROM cancelled) RETURNING lane, priority, rank_at, delayed_at, not_before),
attempt AS (
  INSERT INTO attempts (job_id, attempt_id, generation, worker, started_at, outcome)
  SELECT job_id, attempt_id, generation, lease_owner, started_at, 'cancelled' FROM cancelled WHERE was = 'running'),
again AS (UPDATE job_payloads p SET next = NULL FROM cancelled c WHERE p.job_id = c.job_id AND p.next IS NOT NULL),
log AS (
  INSERT INTO audit_log (actor, action, subject, detail)
  SELECT @by::text, 'cancel', 'job:' || c.job_id, jsonb_build_object('was', c.was, 'generation', c.generation, 'why', @why::text,
    'lane', o.lane, 'priority', o.priority, 'rank_at', o.rank_at, 'delayed_at', o.delayed_at, 'not_before', o.not_before)
  FROM cancelled c CROSS JOIN outbox o),
event AS (
  INSERT INTO single_events (job_id, generation, attempt, kind, data)
  SELECT job_id, generation, attempt_id, 'cancelled', jsonb_build_object('by', @by::text, 'why', @why::text) FROM cancelled)
SELECT job_id FROM cancelled;

-- name: JobRestore
-- Undoes the cancelling of a job that was waiting: it gets its old place back.
WITH held AS MATERIALIZED (SELECT job_id FROM jobs WHERE job_id = @job_id::bigint AND status = 'cancelled' FOR UPDATE),
noted AS MATERIALIZED (
  SELECT a.detail FROM held h JOIN audit_log a ON a.subject = 'job:' || h.job_id AND a.action = 'cancel' ORDER BY a.id DESC LIMIT 1),
restored AS (
  UPDATE jobs j SET status = 'pending', finished_at = NULL, last_error = NULL
  FROM held h, noted n WHERE j.job_id = h.job_id AND n.detail ->> 'was' = 'pending' AND (n.detail ->> 'generation')::integer = j.generation
  RETURNING j.*),
outbox AS (
  INSERT INTO outbox_events (job_id, queue, pool, group_key, language, lane, priority, rank_at, delayed_at, state, generation, attempt_id, not_before, trace_id, in_set, lifo)
  SELECT r.job_id, r.queue, r.pool, r.group_key, r.language, (n.detail ->> 'lane')::smallint, (n.detail ->> 'priority')::integer,
    (n.detail ->> 'rank_at')::timestamptz, (n.detail ->> 'delayed_at')::timestamptz,
    CASE WHEN r.not_before > now() THEN 'S' ELSE 'R' END, r.generation, r.attempt_id, r.not_before, r.trace_id, r.rejudge_set IS NOT NULL,
    (SELECT ordering = 'lifo' FROM queues WHERE name = r.queue)
  FROM restored r, noted n),
log AS (
  INSERT INTO audit_log (actor, action, subject) SELECT @by::text, 'restore', 'job:' || job_id FROM restored),
event AS (
  INSERT INTO single_events (job_id, generation, attempt, kind, data)
  SELECT job_id, generation, attempt_id, 'restored', jsonb_build_object('by', @by::text) FROM restored)
SELECT job_id FROM restored;

-- name: JobRejudge
-- A new generation; the fence keeps growing and the old result stays readable.
-- A job that waits untried keeps its generation, so a repeated request changes
-- nothing. If it is logged, the audit log has one row for all
-- of them.
WITH held AS MATERIALIZED (
  SELECT job_id, status, tries, generation, lease_owner, started_at, rejudge_set FROM jobs
  WHERE job_id = ANY (@job_ids::bigint[]) ORDER BY job_id FOR UPDATE),
again AS (
  UPDATE jobs j SET status = 'pending', generation = j.generation + 1, tries = 0, not_before = now(), finished_at = NULL, last_error = NULL,
    lease_owner = NULL, lease_token = NULL, lease_until = NULL, lane = @lane::smallint, rejudge_set = @set::bigint
  FROM held h WHERE j.job_id = h.job_id AND NOT (h.status = 'pending' AND h.tries = 0 AND h.rejudge_set IS NOT DISTINCT FROM @set)
  RETURNING j.*, h.status AS was, h.generation AS old_generation, h.lease_owner AS old_owner, h.started_at AS old_started),
outbox AS (
  INSERT INTO outbox_events (job_id, queue, pool, group_key, language, lane, priority, rank_at, state, generation, attempt_id, not_before, trace_id, in_set, lifo)
  SELECT job_id, queue, pool, group_key, language, @lane, priority, now(), 'R', generation, attempt_id, now(), trace_id, rejudge_set IS NOT NULL,
    (SELECT ordering = 'lifo' FROM queues WHERE name = again.queue) FROM again
  ON CONFLICT (job_id) DO UPDATE SET lane = excluded.lane, priority = excluded.priority, rank_at = excluded.rank_at, state = 'R',
    generation = excluded.generation, attempt_id = excluded.attempt_id, not_before = excluded.not_before, created_at = now(), delayed_at = NULL,
    deliveries = 0, lock_owner = NULL, lock_until = NULL, stream_entry_id = NULL, last_error = NULL, in_set = excluded.in_set),
attempt AS (
  INSERT INTO attempts (job_id, attempt_id, generation, worker, started_at, outcome)
  SELECT job_id, attempt_id, old_generation, old_owner, old_started, 'superseded' FROM again WHERE was = 'running'),
letter AS (
  UPDATE dead_letters d SET resolution = 'replayed', resolved_by = @by::text, resolved_at = now()
  FROM again a WHERE d.job_id = a.job_id AND d.resolution IS DISTINCT FROM 'replayed'),
payload AS (
  UPDATE job_payloads p SET payload = p.next, payload_ref = NULL, next = NULL
  FROM again a WHERE p.job_id = a.job_id AND p.next IS NOT NULL),
log AS (
  INSERT INTO audit_log (actor, action, subject, detail)
  SELECT @by, 'rejudge', CASE count(*) WHEN 1 THEN 'job:' || min(job_id) ELSE 'jobs:' || count(*) END,
    CASE count(*) WHEN 1 THEN jsonb_build_object('was', min(was), 'generation', min(generation))
      ELSE jsonb_build_object('jobs', to_jsonb((array_agg(job_id ORDER BY job_id))[1:1000])) END
  FROM again WHERE @log::boolean HAVING count(*) > 0),
event AS (
  INSERT INTO single_events (job_id, generation, attempt, kind, data)
  SELECT job_id, generation, attempt_id, 'rejudge', jsonb_strip_nulls(jsonb_build_object('by', @by::text, 'set', @set)) FROM again)
SELECT h.job_id, coalesce(a.generation, h.generation) AS generation, a.job_id IS NOT NULL AS moved FROM held h LEFT JOIN again a USING (job_id);

-- name: JobsToRepeat
-- Jobs that ended while a newer payload of their job key was waiting.
SELECT p.job_id FROM job_payloads p JOIN jobs j USING (job_id)
WHERE p.next IS NOT NULL AND j.status IN ('finished', 'dead') ORDER BY p.job_id LIMIT 100;

-- name: JobRelease
-- To the front: lane 0, before everything that was released earlier. The lock on
-- the queue puts concurrent moves in an order. The audit log keeps the old place.
WITH q AS MATERIALIZED (
  SELECT name FROM queues WHERE name = (SELECT queue FROM jobs WHERE job_id = @job_id::bigint) FOR UPDATE),
held AS MATERIALIZED (SELECT j.job_id FROM jobs j, q WHERE j.job_id = @job_id AND j.status = 'pending' FOR UPDATE OF j),
old AS MATERIALIZED (SELECT * FROM outbox_events WHERE job_id = (SELECT job_id FROM held) AND state IN ('R', 'S') FOR UPDATE),
first AS MATERIALIZED (
  SELECT o.priority, o.rank_at FROM outbox_events o
  WHERE o.queue = (SELECT name FROM q) AND o.pool = (SELECT pool FROM old) AND o.state = 'R' AND o.lane = 0
  ORDER BY o.lane, o.priority DESC, o.rank_at, o.job_id LIMIT 1),
moved AS (
  UPDATE outbox_events o SET lane = 0, state = 'R', not_before = now(), delayed_at = NULL,
    priority = greatest(o.priority, (SELECT priority FROM first)),
    rank_at = least(now(), (SELECT rank_at FROM first) - interval '1 us')
  WHERE o.job_id = (SELECT job_id FROM old)
  RETURNING o.job_id, o.generation, o.attempt_id),
job AS (UPDATE jobs j SET not_before = now() FROM moved m WHERE j.job_id = m.job_id),
log AS (
  INSERT INTO audit_log (actor, action, subject, detail)
  SELECT @by::text, 'release', 'job:' || job_id, jsonb_build_object('generation', generation, 'attempt', attempt_id,
    'lane', lane, 'priority', priority, 'rank_at', rank_at, 'delayed_at', delayed_at, 'not_before', not_before) FROM old),
event AS (
  INSERT INTO single_events (job_id, generation, attempt, kind, data)
  SELECT job_id, generation, attempt_id, 'moved', jsonb_build_object('by', @by::text, 'to', 'front') FROM moved)
SELECT job_id FROM moved;

-- name: JobImmediate
-- As if it had been submitted as immediate just now: to lane 0, behind what is in
-- it. Its submitter's clock stays.
WITH q AS MATERIALIZED (
  SELECT name FROM queues WHERE name = (SELECT queue FROM jobs WHERE job_id = @job_id::bigint) FOR UPDATE),
held AS MATERIALIZED (SELECT j.job_id FROM jobs j, q WHERE j.job_id = @job_id AND j.status = 'pending' FOR UPDATE OF j),
old AS MATERIALIZED (SELECT * FROM outbox_events WHERE job_id = (SELECT job_id FROM held) AND state IN ('R', 'S') AND lane > 0 FOR UPDATE),
last AS MATERIALIZED (
  SELECT o.priority, o.rank_at FROM outbox_events o
  WHERE o.queue = (SELECT name FROM q) AND o.pool = (SELECT pool FROM old) AND o.state = 'R' AND o.lane = 0
  ORDER BY o.lane DESC, o.priority, o.rank_at DESC, o.job_id DESC LIMIT 1),
moved AS (
  UPDATE outbox_events o SET lane = 0, state = 'R', not_before = now(), delayed_at = NULL,
    priority = least(o.priority, (SELECT priority FROM last)),
    rank_at = greatest(now(), (SELECT rank_at FROM last) + interval '1 us')
  WHERE o.job_id = (SELECT job_id FROM old)
  RETURNING o.job_id, o.generation, o.attempt_id),
job AS (UPDATE jobs j SET not_before = now() FROM moved m WHERE j.job_id = m.job_id),
log AS (
  INSERT INTO audit_log (actor, action, subject, detail)
  SELECT @by::text, 'immediate', 'job:' || job_id, jsonb_build_object('generation', generation, 'attempt', attempt_id,
    'lane', lane, 'priority', priority, 'rank_at', rank_at, 'delayed_at', delayed_at, 'not_before', not_before) FROM old),
event AS (
  INSERT INTO single_events (job_id, generation, attempt, kind, data)
  SELECT job_id, generation, attempt_id, 'moved', jsonb_build_object('by', @by::text, 'to', 'immediate') FROM moved)
SELECT job_id FROM moved;

-- name: JobLane
-- The lane of a job that can be moved.
SELECT lane FROM outbox_events WHERE job_id = @job_id::bigint AND state IN ('R', 'S');

-- name: JobDelay
-- To the back of its lane. An immediate job (lane 0) cannot move.
WITH q AS MATERIALIZED (
  SELECT name FROM queues WHERE name = (SELECT queue FROM jobs WHERE job_id = @job_id::bigint) FOR UPDATE),
old AS MATERIALIZED (
  SELECT o.* FROM outbox_events o, q WHERE o.job_id = @job_id AND o.state IN ('R', 'S') AND o.lane > 0 FOR UPDATE OF o),
last AS MATERIALIZED (
  SELECT o.priority, o.rank_at FROM outbox_events o
  WHERE o.queue = (SELECT name FROM q) AND o.pool = (SELECT pool FROM old) AND o.state = 'R' AND o.lane = (SELECT lane FROM old)
  ORDER BY o.lane DESC, o.priority, o.rank_at DESC, o.job_id DESC LIMIT 1),
moved AS (
  UPDATE outbox_events o SET delayed_at = now(), priority = least(o.priority, (SELECT priority FROM last)),
    rank_at = greatest(now(), (SELECT rank_at FROM last)) + interval '10 s'
  WHERE o.job_id = (SELECT job_id FROM old)
  RETURNING o.job_id, o.generation, o.attempt_id, o.rank_at),
log AS (
  INSERT INTO audit_log (actor, action, subject, detail)
  SELECT @by::text, 'delay', 'job:' || job_id, jsonb_build_object('generation', generation, 'attempt', attempt_id,
    'lane', lane, 'priority', priority, 'rank_at', rank_at, 'delayed_at', delayed_at, 'not_before', not_before) FROM old),
event AS (
  INSERT INTO single_events (job_id, generation, attempt, kind, data)
  SELECT job_id, generation, attempt_id, 'moved', jsonb_build_object('by', @by::text, 'to', 'back') FROM moved)
SELECT rank_at FROM moved;

-- name: JobMove
-- Right before another job that is ready. That one and those close behind it give
-- way by microseconds, as far as there is no room; ten thousand at most.
WITH q AS MATERIALIZED (
  SELECT name FROM queues WHERE name = (SELECT queue FROM jobs WHERE job_id = @job_id::bigint) FOR UPDATE),
held AS MATERIALIZED (SELECT j.job_id FROM jobs j, q WHERE j.job_id = @job_id AND j.status = 'pending' FOR UPDATE OF j),
old AS MATERIALIZED (SELECT * FROM outbox_events WHERE job_id = (SELECT job_id FROM held) AND state IN ('R', 'S') FOR UPDATE),
goal AS MATERIALIZED (
  SELECT * FROM outbox_events
  WHERE job_id = @before::bigint AND job_id <> (SELECT job_id FROM old) AND state = 'R'
    AND queue = (SELECT queue FROM old) AND pool = (SELECT pool FROM old)),
behind AS MATERIALIZED (
  SELECT o.job_id, o.rank_at, row_number() OVER (ORDER BY o.rank_at, o.job_id) AS i
  FROM outbox_events o
  WHERE o.queue = (SELECT queue FROM goal) AND o.pool = (SELECT pool FROM goal) AND o.state = 'R'
    AND o.lane = (SELECT lane FROM goal) AND o.priority = (SELECT priority FROM goal)
    AND (o.rank_at, o.job_id) >= ((SELECT rank_at FROM goal), (SELECT job_id FROM goal)) AND o.job_id <> @job_id
  ORDER BY o.rank_at, o.job_id LIMIT 10000),
room AS MATERIALIZED (
  SELECT coalesce(min(b.i) FILTER (WHERE b.rank_at > g.rank_at + b.i * interval '1 us'), CASE WHEN count(*) < 10000 THEN count(*) + 1 END) AS at
  FROM behind b, goal g),
pushed AS (
  UPDATE outbox_events o SET rank_at = (SELECT g.rank_at + (b.i + 1) * interval '1 us' FROM behind b, goal g WHERE b.job_id = o.job_id)
  WHERE o.job_id = ANY (ARRAY(SELECT job_id FROM behind WHERE i < (SELECT at FROM room)))),
moved AS (
  UPDATE outbox_events o SET lane = g.lane, priority = g.priority, rank_at = g.rank_at + interval '1 us', state = 'R', not_before = now(), delayed_at = now()
  FROM goal g WHERE o.job_id = (SELECT job_id FROM old) AND (SELECT at FROM room) IS NOT NULL
  RETURNING o.job_id, o.generation, o.attempt_id),
job AS (UPDATE jobs j SET not_before = now() FROM moved m WHERE j.job_id = m.job_id),
log AS (
  INSERT INTO audit_log (actor, action, subject, detail)
  SELECT @by::text, 'move', 'job:' || old.job_id, jsonb_build_object('generation', old.generation, 'attempt', old.attempt_id, 'before', @before,
    'lane', old.lane, 'priority', old.priority, 'rank_at', old.rank_at, 'delayed_at', old.delayed_at, 'not_before', old.not_before)
  FROM old, moved),
event AS (
  INSERT INTO single_events (job_id, generation, attempt, kind, data)
  SELECT job_id, generation, attempt_id, 'moved', jsonb_build_object('by', @by::text, 'before', @before) FROM moved)
SELECT job_id FROM moved;

-- name: JobUndo
-- Takes back the newest release, immediate, delay or move that was not taken back
-- yet, as long as the job has not been claimed or rejudged since.
WITH q AS MATERIALIZED (
  SELECT name FROM queues WHERE name = (SELECT queue FROM jobs WHERE job_id = @job_id::bigint) FOR UPDATE),
held AS MATERIALIZED (
  SELECT j.job_id, j.generation, j.attempt_id FROM jobs j, q WHERE j.job_id = @job_id AND j.status = 'pending' FOR UPDATE OF j),
noted AS MATERIALIZED (
  SELECT a.id, a.action, (a.detail ->> 'lane')::smallint AS lane, (a.detail ->> 'priority')::integer AS priority,
    (a.detail ->> 'rank_at')::timestamptz AS rank_at, (a.detail ->> 'delayed_at')::timestamptz AS delayed_at, (a.detail ->> 'not_before')::timestamptz AS not_before
  FROM held h JOIN audit_log a ON a.subject = 'job:' || h.job_id AND a.action IN ('release', 'immediate', 'delay', 'move')
    AND (a.detail ->> 'generation')::integer = h.generation AND (a.detail ->> 'attempt')::integer = h.attempt_id
  WHERE NOT EXISTS (SELECT 1 FROM audit_log u WHERE u.subject = a.subject AND u.action = 'undo' AND (u.detail ->> 'of')::bigint = a.id)
  ORDER BY a.id DESC LIMIT 1),
moved AS (
  UPDATE outbox_events o SET lane = n.lane, priority = n.priority, rank_at = n.rank_at, delayed_at = n.delayed_at, not_before = n.not_before,
    state = CASE WHEN n.not_before > now() THEN 'S' ELSE 'R' END
  FROM noted n WHERE o.job_id = @job_id AND o.state IN ('R', 'S')
  RETURNING o.job_id, o.generation, o.attempt_id, o.not_before),
job AS (UPDATE jobs j SET not_before = m.not_before FROM moved m WHERE j.job_id = m.job_id),
log AS (
  INSERT INTO audit_log (actor, action, subject, detail)
  SELECT @by::text, 'undo', 'job:' || m.job_id, jsonb_build_object('of', n.id, 'action', n.action) FROM moved m, noted n),
event AS (
  INSERT INTO single_events (job_id, generation, attempt, kind, data)
  SELECT m.job_id, m.generation, m.attempt_id, 'moved', jsonb_build_object('by', @by::text, 'undo', n.action) FROM moved m, noted n)
SELECT n.action FROM moved, noted n;

-- name: DeadLetterDiscard
WITH discarded AS (
  UPDATE dead_letters SET resolution = 'discarded', resolved_by = @by::text, resolved_at = now()
  WHERE job_id = @job_id::bigint AND resolution IS NULL RETURNING job_id, generation),
log AS (
  INSERT INTO audit_log (actor, action, subject, detail)
  SELECT @by, 'discard', 'job:' || job_id, jsonb_build_object('generation', generation, 'reason', @reason::text) FROM discarded)
SELECT job_id FROM discarded;

-- name: DeadLetterAttempts
-- The attempts of a job that ended without a result, oldest first.
SELECT attempt_id, generation, worker, started_at, ended_at, outcome, error FROM attempts
WHERE job_id = @job_id::bigint ORDER BY attempt_id;

-- name: JobDead
SELECT job_id FROM jobs WHERE job_id = @job_id::bigint AND status = 'dead';

-- name: JobsWaiting
-- What waits of a group's newest thousand jobs, in the order of the queue, behind a place in it.
SELECT o.job_id, o.state::text, o.lane, o.priority, o.rank_at, o.created_at, o.not_before, o.delayed_at IS NOT NULL
FROM outbox_events o
WHERE o.job_id = ANY (ARRAY(SELECT job_id FROM jobs WHERE queue = @queue::text AND group_key = @group::text ORDER BY job_id DESC LIMIT 1000))
  AND o.state IN ('R', 'S', 'D') AND (@whole::boolean OR NOT o.in_set)
  AND (@behind::bigint = 0 OR (o.state <> 'D', o.lane::integer, -o.priority, o.rank_at, o.job_id)
    > (@behind_state::text <> 'D', @behind_lane::integer, -@behind_priority::integer, @behind_rank::timestamptz, @behind))
ORDER BY o.state <> 'D', o.lane, o.priority DESC, o.rank_at, o.job_id LIMIT @max::integer;

-- name: QueueFront
-- What is unfinished in a queue and pool: what runs, what is delivered, what is
-- ready, in the order in which it goes, and what waits for its time. The first of
-- each, as many as are wanted.
SELECT f.job_id FROM (
  (SELECT 1 AS part, row_number() OVER (ORDER BY lock_until, job_id) AS nth, job_id FROM outbox_events
   WHERE state = 'L' AND queue = @queue::text AND pool = @pool::text ORDER BY lock_until, job_id LIMIT @max::integer)
  UNION ALL
  (SELECT 2, row_number() OVER (ORDER BY lane, priority DESC, rank_at, job_id), job_id FROM outbox_events
   WHERE state = 'D' AND queue = @queue AND pool = @pool ORDER BY lane, priority DESC, rank_at, job_id LIMIT @max)
  UNION ALL
  (SELECT 3, row_number() OVER (), job_id FROM (
     SELECT job_id FROM outbox_events WHERE state = 'R' AND queue = @queue AND pool = @pool
     ORDER BY lane, priority DESC, rank_at, job_id LIMIT @max) r)
  UNION ALL
  (SELECT 4, row_number() OVER (), job_id FROM (
     SELECT job_id FROM outbox_events WHERE state = 'S' AND queue = @queue AND pool = @pool ORDER BY not_before LIMIT @max) s)
) f ORDER BY f.part, f.nth LIMIT @max;

-- name: QueueOf
-- What is unfinished of an author's newest thousand submissions, newest first, as
-- the author may see it.
SELECT job_id FROM outbox_events
WHERE job_id = ANY (ARRAY(SELECT job_id FROM job_payloads WHERE author = @author::text AND author <> '' AND problem IS NOT NULL ORDER BY job_id DESC LIMIT 1000))
  AND NOT in_set
ORDER BY job_id DESC LIMIT @max::integer;

-- name: QueueRows
-- Rows of the queue with what people want to know about them.
SELECT o.job_id, j.kind, coalesce(s.author, o.group_key), coalesce(s.problem, ''),
  coalesce((SELECT v.title FROM problems p JOIN problem_versions v ON v.slug = p.slug AND v.version = p.version WHERE p.slug = s.problem), s.problem, ''), o.language, o.lane, o.priority, o.state::text,
  o.rank_at, o.not_before, o.created_at, o.delayed_at IS NOT NULL, o.attempt_id, j.tries, j.rejudge_set IS NOT NULL,
  coalesce(CASE WHEN o.state = 'L' THEN j.lease_owner END, ''), coalesce(o.last_error, '')
FROM outbox_events o
JOIN jobs j ON j.job_id = o.job_id
LEFT JOIN job_payloads s ON s.job_id = o.job_id AND s.problem IS NOT NULL
WHERE o.job_id = ANY (@job_ids::bigint[])
ORDER BY array_position(@job_ids, o.job_id);

-- name: QueueSet
WITH log AS (
  INSERT INTO audit_log (actor, action, subject, detail)
  VALUES (@by::text, 'queue_set', 'queue:' || @name::text, jsonb_build_object(
    'ordering', @ordering::text, 'max_wait', @max_wait::interval, 'spacing', @spacing::interval, 'redeliver', @redeliver::interval,
    'max_tries', @max_tries::integer, 'group_limit', @group_limit::integer, 'max_backlog', @max_backlog::integer)))
INSERT INTO queues (name, ordering, max_wait, spacing, redeliver, max_tries, group_limit, max_backlog)
VALUES (@name, @ordering, @max_wait, @spacing, @redeliver, @max_tries, @group_limit, @max_backlog)
ON CONFLICT (name) DO UPDATE SET ordering = excluded.ordering, max_wait = excluded.max_wait, spacing = excluded.spacing,
  redeliver = excluded.redeliver, max_tries = excluded.max_tries, group_limit = excluded.group_limit, max_backlog = excluded.max_backlog
RETURNING name;

-- name: QueuePause
WITH old AS MATERIALIZED (SELECT name, paused FROM queues WHERE name = @name::text FOR UPDATE),
log AS (
  INSERT INTO audit_log (actor, action, subject)
  SELECT @by::text, CASE WHEN @paused::boolean THEN 'pause' ELSE 'resume' END, 'queue:' || name FROM old WHERE paused <> @paused)
UPDATE queues q SET paused = @paused FROM old WHERE q.name = old.name RETURNING q.name;
