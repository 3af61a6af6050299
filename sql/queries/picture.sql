-- name: HistoryDays :many
-- How many of the newest submissions came on each day (UTC), counted back from
-- today.
SELECT ((now() AT TIME ZONE 'UTC')::date - (n.created_at AT TIME ZONE 'UTC')::date)::integer AS days_ago,
  count(*) AS submitted, count(*) FILTER (WHERE n.verdict = 'AC') AS accepted
FROM (
  SELECT s.created_at, CASE WHEN t.told THEN s.verdict END AS verdict FROM submissions s JOIN jobs j ON j.job_id = s.job_id,
    LATERAL (SELECT @unveiled::boolean OR verdict_told(s.job_id, s.round_id) AS told) t
  WHERE (@author::text = '' OR s.author = @author) AND (@problem::text = '' OR s.problem = @problem)
    AND (@language::text = '' OR s.language = @language) AND (@verdict::text = '' OR s.verdict = @verdict AND t.told) AND j.kind = 'submission'
  ORDER BY s.job_id DESC LIMIT @most::integer) n
WHERE n.created_at > now() - make_interval(days => @days::integer)
GROUP BY 1 ORDER BY 1 DESC;

-- name: BestScores :many
-- How many authors have which best score among the newest submissions of a problem.
SELECT b.best, count(*) AS authors FROM (
  SELECT n.author, max(n.score)::double precision AS best FROM (
    SELECT s.author, s.score FROM submissions s JOIN jobs j ON j.job_id = s.job_id
    WHERE s.problem = @problem::text AND s.score IS NOT NULL AND j.kind = 'submission' ORDER BY s.job_id DESC LIMIT @most::integer) n
  GROUP BY n.author) b
GROUP BY b.best ORDER BY b.best;

-- name: QueueFlow :many
-- How many jobs came, and how many were done with, in each minute of the last hour,
-- counted back from now. Who is done with came before: a job that was judged again
-- came, as far as anybody knows, when that began. Whoever may not see the whole
-- does not see what was judged for rejudge sets.
WITH recent AS MATERIALIZED (
  SELECT created_at AS came, NULL::timestamptz AS went FROM outbox_events WHERE created_at > now() - interval '60 min' AND (@whole::boolean OR NOT in_set)
  UNION ALL
  SELECT CASE WHEN r.generation = 1 THEN j.created_at ELSE r.started_at END, r.created_at
  FROM results r JOIN jobs j ON j.job_id = r.job_id WHERE r.created_at > now() - interval '60 min'
    AND (@whole OR r.generation = 1 OR event_seen('finished', r.job_id, r.generation))
  UNION ALL
  SELECT j.created_at, j.finished_at
  FROM (SELECT status, created_at, finished_at FROM jobs WHERE @whole OR rejudge_set IS NULL ORDER BY job_id DESC LIMIT @most::integer) j
  WHERE j.status IN ('cancelled', 'dead') AND j.finished_at > now() - interval '60 min')
SELECT f.minutes_ago::integer AS minutes_ago, count(*) FILTER (WHERE f.came) AS came, count(*) FILTER (WHERE NOT f.came) AS went FROM (
  SELECT floor(extract(epoch FROM now() - r.came) / 60) AS minutes_ago, true AS came FROM recent r WHERE r.came > now() - interval '60 min'
  UNION ALL
  SELECT floor(extract(epoch FROM now() - r.went) / 60), false FROM recent r WHERE r.went IS NOT NULL) f
GROUP BY 1 ORDER BY 1;
