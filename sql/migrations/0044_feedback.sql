-- min_binary: 17
-- What participants are told of what they hand in, while their round hides something of it.

-- How much of the result of a submission its participant is told now: 'full', 'groups' (verdict, score and groups of
-- tests), 'public' (the samples), or 'none'. That it did not compile everybody could find out by themselves. All that
-- shows results to who is no staff goes by this one function; the recorder's like is contest.Config.Feedback.
CREATE FUNCTION feedback_told(job bigint) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT coalesce((
    SELECT CASE
      WHEN p.participant_id IS NULL OR j.verdict = 'CE' THEN 'full'
      WHEN r.format = 'icpc' THEN CASE WHEN r.settings -> 'own_verdicts_in_freeze' = 'false' AND r.freeze_ms IS NOT NULL AND r.thawed_at IS NULL
        AND round_time(r.id, j.created_at) >= r.freeze_ms THEN 'none' ELSE 'full' END
      WHEN coalesce(r.settings ->> 'feedback', 'full') = 'full' THEN 'full'
      WHEN round_time(r.id, now()) >= r.duration_ms AND (r.freeze_ms IS NULL OR r.thawed_at IS NOT NULL OR round_time(r.id, j.created_at) < r.freeze_ms) THEN 'full'
      WHEN EXISTS (SELECT 1 FROM submission_tokens t WHERE t.job_id = p.job_id) THEN 'full'
      ELSE r.settings ->> 'feedback' END
    FROM job_payloads p JOIN jobs j ON j.job_id = p.job_id JOIN rounds r ON r.id = p.round_id WHERE p.job_id = job), 'full')
$$;

-- Whether the verdict and the score of a submission are told, of one that was handed in to a round, or to none.
CREATE FUNCTION verdict_told(job bigint, round bigint) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT round IS NULL OR feedback_told(job) IN ('full', 'groups')
$$;
