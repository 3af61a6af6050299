-- Statements that pgx runs as they stand; sqlc does not read this file.

-- name: JobClaim
-- INV-3: no claim, no work.
WITH claimed AS (
  UPDATE jobs SET status = 'running', attempt_id = attempt_id + 1, started_at = now(),
    lease_owner = @owner::text, lease_token = @token::uuid, lease_until = now() + @lease::interval
  WHERE job_id = ANY (@job_ids::bigint[]) AND status = 'pending' AND not_before <= now()
  RETURNING job_id, generation, attempt_id, kind, queue, group_key, trace_id, tries, max_tries, created_at),
outbox AS (
  UPDATE outbox_events SET state = 'L', attempt_id = attempt_id + 1, lock_owner = @owner, lock_until = now() + @lease
  WHERE job_id = ANY (ARRAY(SELECT job_id FROM claimed))),
@JobClaimed
ORDER BY job_id;

-- name: JobTake
-- Chooses and claims in one, for a worker that takes its jobs straight from here:
-- they are never delivered. Elsewhere jobs are locked before their queue rows, so
-- a job that somebody holds is not waited for but left where it is.
WITH @OutboxChosen,
@JobTaken,
lost AS (
  UPDATE outbox_events o SET rank_at = (SELECT s.late FROM swap s WHERE s.loser = o.job_id)
  WHERE o.job_id = ANY (ARRAY(SELECT s.loser FROM swap s JOIN held h ON h.job_id = s.winner))),
outbox AS (
  UPDATE outbox_events o SET state = 'L', attempt_id = attempt_id + 1, lock_owner = @owner, lock_until = now() + @lease,
    rank_at = coalesce((SELECT s.early FROM swap s WHERE s.winner = o.job_id), o.rank_at), deliveries = o.deliveries + 1, dispatched_at = now()
  WHERE o.job_id = ANY (ARRAY(SELECT job_id FROM claimed))),
@JobClaimed
ORDER BY job_id;

-- name: JobTakePlain
-- JobTake of a queue where no group is looked at. A row of job 0 says that this
-- queue is not one.
WITH @OutboxChosenPlain,
@JobTaken,
outbox AS (
  UPDATE outbox_events SET state = 'L', attempt_id = attempt_id + 1, lock_owner = @owner, lock_until = now() + @lease,
    deliveries = deliveries + 1, dispatched_at = now()
  WHERE job_id = ANY (ARRAY(SELECT job_id FROM claimed))),
@JobClaimed
UNION ALL
SELECT 0, 0, 0, '', '', '', '', 0, 0, now(), NULL, '' WHERE NOT EXISTS (SELECT 1 FROM q)
ORDER BY job_id;

-- name: JobTaken :part
-- Claims what is chosen.
held AS MATERIALIZED (
  SELECT job_id FROM jobs
  WHERE job_id = ANY (ARRAY(SELECT job_id FROM chosen)) AND status = 'pending' AND not_before <= now() FOR UPDATE SKIP LOCKED),
claimed AS (
  UPDATE jobs SET status = 'running', attempt_id = attempt_id + 1, started_at = now(),
    lease_owner = @owner::text, lease_token = @token::uuid, lease_until = now() + @lease::interval
  WHERE job_id = ANY (ARRAY(SELECT job_id FROM held))
  RETURNING job_id, generation, attempt_id, kind, queue, group_key, trace_id, tries, max_tries, created_at)

-- name: JobClaimed :part
-- The event of a claim, and its answer: with the live version of the problem, or that of the round. An event takes its id after the jobs were
-- locked, and the time that they note: see the migration event_batches.
event AS (
  INSERT INTO event_batches (kind, job_ids, generations, attempts, data)
  SELECT 'claimed', array_agg(job_id), array_agg(generation), array_agg(attempt_id), jsonb_build_object('worker', @owner::text)
  FROM claimed HAVING count(*) > 0)
