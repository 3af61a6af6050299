-- Statements that pgx runs as they stand; sqlc does not read this file.

-- name: SubmissionSubmit
-- Stores n jobs with payload, submission, queue row and event: one statement,
-- one transaction, one flush. If one row is refused, none is stored. Payloads come
-- as one string, in which each ends at its place: they need not be carried along.
WITH q AS MATERIALIZED (SELECT * FROM queues WHERE name = @queue::text),
given AS MATERIALIZED (
  SELECT nextval('jobs_job_id_seq') AS job_id, t.*
  FROM unnest(@kinds::text[], @pools::text[], @groups::text[], @languages::text[], @problems::text[], @authors::text[],
              @idempotency_keys::text[], @job_keys::text[], @spec_hashes::bytea[], @trace_ids::text[],
              @lanes::smallint[], @priorities::integer[], @code_bytes::integer[], @delays::interval[])
       WITH ORDINALITY AS t(kind, pool, group_key, language, problem, author,
              idempotency_key, job_key, spec_hash, trace_id, lane, priority, code_bytes, delay, n)),
checked AS MATERIALIZED (
  SELECT g.n, g.job_id, g.kind, g.pool, g.group_key, g.language, g.idempotency_key, g.job_key, g.spec_hash, g.trace_id, g.lane, g.priority, g.delay,
    NULL::interval AS patience, NULL::timestamptz AS moment,
    CASE WHEN NOT EXISTS (SELECT 1 FROM q) THEN 'unknown_queue'
         WHEN g.problem <> '' AND NOT EXISTS (SELECT 1 FROM problems p WHERE p.slug = g.problem) THEN 'unknown_problem' END AS refusal,
    @SubmitKnown
  FROM given g),
@SubmitChosen,
@SubmitQueued,
payload AS (
  INSERT INTO job_payloads (job_id, payload, problem, author, code_bytes)
  SELECT g.job_id,
    substring(@payloads::bytea FROM coalesce((@ends::integer[])[g.n::integer - 1], 0) + 1 FOR (@ends)[g.n::integer] - coalesce((@ends)[g.n::integer - 1], 0)),
    CASE WHEN g.kind IN ('submission', 'run') THEN g.problem END, g.author, g.code_bytes
  FROM given g, made WHERE made.ids[width_bucket(g.job_id, made.ids)] = g.job_id),
@SubmitAnswered

-- name: SubmissionSubmitSpace
-- SubmissionSubmit where some are handed in to spaces, which refuse what comes too
-- early, too late, too fast or while too many wait. Others do not pay for that.
WITH q AS MATERIALIZED (SELECT * FROM queues WHERE name = @queue::text),
given AS MATERIALIZED (
  SELECT nextval('jobs_job_id_seq') AS job_id, t.*
  FROM unnest(@kinds::text[], @pools::text[], @groups::text[], @languages::text[], @problems::text[], @authors::text[],
              @idempotency_keys::text[], @job_keys::text[], @spec_hashes::bytea[], @trace_ids::text[],
              @lanes::smallint[], @priorities::integer[], @code_bytes::integer[], @delays::interval[],
              @space_ids::bigint[], @unofficials::boolean[])
       WITH ORDINALITY AS t(kind, pool, group_key, language, problem, author,
              idempotency_key, job_key, spec_hash, trace_id, lane, priority, code_bytes, delay, space_id, unofficial, n)),
