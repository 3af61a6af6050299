-- name: LabelsGet :one
SELECT tags, difficulty, source, author, by, at FROM problem_labels WHERE slug = @slug;

-- name: LabelsSet :exec
-- NULL is as the package says. Nothing is logged when nothing changes.
WITH before AS MATERIALIZED (SELECT l.* FROM problem_labels l WHERE l.slug = @slug FOR UPDATE),
put AS (
  INSERT INTO problem_labels (slug, tags, difficulty, source, author, by)
  VALUES (@slug, sqlc.narg('tags')::text[], sqlc.narg('difficulty')::integer, sqlc.narg('source')::text, sqlc.narg('author')::text, @by)
  ON CONFLICT (slug) DO UPDATE SET tags = excluded.tags, difficulty = excluded.difficulty, source = excluded.source, author = excluded.author, by = excluded.by, at = now()
  WHERE (problem_labels.tags, problem_labels.difficulty, problem_labels.source, problem_labels.author)
    IS DISTINCT FROM (excluded.tags, excluded.difficulty, excluded.source, excluded.author)
  RETURNING *)
INSERT INTO audit_log (actor, action, subject, detail)
SELECT @by, 'problem_labels', 'problem:' || put.slug, jsonb_build_object(
  'was', (SELECT to_jsonb(b) - '{slug,by,at}'::text[] FROM before b), 'is', to_jsonb(put) - '{slug,by,at}'::text[]) FROM put;

-- name: ProblemSearch :many
-- A page of the problems that somebody may see, with their best submission of each:
-- the highest score, then an accepted one, then the newest. Words, which are in small
-- letters, are all in the title, names, source, tags or statement, in any language.
WITH own AS MATERIALIZED (
  SELECT s.problem, j.verdict, j.score, j.job_id FROM job_payloads s JOIN jobs j ON j.job_id = s.job_id
  WHERE s.author = @viewer AND s.problem IS NOT NULL AND j.kind = 'submission' AND j.verdict IS NOT NULL AND j.verdict NOT IN ('JE', 'SE')
    AND verdict_told(s.job_id, s.round_id)),
best AS MATERIALIZED (
  SELECT DISTINCT ON (o.problem) o.problem, o.verdict, o.score, o.job_id, bool_or(o.verdict = 'AC') OVER (PARTITION BY o.problem) AS solved FROM own o
  ORDER BY o.problem, coalesce(o.score, 0) DESC, (o.verdict = 'AC') DESC, o.job_id DESC)
SELECT (problem_labelled(v.problem, p.slug) - '{statement,samples,files}'::text[])::jsonb AS problem, p.updated_at, (h.slug IS NOT NULL)::boolean AS hidden,
  coalesce(b.verdict, '')::text AS verdict, b.score, coalesce(b.job_id, 0)::bigint AS job_id
FROM problems p
JOIN problem_versions v ON v.slug = p.slug AND v.version = p.version
LEFT JOIN hidden_problems h ON h.slug = p.slug
LEFT JOIN problem_labels l ON l.slug = p.slug
LEFT JOIN best b ON b.problem = p.slug
WHERE p.slug > @after::text
  AND (@hidden::boolean OR h.slug IS NULL)
  AND (cardinality(@words::text[]) = 0 OR (
    SELECT bool_and(strpos(t.said, w.word) > 0) FROM unnest(@words::text[]) AS w(word), (
      SELECT folded(concat_ws(' ', v.title, p.slug, coalesce(l.source, v.problem ->> 'source'), coalesce(l.tags::text, v.problem ->> 'tags'))) || ' '
        || coalesce((SELECT string_agg(g.said, ' ') FROM problem_pages g WHERE g.slug = p.slug AND g.version = p.version), '') AS said OFFSET 0) t))
  AND (@tag::text = '' OR CASE WHEN l.tags IS NOT NULL THEN @tag = ANY (l.tags) ELSE coalesce(v.problem -> 'tags' ? @tag, false) END)
  AND (@easiest::integer = 0 OR l.difficulty >= @easiest)
  AND (@hardest::integer = 0 OR l.difficulty <= @hardest)
  AND CASE @solved::text WHEN 'solved' THEN coalesce(b.solved, false) WHEN 'unsolved' THEN NOT coalesce(b.solved, false)
    WHEN 'tried' THEN b.problem IS NOT NULL AND NOT b.solved WHEN 'untried' THEN b.problem IS NULL ELSE true END
ORDER BY p.slug LIMIT @max::integer;

-- name: ProblemTags :many
-- The tags of the problems that somebody may see, the commonest first.
SELECT t.tag::text AS tag, count(*) AS problems
FROM problems p
JOIN problem_versions v ON v.slug = p.slug AND v.version = p.version
LEFT JOIN problem_labels l ON l.slug = p.slug
CROSS JOIN LATERAL unnest(coalesce(l.tags, ARRAY(SELECT jsonb_array_elements_text(CASE jsonb_typeof(v.problem -> 'tags') WHEN 'array' THEN v.problem -> 'tags' ELSE '[]' END)))) AS t(tag)
WHERE @hidden::boolean OR NOT EXISTS (SELECT 1 FROM hidden_problems h WHERE h.slug = p.slug)
GROUP BY t.tag ORDER BY count(*) DESC, t.tag LIMIT @max::integer;

-- name: StatisticsVerdicts :many
SELECT verdict, language, count(*) AS tries, count(DISTINCT author) AS people
FROM counted_submissions WHERE problem = @problem::text
GROUP BY verdict, language;

-- name: StatisticsPeople :many
-- How many tried and solved each of some problems; nothing of those that nobody tried.
SELECT problem, count(*) AS tries, count(DISTINCT author) AS tried, count(DISTINCT author) FILTER (WHERE verdict = 'AC') AS solved
FROM counted_submissions WHERE problem = ANY (@problems::text[])
GROUP BY problem;

-- name: StatisticsBest :many
-- The fastest accepted submission of each person, or the shortest, of the newest
-- that were accepted.
WITH lately AS MATERIALIZED (
  SELECT c.job_id, c.author, c.code_bytes, c.language, c.live_generation FROM counted_submissions c
  WHERE c.problem = @problem::text AND c.verdict = 'AC'
  ORDER BY c.job_id DESC LIMIT @newest::integer),
measured AS MATERIALIZED (
  SELECT n.job_id, n.author, n.language, n.code_bytes::bigint AS code_bytes,
    CASE WHEN @fastest::boolean THEN coalesce((SELECT coalesce((r.result -> 'usage' ->> 'cpu_us')::bigint, 1000 * (r.result -> 'usage' ->> 'cpu_ms')::bigint) FROM results r WHERE r.job_id = n.job_id AND r.generation = n.live_generation), 0)
      ELSE n.code_bytes::bigint END AS figure
  FROM lately n),
each AS (SELECT DISTINCT ON (m.author) m.* FROM measured m ORDER BY m.author, m.figure, m.job_id)
SELECT job_id, author, language, figure::bigint AS figure FROM each ORDER BY figure, job_id LIMIT @max::integer;