SELECT c.job_id, c.generation, c.attempt_id, c.kind, c.queue, c.group_key, c.trace_id, c.tries, c.max_tries, c.created_at,
  p.payload, coalesce(
    CASE WHEN p.round_id IS NOT NULL THEN (SELECT nullif(r.version, '') FROM round_problems r WHERE r.round_id = p.round_id AND r.problem = p.problem) END,
    (SELECT v.version FROM problems v WHERE v.slug = p.problem), '')
FROM claimed c LEFT JOIN LATERAL (SELECT payload, problem, round_id FROM job_payloads WHERE job_payloads.job_id = c.job_id OFFSET 0) p ON true

-- name: JobsHeld
-- What an owner holds by a token.
SELECT j.job_id, j.generation, j.attempt_id, j.lease_owner, j.lease_token::text FROM jobs j
WHERE j.job_id = ANY (ARRAY(SELECT o.job_id FROM outbox_events o WHERE o.state = 'L' AND o.lock_owner = @owner::text))
  AND j.status = 'running' AND j.lease_owner = @owner AND j.lease_token = @token::uuid
ORDER BY j.job_id;

-- name: JobHeartbeat
-- An expired lease that nobody reclaimed may be renewed: its attempt is still
-- the newest. Attempts are of different jobs and sorted by them, so that a search
-- by halves finds each; a join could read all of jobs for each (see outbox.sql).
-- What many have in common, as a claim's owner and token, is given once and named
-- by number: PostgreSQL counts its way to an element of an array of text.
UPDATE jobs SET lease_until = now() + @lease::interval
WHERE job_id = ANY (@job_ids::bigint[]) AND attempt_id = (@attempt_ids::integer[])[width_bucket(job_id, @job_ids)]
  AND lease_owner = (@owners::text[])[(@claims::integer[])[width_bucket(job_id, @job_ids)]]
  AND lease_token = (@tokens::uuid[])[(@claims)[width_bucket(job_id, @job_ids)]]
  AND status = 'running'
RETURNING job_id;

-- name: JobRenewExpired
-- Runs in the transaction of JobFinalize, right before it.
UPDATE jobs SET lease_until = now() + interval '10 s'
WHERE job_id = ANY (@job_ids::bigint[]) AND attempt_id = (@attempt_ids::integer[])[width_bucket(job_id, @job_ids)]
  AND lease_owner = (@owners::text[])[(@claims::integer[])[width_bucket(job_id, @job_ids)]]
  AND lease_token = (@tokens::uuid[])[(@claims)[width_bucket(job_id, @job_ids)]]
  AND status = 'running' AND lease_until <= now();

-- name: JobFinalize
-- Completes jobs only for the attempts that still hold the lease (INV-5), with
-- result, live generation, event and the end of the queue row. The judging of a
-- rejudge set is shown when the set is applied. The attempts are sorted as those
-- of JobHeartbeat.
WITH finished AS (
  UPDATE jobs SET status = 'finished', finished_at = now(), last_error = NULL, lease_owner = NULL, lease_token = NULL, lease_until = NULL,
    live_generation = CASE WHEN rejudge_set IS NULL THEN generation ELSE live_generation END,
    verdict = CASE WHEN rejudge_set IS NULL THEN (@verdicts::text[])[(@outcomes::integer[])[width_bucket(job_id, @job_ids::bigint[])]] ELSE verdict END,
    score = CASE WHEN rejudge_set IS NULL THEN (@scores::double precision[])[(@outcomes)[width_bucket(job_id, @job_ids)]] ELSE score END
  WHERE job_id = ANY (@job_ids::bigint[]) AND attempt_id = (@attempt_ids::integer[])[width_bucket(job_id, @job_ids)]
    AND lease_owner = (@owners::text[])[(@claims::integer[])[width_bucket(job_id, @job_ids)]]
    AND lease_token = (@tokens::uuid[])[(@claims)[width_bucket(job_id, @job_ids)]]
    AND lease_until > now() AND status = 'running' AND state = 'processing'
  RETURNING job_id, generation, attempt_id, started_at, width_bucket(job_id, @job_ids) AS i),