checked AS MATERIALIZED (
  SELECT g.n, g.job_id, g.kind, g.pool, g.group_key, g.language, g.idempotency_key, g.job_key, g.spec_hash, g.trace_id, g.lane, g.priority, g.delay, g.author, g.space_id, g.unofficial,
    l.patience, NULL::timestamptz AS moment,
    CASE WHEN NOT EXISTS (SELECT 1 FROM q) THEN 'unknown_queue'
         WHEN g.problem <> '' AND NOT EXISTS (SELECT 1 FROM problems p WHERE p.slug = g.problem) THEN 'unknown_problem'
         WHEN g.space_id IS NULL OR g.unofficial THEN NULL
         WHEN l.per_minute IS NULL THEN 'not_member'
         WHEN l.early THEN 'not_open'
         WHEN l.late THEN 'closed'
         WHEN l.per_minute > 0 AND l.lately > l.per_minute THEN 'too_fast'
         WHEN l.max_waiting > 0 AND l.waiting > l.max_waiting THEN 'too_many_waiting' END AS refusal,
    @SubmitKnown
  FROM (SELECT given.*, row_number() OVER (PARTITION BY space_id, author ORDER BY n) AS nth FROM given ORDER BY space_id, author, n) g
  -- How a member of a space stands, with what this statement brings. The lock shows
  -- what was counted since the statement began, which the other tables do not; it is
  -- taken in order.
  LEFT JOIN LATERAL (
    SELECT s.per_minute, s.max_waiting, s.opens_at > now() AS early, s.closes_at <= now() AS late,
      CASE WHEN s.per_minute > 0 THEN g.nth + c.unseen + (
        SELECT count(*) FROM (SELECT b.job_id FROM job_payloads b WHERE b.space_id = g.space_id AND b.author = g.author
          ORDER BY b.job_id DESC LIMIT s.per_minute) b
        WHERE (SELECT j.created_at FROM jobs j WHERE j.job_id = b.job_id) > now() - interval '1 minute') END AS lately,
      CASE WHEN s.per_minute > 0 THEN (
        SELECT (SELECT j.created_at FROM jobs j WHERE j.job_id = b.job_id) + interval '1 minute' - now()
        FROM job_payloads b WHERE b.space_id = g.space_id AND b.author = g.author
        ORDER BY b.job_id DESC OFFSET s.per_minute - 1 LIMIT 1) END AS patience,
      CASE WHEN s.max_waiting > 0 THEN g.nth + c.unseen + (
        SELECT count(*) FROM outbox_events o WHERE o.generation = 1 AND o.job_id = ANY (ARRAY(
          SELECT b.job_id FROM job_payloads b WHERE b.space_id = g.space_id AND b.author = g.author ORDER BY b.job_id DESC LIMIT 100))) END AS waiting
    FROM spaces s, LATERAL (
      SELECT greatest(held.submits - m.submits, 0) AS unseen
      FROM (SELECT h.submits FROM space_members h WHERE h.space_id = g.space_id AND h.user_name = g.author FOR UPDATE) held,
        space_members m WHERE m.space_id = g.space_id AND m.user_name = g.author) c
    WHERE s.id = g.space_id) l ON g.space_id IS NOT NULL AND NOT g.unofficial),
@SubmitChosen,
@SubmitQueued,
payload AS (
  INSERT INTO job_payloads (job_id, payload, problem, author, code_bytes, space_id, unofficial)
  SELECT g.job_id,
    substring(@payloads::bytea FROM coalesce((@ends::integer[])[g.n::integer - 1], 0) + 1 FOR (@ends)[g.n::integer] - coalesce((@ends)[g.n::integer - 1], 0)),
    CASE WHEN g.kind IN ('submission', 'run') THEN g.problem END, g.author, g.code_bytes, g.space_id, g.unofficial
  FROM given g, made WHERE made.ids[width_bucket(g.job_id, made.ids)] = g.job_id),
counted AS (
  UPDATE space_members m SET submits = m.submits + s.fresh
  FROM (SELECT space_id, author, count(*) AS fresh FROM wanted WHERE space_id IS NOT NULL AND NOT unofficial GROUP BY space_id, author) s
  WHERE m.space_id = s.space_id AND m.user_name = s.author),
@SubmitAnswered

-- name: SubmissionSubmitRound
-- SubmissionSubmit where some are handed in to rounds, which refuse what comes too early, too late, of nobody who takes
-- part, for another problem, too fast, too often or while too many wait. A team has its limits, and its turn, together. What staff
-- hand in for somebody has a moment of its own, and is bound by no limit.
WITH q AS MATERIALIZED (SELECT * FROM queues WHERE name = @queue::text),
given AS MATERIALIZED (
  SELECT nextval('jobs_job_id_seq') AS job_id, t.*
  FROM unnest(@kinds::text[], @pools::text[], @groups::text[], @languages::text[], @problems::text[], @authors::text[],
              @idempotency_keys::text[], @job_keys::text[], @spec_hashes::bytea[], @trace_ids::text[],
              @lanes::smallint[], @priorities::integer[], @code_bytes::integer[], @delays::interval[],
              @round_ids::bigint[], @participant_ids::bigint[], @unofficials::boolean[], @moments::timestamptz[], @numbers::bigint[],
              @intervals::interval[], @mosts::integer[])
       WITH ORDINALITY AS t(kind, pool, group_key, language, problem, author,
              idempotency_key, job_key, spec_hash, trace_id, lane, priority, code_bytes, delay, round_id, participant_id, unofficial, moment, number,
              apart, most, n)),
