-- What people see who are not staff: nothing of a rejudge set before it is
-- applied, no word of a checker that could give an answer away, and no partial
-- score called accepted.

-- A submission as everybody saw it when the set began. That is what they see until
-- a judging that is no set's, or the application of a set, takes its place.
ALTER TABLE rejudge_set_jobs
  ADD COLUMN applied         boolean NOT NULL DEFAULT false, -- the judging of this set was shown
  ADD COLUMN seen_status     text,
  ADD COLUMN seen_generation integer,
  ADD COLUMN seen_attempt    integer,
  ADD COLUMN seen_tries      integer,
  ADD COLUMN seen_started    timestamptz,
  ADD COLUMN seen_finished   timestamptz,
  ADD COLUMN seen_error      text; -- of one that was cancelled: by whom, and why

UPDATE rejudge_set_jobs m SET seen_status = 'finished', seen_generation = m.before, seen_attempt = r.attempt_id, seen_started = r.started_at,
  seen_finished = r.created_at, seen_tries = (
    SELECT count(*) FROM attempts a WHERE a.job_id = m.job_id AND a.generation = m.before AND a.outcome IN ('failed', 'lost'))
FROM results r WHERE r.job_id = m.job_id AND r.generation = m.before;
UPDATE rejudge_set_jobs m SET applied = true
FROM rejudge_sets s, jobs j WHERE s.id = m.set_id AND s.resolution = 'applied' AND j.job_id = m.job_id AND (j.live_generation = m.generation
  OR EXISTS (SELECT 1 FROM single_events e WHERE e.job_id = m.job_id AND e.generation = m.generation AND e.kind = 'applied'));

-- Judged for a rejudge set: in nobody's figures but those of staff.
ALTER TABLE outbox_events ADD COLUMN in_set boolean NOT NULL DEFAULT false;
UPDATE outbox_events o SET in_set = true FROM jobs j WHERE j.job_id = o.job_id AND j.rejudge_set IS NOT NULL;

-- Whether everybody may see an event, the one rule of pages, API, streams and
-- webhooks: of a judging for a rejudge set only that the set was applied.
CREATE FUNCTION event_seen(kind text, job bigint, judging integer) RETURNS boolean LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT judging = 1 OR kind = 'applied' OR NOT EXISTS (SELECT 1 FROM rejudge_set_jobs m WHERE m.job_id = job AND m.generation = judging)
$$;

-- The numbers of judgings and attempts as everybody sees them: without those of
-- sets that were never applied, so that a gap does not tell of them.
CREATE FUNCTION generation_seen(job bigint, judging integer) RETURNS integer LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT judging - count(*)::integer FROM rejudge_set_jobs m WHERE m.job_id = job AND NOT m.applied AND m.generation < judging
$$;
CREATE FUNCTION attempt_seen(job bigint, attempt integer) RETURNS integer LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT attempt - count(*)::integer FROM (
    SELECT a.generation, a.attempt_id FROM attempts a WHERE a.job_id = job
    UNION ALL SELECT r.generation, r.attempt_id FROM results r WHERE r.job_id = job) t
  JOIN rejudge_set_jobs m ON m.job_id = job AND m.generation = t.generation AND NOT m.applied
  WHERE t.attempt_id < attempt
$$;

-- The events of a job that everybody may see, with those numbers.
CREATE FUNCTION events_seen(job bigint)
RETURNS TABLE (id bigint, job_id bigint, generation integer, attempt integer, kind text, data jsonb, at timestamptz)
LANGUAGE sql STABLE ROWS 10 AS $$
  SELECT e.id, e.job_id, CASE e.generation WHEN 1 THEN 1 ELSE generation_seen(job, e.generation) END,
    CASE e.generation WHEN 1 THEN e.attempt ELSE attempt_seen(job, e.attempt) END, e.kind, e.data, e.at
  FROM events_of(job) e WHERE e.generation = 1 OR event_seen(e.kind, job, e.generation)
$$;

-- Who may read what a checker says of a test. No row: as the package says.
CREATE TABLE problem_settings (
  slug             text PRIMARY KEY,
  checker_messages text NOT NULL CONSTRAINT problem_settings_messages CHECK (checker_messages IN ('nobody', 'samples', 'all')),
  by               text NOT NULL,
  at               timestamptz NOT NULL DEFAULT now()
);

-- Whether the newest report of an uploaded checker found pieces of answers in what
-- it says. NULL: nobody knows.
ALTER TABLE plugins ADD COLUMN leaks boolean;
UPDATE plugins p SET leaks = CASE
  WHEN jsonb_path_exists(r.result::jsonb, '$.report.report.findings[*] ? (@.rule starts with "leak")') THEN true
  WHEN jsonb_path_exists(r.result::jsonb, '$.report.report.stages[*] ? (@.stage == "messages" && @.outcome == "passed")') THEN false END