result AS (
  INSERT INTO results (job_id, generation, attempt_id, verdict, score, result, worker, token, started_at)
  SELECT job_id, generation, attempt_id, (@verdicts)[(@outcomes)[i]], (@scores)[(@outcomes)[i]], 
    convert_from(substring(@results::bytea FROM coalesce((@ends::integer[])[i - 1], 0) + 1 FOR (@ends)[i] - coalesce((@ends)[i - 1], 0)), 'UTF8')::json, (@owners)[(@claims)[i]], (@tokens)[(@claims)[i]], started_at
  FROM finished),
outbox AS (DELETE FROM outbox_events WHERE job_id = ANY (ARRAY(SELECT job_id FROM finished))),
event AS (
  INSERT INTO event_batches (kind, job_ids, generations, attempts, verdicts, scores)
  SELECT 'finished', array_agg(job_id), array_agg(generation), array_agg(attempt_id), array_agg((@verdicts)[(@outcomes)[i]]), array_agg((@scores)[(@outcomes)[i]])
  FROM finished HAVING count(*) > 0)
SELECT job_id, attempt_id FROM finished;

-- name: JobEvents
SELECT id, job_id, generation, attempt, kind, data, at FROM events_of(@job_id::bigint)
WHERE id > @after::bigint ORDER BY id LIMIT @max::integer;

-- name: JobEventsSeen
-- Those that everybody may see.
SELECT id, job_id, generation, attempt, kind, data, at FROM events_seen(@job_id::bigint)
WHERE id > @after::bigint ORDER BY id LIMIT @max::integer;

-- name: JobEventsVeiled
-- Those of a submission of which a round hides something: of single tests none, or the samples. They are numbered as if there were
-- no others: gaps would tell how many tests were run. Whoever goes on behind a number that there is not had those of all, and
-- begins again.
WITH told AS (
  SELECT e.*, row_number() OVER (ORDER BY e.id) AS number FROM events_seen(@job_id::bigint) e
  WHERE e.kind <> 'test' OR @samples::boolean AND coalesce((e.data -> 'test' ->> 'sample')::boolean, false))
SELECT number, job_id, generation, attempt, kind, data, at FROM told
WHERE number > CASE WHEN @after::bigint > (SELECT count(*) FROM told) THEN 0 ELSE @after END ORDER BY number LIMIT @max::integer;

-- name: JobExplain
-- Why a fenced write changed nothing; the decision is taken in Go.
SELECT g.job_id, j.job_id IS NOT NULL AS found, coalesce(j.generation, 0), coalesce(j.attempt_id, 0), coalesce(j.status, ''), coalesce(j.state, ''),
  coalesce(j.lease_owner, ''), coalesce(to_char(j.lease_until AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), ''),
  coalesce(j.lease_owner = g.owner AND j.lease_token = g.token, false) AS holds,
  EXISTS (SELECT 1 FROM results r WHERE r.job_id = g.job_id AND r.attempt_id = g.attempt_id AND r.token = g.token) AS wrote
FROM (SELECT job_id, attempt_id, (@owners::text[])[claim] AS owner, (@tokens::uuid[])[claim] AS token
  FROM unnest(@job_ids::bigint[], @attempt_ids::integer[], @claims::integer[]) AS a(job_id, attempt_id, claim)) g
LEFT JOIN LATERAL (SELECT * FROM jobs WHERE jobs.job_id = g.job_id OFFSET 0) j ON true;

-- name: JobProgress
-- The job is locked: no event of an attempt comes behind the one that ends it, however long this statement is on its way.
WITH held AS MATERIALIZED (
  SELECT j.job_id, j.generation, j.attempt_id FROM jobs j
  WHERE j.job_id = @job_id::bigint AND j.attempt_id = @attempt_id::integer
    AND j.lease_owner = @owner::text AND j.lease_token = @token::uuid AND j.status = 'running' FOR NO KEY UPDATE)
INSERT INTO single_events (job_id, generation, attempt, kind, data)
SELECT h.job_id, h.generation, h.attempt_id, p.kind, p.data
FROM held h, unnest(@kinds::text[], @data::jsonb[]) WITH ORDINALITY AS p(kind, data, n)
ORDER BY p.n;