checked AS MATERIALIZED (
  SELECT g.n, g.job_id, g.kind, g.pool, g.group_key, g.language, g.idempotency_key, g.job_key, g.spec_hash, g.trace_id, g.lane, g.priority, g.delay, g.author, g.round_id, g.participant_id, g.unofficial,
    l.space_id, CASE WHEN l.soon > interval '0' THEN l.soon ELSE l.patience END AS patience, g.moment, g.number,
    CASE WHEN NOT EXISTS (SELECT 1 FROM q) THEN 'unknown_queue'
         WHEN g.problem <> '' AND NOT EXISTS (SELECT 1 FROM problems p WHERE p.slug = g.problem) THEN 'unknown_problem'
         WHEN g.round_id IS NULL THEN NULL
         WHEN l.space_id IS NULL OR l.problem IS NULL THEN 'other_problem'
         WHEN g.unofficial THEN NULL
         WHEN l.status IS NULL THEN 'no_participant'
         WHEN l.status <> 'active' THEN 'banned'
         WHEN l.early THEN 'not_open'
         WHEN l.late THEN 'closed'
         WHEN l.paused THEN 'paused'
         WHEN g.moment IS NULL AND l.tried > g.most THEN 'too_many'
         WHEN g.moment IS NULL AND l.soon > interval '0' THEN 'too_soon'
         WHEN g.moment IS NULL AND l.per_minute > 0 AND l.lately > l.per_minute THEN 'too_fast'
         WHEN g.moment IS NULL AND l.max_waiting > 0 AND l.waiting > l.max_waiting THEN 'too_many_waiting' END AS refusal,
    @SubmitKnown
  FROM (SELECT given.*, row_number() OVER (PARTITION BY round_id, participant_id ORDER BY n) AS nth,
    row_number() OVER (PARTITION BY round_id, participant_id, problem ORDER BY n) AS nth_here FROM given ORDER BY round_id, participant_id, n) g
  -- How a participant stands in a round, with what this statement brings. The lock shows what was counted since the
  -- statement began, which the other tables do not; it is taken in order.
  LEFT JOIN LATERAL (
    SELECT r.space_id, rp.problem, rp.paused_at IS NOT NULL AS paused, s.per_minute, s.max_waiting, c.status,
      coalesce(r.starts_at > coalesce(g.moment, now()), true) AS early,
      coalesce(NOT r.practice AND round_time(r.id, coalesce(g.moment, now())) >= r.duration_ms, false) AS late,
      CASE WHEN s.per_minute > 0 THEN g.nth + c.unseen + (
        SELECT count(*) FROM (SELECT b.job_id FROM job_payloads b WHERE b.participant_id = g.participant_id
          ORDER BY b.job_id DESC LIMIT s.per_minute) b
        WHERE (SELECT j.created_at FROM jobs j WHERE j.job_id = b.job_id) > now() - interval '1 minute') END AS lately,
      CASE WHEN s.per_minute > 0 THEN (
        SELECT (SELECT j.created_at FROM jobs j WHERE j.job_id = b.job_id) + interval '1 minute' - now()
        FROM job_payloads b WHERE b.participant_id = g.participant_id
        ORDER BY b.job_id DESC OFFSET s.per_minute - 1 LIMIT 1) END AS patience,
      CASE WHEN s.max_waiting > 0 THEN g.nth + c.unseen + (
        SELECT count(*) FROM outbox_events o WHERE o.generation = 1 AND o.job_id = ANY (ARRAY(
          SELECT b.job_id FROM job_payloads b WHERE b.participant_id = g.participant_id ORDER BY b.job_id DESC LIMIT 100))) END AS waiting,
      -- Of the problem, which a round may take so often, and so long after the last. Whoever hands in at the same moment
      -- counts, for whichever problem.
      CASE WHEN g.most > 0 THEN g.nth_here + c.unseen + (
        SELECT count(*) FROM job_payloads b WHERE b.participant_id = g.participant_id AND b.round_id = r.id AND b.problem = g.problem) END AS tried,
      CASE WHEN g.apart > interval '0' THEN CASE WHEN g.nth_here + c.unseen > 1 THEN g.apart ELSE (
        SELECT max(j.created_at) + g.apart - now() FROM job_payloads b JOIN jobs j ON j.job_id = b.job_id
        WHERE b.participant_id = g.participant_id AND b.round_id = r.id AND b.problem = g.problem) END END AS soon
    FROM rounds r JOIN spaces s ON s.id = r.space_id
    LEFT JOIN round_problems rp ON rp.round_id = r.id AND rp.problem = g.problem
    LEFT JOIN LATERAL (
      SELECT p.status, greatest(held.submits - p.submits, 0) AS unseen
      FROM (SELECT h.submits FROM participants h WHERE h.id = g.participant_id AND NOT g.unofficial FOR UPDATE) held, participants p
      WHERE p.id = g.participant_id AND EXISTS (SELECT 1 FROM round_entries e WHERE e.round_id = r.id AND e.participant_id = p.id)) c ON true
    WHERE r.id = g.round_id) l ON g.round_id IS NOT NULL),
