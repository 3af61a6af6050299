-- What a statement does to many jobs at once is one row, not one for each.
--
-- Events of jobs that are handed in, claimed or finished together are one row of
-- event_batches; all others are rows of single_events. Both take their ids from
-- one sequence, after the jobs were locked, so that the events of a job stand in
-- order; the jobs of a batch share an id.

ALTER TABLE events RENAME TO single_events;

CREATE TABLE event_batches (
  xid         xid8 NOT NULL DEFAULT pg_current_xact_id(),
  id          bigint NOT NULL DEFAULT nextval('events_id_seq'),
  kind        text NOT NULL CONSTRAINT event_batches_kind CHECK (kind IN ('submitted', 'claimed', 'finished')),
  at          timestamptz NOT NULL DEFAULT now(),        -- as the jobs and results note it: a job's batches are found by it
  job_ids     bigint[] NOT NULL,
  generations integer[] NOT NULL,
  attempts    integer[] NOT NULL,
  data        jsonb,                                     -- of every job in it
  verdicts    text[],                                    -- of finished jobs
  scores      double precision[],
  PRIMARY KEY (xid, id)                                  -- as feeds read
);
CREATE INDEX event_batches_at ON event_batches (at);

-- The data of a finished job's event.
CREATE FUNCTION event_verdict(verdict text, score double precision) RETURNS jsonb LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN verdict IS NULL THEN NULL WHEN score IS NULL THEN jsonb_build_object('verdict', verdict)
    ELSE jsonb_build_object('verdict', verdict, 'score', score) END
$$;

CREATE VIEW events AS
SELECT id, xid, job_id, generation, attempt, kind, data, at FROM single_events
UNION ALL
SELECT b.id, b.xid, u.job_id, u.generation, u.attempt, b.kind, coalesce(b.data, event_verdict(u.verdict, u.score)), b.at
FROM event_batches b CROSS JOIN LATERAL unnest(b.job_ids, b.generations, b.attempts, b.verdicts, b.scores) AS u(job_id, generation, attempt, verdict, score);

-- The events of one job, without looking at those of others.
CREATE FUNCTION events_of(job bigint)
RETURNS TABLE (id bigint, xid xid8, job_id bigint, generation integer, attempt integer, kind text, data jsonb, at timestamptz)
LANGUAGE sql STABLE ROWS 10 AS $$
  SELECT e.id, e.xid, e.job_id, e.generation, e.attempt, e.kind, e.data, e.at FROM single_events e WHERE e.job_id = job
  UNION ALL
  SELECT b.id, b.xid, job, b.generations[p.i], b.attempts[p.i], b.kind, coalesce(b.data, event_verdict(b.verdicts[p.i], b.scores[p.i])), b.at
  FROM event_batches b CROSS JOIN LATERAL (SELECT array_position(b.job_ids, job) AS i) p
  WHERE p.i IS NOT NULL AND b.at = ANY (ARRAY(
    SELECT j.created_at FROM jobs j WHERE j.job_id = job
    UNION SELECT j.started_at FROM jobs j WHERE j.job_id = job
    UNION SELECT a.started_at FROM attempts a WHERE a.job_id = job
    UNION SELECT r.started_at FROM results r WHERE r.job_id = job
    UNION SELECT r.created_at FROM results r WHERE r.job_id = job))
$$;

ALTER TABLE webhook_deliveries DROP CONSTRAINT webhook_deliveries_once, ADD CONSTRAINT webhook_deliveries_once UNIQUE (webhook_id, event_id, job_id);

-- Nobody lists what nobody in particular handed in.
DROP INDEX submissions_author;
CREATE INDEX submissions_author ON job_payloads (author, job_id) WHERE problem IS NOT NULL AND author <> '';

-- A job has three versions on its way: with room for them on its page, they need
-- no new index entries.
ALTER TABLE jobs SET (fillfactor = 40);