-- name: JobProgressLast
-- JobProgress of several attempts, whose events are numbered by them, in the transaction of JobFinalize and on its terms.
INSERT INTO single_events (job_id, generation, attempt, kind, data)
SELECT j.job_id, j.generation, j.attempt_id, p.kind, p.data
FROM unnest(@whose::integer[], @kinds::text[], @data::jsonb[]) WITH ORDINALITY AS p(whose, kind, data, n)
JOIN jobs j ON j.job_id = (@job_ids::bigint[])[p.whose] AND j.attempt_id = (@attempt_ids::integer[])[p.whose]
  AND j.lease_owner = (@owners::text[])[(@claims::integer[])[p.whose]] AND j.lease_token = (@tokens::uuid[])[(@claims)[p.whose]]
  AND j.lease_until > now() AND j.status = 'running' AND j.state = 'processing'
ORDER BY p.n;

-- name: JobFail
-- A failure of ours (counts), a drain (not counted) or a job that cannot succeed
-- in any try (buried). What is given back goes first, but for what comes after all
-- submissions anyway, of which many may come back.
WITH held AS MATERIALIZED (
  SELECT job_id, lease_owner FROM jobs
  WHERE job_id = @job_id::bigint AND attempt_id = @attempt_id::integer AND lease_owner = @owner::text AND lease_token = @token::uuid
    AND status = 'running' FOR UPDATE),
failed AS (
  UPDATE jobs j SET
    status = CASE WHEN @buried::boolean OR @counts::boolean AND j.tries + 1 >= j.max_tries THEN 'dead' ELSE 'pending' END,
    finished_at = CASE WHEN @buried OR @counts AND j.tries + 1 >= j.max_tries THEN now() END,
    tries = least(j.tries + @counts::integer, j.max_tries), last_error = @error::jsonb ->> 'message',
    lease_owner = NULL, lease_token = NULL, lease_until = NULL,
    not_before = CASE WHEN @counts THEN now() + least(interval '5 min', interval '1 s' * power(2, least(j.tries, 10))) * (0.5 + random() / 2) ELSE now() END
  FROM held WHERE j.job_id = held.job_id
  RETURNING j.job_id, j.generation, j.attempt_id, j.tries, j.status, j.started_at, j.not_before),
attempt AS (
  INSERT INTO attempts (job_id, attempt_id, generation, worker, started_at, outcome, error)
  SELECT job_id, attempt_id, generation, @owner, started_at,
    CASE WHEN @buried THEN 'buried' WHEN @counts THEN 'failed' ELSE 'released' END, @error FROM failed),
outbox AS (
  UPDATE outbox_events o SET lane = CASE WHEN @counts OR o.lane <= 2 THEN least(o.lane, 1) ELSE o.lane END, state = CASE WHEN @counts THEN 'S' ELSE 'R' END, not_before = (SELECT not_before FROM failed),
    lock_owner = NULL, lock_until = NULL, stream_entry_id = NULL, last_error = @error ->> 'message'
  WHERE o.job_id = (SELECT job_id FROM failed WHERE status = 'pending')),
ended AS (DELETE FROM outbox_events WHERE job_id = (SELECT job_id FROM failed WHERE status = 'dead')),
letter AS (
  INSERT INTO dead_letters (job_id, generation, attempt_id, tries, reason, error)
  SELECT job_id, generation, attempt_id, tries, CASE WHEN @buried THEN @error ->> 'code' ELSE 'max_tries' END, @error FROM failed WHERE status = 'dead'),
event AS (
  INSERT INTO single_events (job_id, generation, attempt, kind, data)
  SELECT job_id, generation, attempt_id, CASE WHEN status = 'dead' THEN 'dead' WHEN @counts THEN 'retry' ELSE 'released' END,
    jsonb_build_object('error', @error ->> 'message', 'tries', tries) FROM failed)
SELECT status FROM failed;

-- name: JobReap
-- The database, not the stream, drives recovery. Heartbeats touch jobs only, so
-- the hint of the queue row is refreshed here. A lost worker counts as a try, and a
-- job that so many workers were lost with is dead: it may be what ends them.
WITH hint AS MATERIALIZED (
  SELECT job_id FROM outbox_events WHERE state = 'L' AND lock_until < now() - @grace::interval
  ORDER BY lock_until LIMIT @max::integer FOR UPDATE SKIP LOCKED),