FROM jobs j JOIN results r ON r.job_id = j.job_id AND r.generation = j.live_generation WHERE j.job_id = p.job_id;

-- The first checker or interactor of a problem's live version of which it is not
-- known that it gives no answer away: one that is neither a standard checker nor an
-- uploaded one that was found to be discreet. NULL: there is none.
CREATE FUNCTION checker_untold(wanted text) RETURNS text LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN v.problem -> 'checkers' IS NULL THEN '' ELSE (
    SELECT c.name FROM jsonb_array_elements_text(v.problem -> 'checkers') WITH ORDINALITY AS c(name, n)
    WHERE c.name NOT IN ('default', 'tokens', 'lines', 'exact', 'floats', 'yesno') AND NOT EXISTS (
      SELECT 1 FROM plugins u LEFT JOIN active_plugins a ON a.digest = u.digest
      WHERE NOT u.leaks AND (u.digest = c.name OR a.name = c.name AND a.kind IN ('checker', 'interactor')))
    ORDER BY c.n LIMIT 1) END
  FROM problems p JOIN problem_versions v ON v.slug = p.slug AND v.version = p.version WHERE p.slug = wanted
$$;

-- Who reads what the checkers of a problem say. What everybody reads must not give
-- answers away: for all counts as long as no checker can.
CREATE FUNCTION checker_messages(wanted text) RETURNS text LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN c.chosen = 'all' AND checker_untold(wanted) IS NOT NULL THEN 'samples' ELSE c.chosen END
  FROM (SELECT coalesce(
    (SELECT s.checker_messages FROM problem_settings s WHERE s.slug = wanted),
    (SELECT v.problem ->> 'checker_messages' FROM problems p JOIN problem_versions v ON v.slug = p.slug AND v.version = p.version WHERE p.slug = wanted),
    'samples')) AS c(chosen)
$$;

-- A submission that is accepted for less than the highest score is partly
-- accepted: its own verdict, so that no count and no filter takes it for more. The
-- highest score is the one of the result, else of the version that it was judged by.
ALTER TABLE results DROP CONSTRAINT results_verdict,
  ADD CONSTRAINT results_verdict CHECK (verdict IN ('AC', 'PA', 'WA', 'PE', 'TLE', 'MLE', 'OLE', 'RE', 'CE', 'JE')); -- never SE

WITH scored AS MATERIALIZED (
  SELECT r.job_id, r.generation, r.score, coalesce((r.result ->> 'max_score')::float8, (
    SELECT nullif((v.problem ->> 'max_score')::float8, 0) FROM job_payloads p
    JOIN problem_versions v ON v.slug = p.problem AND v.version = r.result ->> 'problem_version' WHERE p.job_id = r.job_id)) AS highest
  FROM results r WHERE r.verdict = 'AC' AND r.score IS NOT NULL)
UPDATE results r SET verdict = 'PA',
  result = (jsonb_set(r.result::jsonb, '{verdict}', '"PA"') || jsonb_build_object('max_score', s.highest))::json
FROM scored s WHERE r.job_id = s.job_id AND r.generation = s.generation AND s.score < s.highest - 1e-9 * (1 + abs(s.highest));
UPDATE jobs j SET verdict = 'PA' FROM results r
WHERE r.job_id = j.job_id AND r.generation = j.live_generation AND r.verdict = 'PA' AND j.verdict = 'AC';
UPDATE single_events e SET data = jsonb_set(e.data, '{verdict}', '"PA"') FROM results r
WHERE e.kind IN ('finished', 'applied') AND r.job_id = e.job_id AND r.generation = e.generation AND r.verdict = 'PA' AND e.data ->> 'verdict' = 'AC';
UPDATE event_batches b SET verdicts = (
  SELECT array_agg(coalesce((SELECT r.verdict FROM results r WHERE r.job_id = u.job_id AND r.generation = u.generation AND r.verdict = 'PA'), u.verdict) ORDER BY u.n)
  FROM unnest(b.job_ids, b.generations, b.verdicts) WITH ORDINALITY AS u(job_id, generation, verdict, n))
WHERE b.kind = 'finished' AND EXISTS (
  SELECT 1 FROM unnest(b.job_ids, b.generations, b.verdicts) AS u(job_id, generation, verdict)
  JOIN results r ON r.job_id = u.job_id AND r.generation = u.generation WHERE r.verdict = 'PA' AND u.verdict = 'AC');
