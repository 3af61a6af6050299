-- min_binary: 17
-- What these functions ask is parsed and planned once in each session. As functions of SQL that have a query inside
-- they were parsed and planned anew in each statement that called one, which took longer than the statement.

CREATE OR REPLACE FUNCTION event_seen(kind text, job bigint, judging integer) RETURNS boolean LANGUAGE plpgsql STABLE PARALLEL SAFE AS $$
BEGIN
  RETURN judging = 1 OR kind = 'applied' OR NOT EXISTS (SELECT 1 FROM rejudge_set_jobs m WHERE m.job_id = job AND m.generation = judging);
END $$;

CREATE OR REPLACE FUNCTION generation_seen(job bigint, judging integer) RETURNS integer LANGUAGE plpgsql STABLE PARALLEL SAFE AS $$
BEGIN
  RETURN judging - (SELECT count(*)::integer FROM rejudge_set_jobs m WHERE m.job_id = job AND NOT m.applied AND m.generation < judging);
END $$;

CREATE OR REPLACE FUNCTION attempt_seen(job bigint, attempt integer) RETURNS integer LANGUAGE plpgsql STABLE PARALLEL SAFE AS $$
BEGIN
  RETURN attempt - (SELECT count(*)::integer FROM (
      SELECT a.generation, a.attempt_id FROM attempts a WHERE a.job_id = job
      UNION ALL SELECT r.generation, r.attempt_id FROM results r WHERE r.job_id = job) t
    JOIN rejudge_set_jobs m ON m.job_id = job AND m.generation = t.generation AND NOT m.applied
    WHERE t.attempt_id < attempt);
END $$;

CREATE OR REPLACE FUNCTION checker_untold(wanted text) RETURNS text LANGUAGE plpgsql STABLE PARALLEL SAFE AS $$
BEGIN
  RETURN (
    SELECT CASE WHEN v.problem -> 'checkers' IS NULL THEN '' ELSE (
      SELECT c.name FROM jsonb_array_elements_text(v.problem -> 'checkers') WITH ORDINALITY AS c(name, n)
      WHERE c.name NOT IN ('default', 'tokens', 'lines', 'exact', 'floats', 'yesno') AND NOT EXISTS (
        SELECT 1 FROM plugins u LEFT JOIN active_plugins a ON a.digest = u.digest
        WHERE NOT u.leaks AND (u.digest = c.name OR a.name = c.name AND a.kind IN ('checker', 'interactor')))
      ORDER BY c.n LIMIT 1) END
    FROM problems p JOIN problem_versions v ON v.slug = p.slug AND v.version = p.version WHERE p.slug = wanted);
END $$;

CREATE OR REPLACE FUNCTION checker_messages(wanted text) RETURNS text LANGUAGE plpgsql STABLE PARALLEL SAFE AS $$
DECLARE
  chosen text := coalesce(
    (SELECT s.checker_messages FROM problem_settings s WHERE s.slug = wanted),
    (SELECT v.problem ->> 'checker_messages' FROM problems p JOIN problem_versions v ON v.slug = p.slug AND v.version = p.version WHERE p.slug = wanted),
    'samples');
BEGIN
  IF chosen = 'all' AND checker_untold(wanted) IS NOT NULL THEN
    RETURN 'samples';
  END IF;
  RETURN chosen;
END $$;

CREATE OR REPLACE FUNCTION problem_labelled(problem jsonb, wanted text) RETURNS jsonb LANGUAGE plpgsql STABLE PARALLEL SAFE AS $$
BEGIN
  RETURN problem || coalesce((
    SELECT jsonb_strip_nulls(jsonb_build_object('tags', to_jsonb(l.tags), 'difficulty', l.difficulty, 'source', l.source, 'author', l.author))
    FROM problem_labels l WHERE l.slug = wanted), '{}');
END $$;

CREATE OR REPLACE FUNCTION round_time(round bigint, moment timestamptz) RETURNS bigint LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN (
    SELECT CASE WHEN moment <= r.starts_at THEN -ceil(extract(epoch FROM r.starts_at - moment) * 1000 * r.speed)
      ELSE floor(1000 * r.speed * (extract(epoch FROM moment - r.starts_at) - coalesce((
        SELECT sum(extract(epoch FROM least(d.to_at, moment) - greatest(d.from_at, r.starts_at))) FROM round_removed d
        WHERE d.round_id = r.id AND d.undone_at IS NULL AND least(d.to_at, moment) > greatest(d.from_at, r.starts_at)), 0))) END::bigint
    FROM rounds r WHERE r.id = round);
END $$;

CREATE OR REPLACE FUNCTION feedback_told(job bigint) RETURNS text LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN coalesce((
    SELECT CASE
      WHEN p.participant_id IS NULL OR j.verdict = 'CE' THEN 'full'
      WHEN r.format = 'icpc' THEN CASE WHEN r.settings -> 'own_verdicts_in_freeze' = 'false' AND r.freeze_ms IS NOT NULL AND r.thawed_at IS NULL
        AND round_time(r.id, j.created_at) >= r.freeze_ms THEN 'none' ELSE 'full' END
      WHEN coalesce(r.settings ->> 'feedback', 'full') = 'full' THEN 'full'
      WHEN round_time(r.id, now()) >= r.duration_ms AND (r.freeze_ms IS NULL OR r.thawed_at IS NOT NULL OR round_time(r.id, j.created_at) < r.freeze_ms) THEN 'full'
      WHEN EXISTS (SELECT 1 FROM submission_tokens t WHERE t.job_id = p.job_id) THEN 'full'
      ELSE r.settings ->> 'feedback' END
    FROM job_payloads p JOIN jobs j ON j.job_id = p.job_id JOIN rounds r ON r.id = p.round_id WHERE p.job_id = job), 'full');
END $$;

CREATE OR REPLACE FUNCTION following_round(space bigint) RETURNS bigint LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN (SELECT r.id FROM rounds r WHERE r.space_id = space AND r.follows AND r.finalized_at IS NULL);
END $$;
