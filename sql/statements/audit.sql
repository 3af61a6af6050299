-- Statements that pgx runs as they stand; sqlc does not read this file.

-- name: Audit
-- One statement, hence one snapshot: every figure is zero at any moment.
WITH transition AS (
  SELECT DISTINCT ON (job_id) job_id, kind, generation, attempt FROM events
  WHERE event_moves(kind)
  ORDER BY job_id, id DESC)
SELECT
  (SELECT count(*) FROM jobs j FULL JOIN outbox_events o ON o.job_id = j.job_id
   WHERE NOT coalesce(CASE j.status WHEN 'pending' THEN o.state IN ('R', 'S', 'D') AND o.generation = j.generation AND o.attempt_id = j.attempt_id
                                    WHEN 'running' THEN o.state = 'L' AND o.generation = j.generation AND o.attempt_id = j.attempt_id
                                    ELSE o.job_id IS NULL END, false)) AS queue_row_mismatch,
  (SELECT count(*) FROM jobs j WHERE j.status = 'finished' AND NOT EXISTS (
     SELECT 1 FROM results r WHERE r.job_id = j.job_id AND r.generation = j.generation AND r.attempt_id = j.attempt_id)) AS finished_without_result,
  (SELECT count(*) FROM results r LEFT JOIN jobs j ON j.job_id = r.job_id
   WHERE j.job_id IS NULL OR r.generation > j.generation OR r.generation = j.generation AND j.status <> 'finished') AS result_without_finished,
  (SELECT count(*) FROM jobs j
   LEFT JOIN (SELECT job_id, count(*) AS n FROM attempts GROUP BY job_id) a ON a.job_id = j.job_id
   LEFT JOIN (SELECT job_id, count(*) AS n FROM results GROUP BY job_id) r ON r.job_id = j.job_id
   WHERE j.attempt_id <> coalesce(a.n, 0) + coalesce(r.n, 0) + (j.status = 'running')::integer) AS attempts_lost,
  (SELECT count(*) FROM jobs j LEFT JOIN transition t ON t.job_id = j.job_id
   WHERE NOT coalesce(t.generation = j.generation AND t.attempt = j.attempt_id AND CASE j.status
     WHEN 'pending' THEN t.kind IN ('submitted', 'retry', 'released', 'worker_lost', 'restored', 'rejudge')
     WHEN 'running' THEN t.kind = 'claimed' ELSE t.kind = j.status OR t.kind = 'imported' AND j.status = 'finished' END, false)) AS transition_without_event,
  (SELECT count(*) FROM jobs j LEFT JOIN results r ON r.job_id = j.job_id AND r.generation = j.live_generation
   WHERE j.live_generation IS NOT NULL AND (r.job_id IS NULL OR r.verdict <> j.verdict)) AS live_without_result,
  (SELECT count(*) FROM jobs j FULL JOIN (SELECT * FROM dead_letters WHERE resolution IS DISTINCT FROM 'replayed') d
     ON d.job_id = j.job_id AND d.generation = j.generation AND d.attempt_id = j.attempt_id
   WHERE (j.status = 'dead' AND d.job_id IS NULL) OR (d.job_id IS NOT NULL AND j.status IS DISTINCT FROM 'dead')) AS dead_without_letter,
  (SELECT count(*) FROM jobs WHERE tries > max_tries) AS tries_exceeded,
  (SELECT count(*) FROM jobs WHERE status = 'running' AND lease_until < now() - interval '2 min') AS stuck,
  (SELECT count(*) FROM contest_recorders c LEFT JOIN LATERAL (
     SELECT count(*) AS lines, coalesce(max(l.seq), 0) AS seq, count(l.public_seq) AS publics, coalesce(max(l.public_seq), 0) AS public_seq,
       count(l.teams_seq) AS teams, coalesce(max(l.teams_seq), 0) AS teams_seq FROM contest_log l WHERE l.round_id = c.round_id) l ON true
   WHERE (c.seq, c.seq, c.public_seq, c.public_seq, c.teams_seq, c.teams_seq) <> (l.seq, l.lines, l.public_seq, l.publics, l.teams_seq, l.teams)
     OR EXISTS (SELECT 1 FROM contest_log o WHERE o.round_id = c.round_id AND o.own_seq IS NOT NULL GROUP BY o.only_participant HAVING max(o.own_seq) <> count(*))) AS contest_log_gap,
  (SELECT count(*) FROM contest_objects o LEFT JOIN LATERAL (
     SELECT l.data FROM contest_log l WHERE l.round_id = o.round_id AND l.kind = o.kind AND l.object = o.object AND l.data IS NOT NULL
       ORDER BY l.seq DESC LIMIT 1) l ON true
   WHERE l.data IS NULL OR l.data::text <> o.data::text) AS contest_told_otherwise,
  (SELECT count(*) FROM contest_submissions s LEFT JOIN job_payloads p ON p.job_id = s.job_id
   WHERE p.job_id IS NULL OR p.round_id IS DISTINCT FROM s.round_id
     AND NOT (p.round_id IS NULL AND EXISTS (SELECT 1 FROM rounds r WHERE r.id = s.round_id AND r.follows AND r.space_id = p.space_id))) AS contest_number_of_nothing;