@SubmitChosen,
@SubmitQueued,
payload AS (
  INSERT INTO job_payloads (job_id, payload, problem, author, code_bytes, space_id, unofficial, round_id, participant_id)
  SELECT g.job_id,
    substring(@payloads::bytea FROM coalesce((@ends::integer[])[g.n::integer - 1], 0) + 1 FOR (@ends)[g.n::integer] - coalesce((@ends)[g.n::integer - 1], 0)),
    CASE WHEN g.kind IN ('submission', 'run') THEN g.problem END, g.author, g.code_bytes, (SELECT r.space_id FROM rounds r WHERE r.id = g.round_id), g.unofficial,
    g.round_id, CASE WHEN NOT g.unofficial THEN g.participant_id END
  FROM given g, made WHERE made.ids[width_bucket(g.job_id, made.ids)] = g.job_id),
counted AS (
  UPDATE participants p SET submits = p.submits + s.fresh
  FROM (SELECT participant_id, count(*) AS fresh FROM wanted WHERE participant_id IS NOT NULL AND NOT unofficial GROUP BY participant_id) s
  WHERE p.id = s.participant_id),
numbered AS (INSERT INTO contest_submissions (round_id, number, job_id) SELECT round_id, number, job_id FROM wanted WHERE number IS NOT NULL),
behind AS (UPDATE contest_recorders c SET shown = greatest(c.shown, w.number)
  FROM (SELECT round_id, max(number) AS number FROM wanted WHERE number <= 1000000000 GROUP BY round_id) w WHERE c.round_id = w.round_id),
@SubmitAnswered

-- name: SubmitKnown :part
-- The job that is there already, if any. What carries no key is not looked for.
CASE WHEN g.idempotency_key IS NOT NULL THEN (
      SELECT j.job_id FROM jobs j
      WHERE j.queue = @queue AND j.group_key = g.group_key AND j.idempotency_key = g.idempotency_key AND j.idempotency_key IS NOT NULL) END AS same,
    CASE WHEN g.job_key IS NOT NULL THEN (
      SELECT o.job_id FROM outbox_events o WHERE o.queue = @queue AND o.job_key = g.job_key AND o.job_key IS NOT NULL) END AS keyed,
    CASE WHEN g.spec_hash IS NOT NULL THEN (
      SELECT o.job_id FROM outbox_events o WHERE o.queue = @queue AND o.spec_hash = g.spec_hash AND o.spec_hash IS NOT NULL) END AS specified

-- name: SubmitChosen :part
room AS MATERIALIZED (
  SELECT (SELECT max_backlog FROM q) = 0
      OR (SELECT max_backlog FROM q) >= (SELECT count(*) FROM checked WHERE coalesce(same, keyed, specified) IS NULL)
         + (SELECT count(*) FROM (SELECT 1 FROM outbox_events o WHERE o.queue = @queue AND o.state = 'R'
            AND (SELECT max_backlog FROM q) > 0 LIMIT (SELECT max_backlog FROM q)) ready)
         + (SELECT count(*) FROM outbox_events o WHERE o.queue = @queue AND o.state = 'S' AND (SELECT max_backlog FROM q) > 0) AS ok),
wanted AS NOT MATERIALIZED (
  SELECT c.* FROM checked c
  WHERE coalesce(same, keyed, specified) IS NULL AND (SELECT ok FROM room)
    AND NOT EXISTS (SELECT 1 FROM checked WHERE refusal IS NOT NULL AND coalesce(same, keyed, specified) IS NULL)),
clock AS (
  INSERT INTO groups (queue, key, next_at)
  SELECT @queue, w.group_key, now() + max(q.spacing) * count(*) FROM wanted w, q
  WHERE w.group_key <> '' AND w.lane >= 2 GROUP BY w.group_key ORDER BY w.group_key
  ON CONFLICT (queue, key) DO UPDATE SET next_at = greatest(groups.next_at, now()) + (excluded.next_at - now()) / groups.weight
  RETURNING key, next_at, weight),