held AS MATERIALIZED (
  SELECT j.job_id, j.lease_owner, j.lease_until, j.started_at, j.lease_until < now() - @grace AS expired,
    j.tries + 1 >= j.max_tries OR 1 + (SELECT count(*) FROM attempts a
      WHERE a.job_id = j.job_id AND a.generation = j.generation AND a.outcome = 'lost') >= @losses::integer AS hopeless
  FROM jobs j WHERE j.job_id IN (SELECT job_id FROM hint) AND j.status = 'running' ORDER BY j.job_id FOR UPDATE SKIP LOCKED),
refreshed AS (
  UPDATE outbox_events o SET lock_until = (SELECT h.lease_until FROM held h WHERE h.job_id = o.job_id)
  WHERE o.job_id = ANY (ARRAY(SELECT job_id FROM held WHERE NOT expired))),
lost AS (
  UPDATE jobs j SET status = CASE WHEN h.hopeless THEN 'dead' ELSE 'pending' END,
    finished_at = CASE WHEN h.hopeless THEN now() END,
    tries = j.tries + 1, last_error = 'worker lost', lease_owner = NULL, lease_token = NULL, lease_until = NULL, not_before = now()
  FROM held h WHERE j.job_id = h.job_id AND h.expired
  RETURNING j.job_id, j.generation, j.attempt_id, j.tries, j.status, h.lease_owner, h.started_at),
attempt AS (
  INSERT INTO attempts (job_id, attempt_id, generation, worker, started_at, outcome, error)
  SELECT job_id, attempt_id, generation, lease_owner, started_at, 'lost',
    jsonb_build_object('code', 'worker_lost', 'message', 'worker lost', 'component', 'reaper') FROM lost),
outbox AS (
  UPDATE outbox_events o SET state = 'R', lane = least(o.lane, 1), not_before = now(), lock_owner = NULL, lock_until = NULL,
    stream_entry_id = NULL, last_error = 'worker lost'
  WHERE o.job_id = ANY (ARRAY(SELECT job_id FROM lost WHERE status = 'pending'))),
ended AS (DELETE FROM outbox_events WHERE job_id = ANY (ARRAY(SELECT job_id FROM lost WHERE status = 'dead'))),
letter AS (
  INSERT INTO dead_letters (job_id, generation, attempt_id, tries, reason, error)
  SELECT job_id, generation, attempt_id, tries, 'worker_lost',
    jsonb_build_object('code', 'worker_lost', 'message', 'worker lost', 'component', 'reaper') FROM lost WHERE status = 'dead'),
event AS (
  INSERT INTO single_events (job_id, generation, attempt, kind, data)
  SELECT job_id, generation, attempt_id, CASE status WHEN 'dead' THEN 'dead' ELSE 'worker_lost' END,
    jsonb_build_object('worker', lease_owner, 'tries', tries) FROM lost)
SELECT job_id, attempt_id, lease_owner, status FROM lost ORDER BY job_id;

-- name: JobMalformed
-- An entry that names this job was malformed. The entry proves nothing, so the
-- job is only delivered again, after a backoff.
WITH moved AS (
  UPDATE outbox_events o SET state = 'S', lock_owner = NULL, lock_until = NULL, stream_entry_id = NULL, last_error = @reason::text,
    not_before = now() + least(interval '5 min', interval '1 s' * power(2, least(10, (
      SELECT count(*) FROM single_events e WHERE e.job_id = o.job_id AND e.generation = o.generation AND e.kind = 'publish_failed')))) * (0.5 + random() / 2)
  WHERE o.job_id = @job_id::bigint AND o.state = 'D' RETURNING o.job_id, o.generation, o.attempt_id),
event AS (
  INSERT INTO single_events (job_id, generation, attempt, kind, data)
  SELECT job_id, generation, attempt_id, 'publish_failed', jsonb_build_object('error', @reason::text) FROM moved)
SELECT job_id FROM moved;