-- name: QueueStats
-- Whoever may not see the whole does not see what is judged for rejudge sets, nor
-- what they found.
SELECT
  (SELECT coalesce(jsonb_object_agg(lane, n), '{}') FROM (
     SELECT lane, count(*) AS n FROM outbox_events WHERE state IN ('R', 'S') AND (@whole::boolean OR NOT in_set) GROUP BY lane) l) AS lanes,
  (SELECT count(*) FROM outbox_events WHERE state IN ('R', 'S') AND (@whole OR NOT in_set)) AS pending,
  (SELECT count(*) FROM outbox_events WHERE state = 'D' AND (@whole OR NOT in_set)) AS delivered,
  (SELECT count(*) FROM outbox_events WHERE state = 'L' AND (@whole OR NOT in_set)) AS running,
  coalesce((SELECT now() - min(created_at) FROM outbox_events WHERE @whole OR NOT in_set), interval '0') AS oldest,
  (SELECT count(*) FROM dead_letters d WHERE resolution IS NULL AND (@whole OR event_seen('dead', d.job_id, d.generation))) AS dead_letters,
  (SELECT count(*) FROM results r WHERE created_at > now() - interval '1 min'
     AND (@whole OR r.generation = 1 OR event_seen('finished', r.job_id, r.generation))) AS judged;

-- name: QueueReady
-- How many are ready or delivered in all queues: no more can be before anyone.
SELECT (SELECT count(*) FROM outbox_events WHERE state = 'R' AND (@whole::boolean OR NOT in_set))
  + (SELECT count(*) FROM outbox_events WHERE state = 'D' AND (@whole OR NOT in_set));

-- name: Place
-- Counts at most 251 rows on each of three index ranges: whoever waits behind more
-- learns that there are more, for the price of being first. What was delivered counts
-- in the order in which it was, up to the job itself if it is among it. Whoever may not
-- see the whole does not see what is judged for rejudge sets.
SELECT o.job_id, o.state::text, q.paused, o.not_before > now() AS early,
  q.group_limit > 0 AND o.group_key <> '' AND q.group_limit <= (
    SELECT count(*) FROM outbox_events x WHERE x.queue = o.queue AND x.group_key = o.group_key AND x.state IN ('D', 'L') AND x.group_key <> '' AND (@whole::boolean OR NOT x.in_set)) AS limited,
  a.n + b.n + c.n AS ready_before, greatest(a.n, b.n, c.n) > 250 AS more,
  (SELECT count(*) FROM outbox_events x WHERE x.state = 'D' AND x.queue = o.queue AND x.pool = o.pool AND (@whole OR NOT x.in_set)
    AND (o.state <> 'D' OR (x.lock_until, x.lane, -x.priority, x.rank_at, x.job_id) <= (o.lock_until, o.lane, -o.priority, o.rank_at, o.job_id))) AS delivered,
  EXISTS (SELECT 1 FROM workers w WHERE w.pool = o.pool AND w.seen_at > now() - interval '30 s'
    AND (o.language = '' OR o.language = ANY (w.languages))) AS served,
  EXISTS (SELECT 1 FROM workers w WHERE w.pool = o.pool AND w.seen_at > now() - interval '30 s' AND (w.info ->> 'slots')::integer > 0
    AND (o.language = '' OR o.language = ANY (w.languages))) AS taken,
  coalesce((SELECT l.info ->> 'name' FROM languages l WHERE l.id = o.language), o.language) AS language,
  (SELECT coalesce(sum((w.info ->> 'slots')::integer), 0) FROM workers w WHERE w.pool = o.pool AND w.seen_at > now() - interval '30 s')::bigint AS slots,
  (SELECT count(*) FROM results r WHERE r.created_at > now() - interval '2 min'
    AND (@whole OR r.generation = 1 OR event_seen('finished', r.job_id, r.generation)))::bigint AS finished_lately
FROM outbox_events o JOIN queues q ON q.name = o.queue
CROSS JOIN LATERAL (SELECT count(*) AS n FROM (
  SELECT 1 FROM outbox_events x WHERE x.queue = o.queue AND x.pool = o.pool AND x.state = 'R' AND x.lane < o.lane AND (@whole OR NOT x.in_set) LIMIT 251) r) a
CROSS JOIN LATERAL (SELECT count(*) AS n FROM (
  SELECT 1 FROM outbox_events x WHERE x.queue = o.queue AND x.pool = o.pool AND x.state = 'R' AND x.lane = o.lane AND x.priority > o.priority AND (@whole OR NOT x.in_set) LIMIT 251) r) b
CROSS JOIN LATERAL (SELECT count(*) AS n FROM (
  SELECT 1 FROM outbox_events x WHERE x.queue = o.queue AND x.pool = o.pool AND x.state = 'R' AND x.lane = o.lane AND x.priority = o.priority
    AND (x.rank_at, x.job_id) < (o.rank_at, o.job_id) AND (@whole OR NOT x.in_set) LIMIT 251) r) c
WHERE o.job_id = ANY (@job_ids::bigint[]) AND o.state <> 'L' AND (@whole OR NOT o.in_set);