-- Rows are matched through sorted arrays, which width_bucket searches by halves:
-- with hash joins off, joining two lists of n rows would compare n² pairs.
made AS MATERIALIZED (SELECT array_agg(job_id ORDER BY job_id) AS ids FROM wanted),
ordered AS (
  SELECT w.*, now() + w.delay AS not_before, row_number() OVER (PARTITION BY w.group_key, w.lane >= 2 ORDER BY w.n DESC) - 1 AS back
  FROM wanted w),
turn AS MATERIALIZED (
  SELECT array_agg(key ORDER BY key COLLATE "C") AS keys, array_agg(next_at ORDER BY key COLLATE "C") AS next_at,
    array_agg(weight ORDER BY key COLLATE "C") AS weights FROM clock),
placed AS (
  SELECT s.*, width_bucket(s.group_key COLLATE "C", (SELECT keys FROM turn)) AS i FROM ordered s OFFSET 0)

-- name: SubmitQueued :part
-- The queue rows, and the turns of their groups. PostgreSQL runs what nobody reads
-- from in reverse order: this stands first to be last, so that others wait for the
-- clocks of groups as shortly as can be.
outbox AS (
  INSERT INTO outbox_events (job_id, queue, pool, group_key, language, lane, priority, rank_at, state, generation, attempt_id, not_before,
    trace_id, job_key, spec_hash, lifo)
  SELECT s.job_id, @queue, s.pool, s.group_key, s.language, s.lane, s.priority,
    CASE WHEN s.lane < 2 THEN now()
         WHEN turn.keys[s.i] = s.group_key THEN turn.next_at[s.i] - q.spacing * s.back / turn.weights[s.i]
         ELSE now() + q.spacing END,
    CASE WHEN s.not_before > now() THEN 'S' ELSE 'R' END, 1, 0, s.not_before, s.trace_id, s.job_key, s.spec_hash,
    q.ordering = 'lifo'
  FROM placed s, turn, q)

-- name: SubmitAnswered :part
job AS (
  INSERT INTO jobs (job_id, kind, queue, pool, group_key, language, idempotency_key, job_key, spec_hash, trace_id, lane, priority, max_tries, not_before, created_at)
  SELECT w.job_id, w.kind, @queue, w.pool, w.group_key, w.language, w.idempotency_key, w.job_key, w.spec_hash, w.trace_id, w.lane, w.priority,
    q.max_tries, now() + w.delay, coalesce(w.moment, now())
  FROM wanted w, q),
event AS (
  INSERT INTO event_batches (kind, job_ids, generations, attempts)
  SELECT 'submitted', ids, array_fill(1, ARRAY[cardinality(ids)]), array_fill(0, ARRAY[cardinality(ids)]) FROM made WHERE ids IS NOT NULL)
SELECT c.n, coalesce(c.same, c.keyed, c.specified, c.job_id) AS job_id,
  CASE WHEN c.same IS NOT NULL THEN 'same'
       WHEN c.keyed IS NOT NULL THEN 'keyed'
       WHEN c.specified IS NOT NULL THEN 'specified'
       WHEN c.refusal IS NOT NULL THEN c.refusal
       WHEN NOT (SELECT ok FROM room) THEN 'queue_full'
       WHEN NOT EXISTS (SELECT 1 FROM wanted) THEN 'not_stored' -- because another was refused
       ELSE 'new' END AS outcome, c.patience
FROM checked c ORDER BY c.n;

-- name: SubmissionSame
-- What a job carries, and in which space and round: NULL once the payload has moved to the
-- blob store.
SELECT p.payload, p.space_id, p.round_id FROM job_payloads p WHERE p.job_id = @job_id::bigint;

-- name: SubmissionReplace
-- A job key was submitted again: a pending job takes the new payload and keeps
-- its place; a running one keeps it for afterwards.
WITH job AS MATERIALIZED (SELECT job_id, status FROM jobs WHERE job_id = @job_id::bigint AND status IN ('pending', 'running') FOR UPDATE),
payload AS (
  UPDATE job_payloads p
  SET payload = CASE job.status WHEN 'pending' THEN @payload::bytea ELSE p.payload END,
    payload_ref = CASE job.status WHEN 'pending' THEN NULL ELSE p.payload_ref END,
    next = CASE job.status WHEN 'running' THEN @payload END,
    code_bytes = CASE job.status WHEN 'pending' THEN @code_bytes::integer ELSE p.code_bytes END
  FROM job WHERE p.job_id = job.job_id RETURNING p.job_id)
SELECT job_id FROM payload;
