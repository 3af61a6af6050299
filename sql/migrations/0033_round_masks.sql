-- min_binary: 17
-- What is handed in to a round counts elsewhere when everything of it is shown, and not before.

-- Rounds of which nothing is hidden: they are over, and what a freeze hid is shown.
CREATE VIEW shown_rounds AS
SELECT r.id FROM rounds r
WHERE round_time(r.id, now()) >= r.duration_ms AND (r.freeze_ms IS NULL OR r.thawed_at IS NOT NULL);

CREATE OR REPLACE VIEW submissions AS
SELECT p.job_id, p.problem, j.language, p.author, p.code_bytes, j.created_at, j.live_generation, j.verdict, j.score, p.space_id, p.unofficial, p.round_id
FROM job_payloads p JOIN jobs j ON j.job_id = p.job_id
WHERE p.problem IS NOT NULL;

CREATE OR REPLACE VIEW counted_submissions AS
SELECT s.job_id, s.problem::text AS problem, s.author, s.code_bytes, j.verdict::text AS verdict, j.language, j.live_generation
FROM job_payloads s JOIN jobs j ON j.job_id = s.job_id
WHERE s.problem IS NOT NULL AND j.kind = 'submission' AND j.verdict IS NOT NULL AND j.verdict NOT IN ('JE', 'SE') AND NOT s.unofficial
  AND CASE WHEN s.round_id IS NOT NULL THEN s.round_id IN (SELECT id FROM shown_rounds)
    ELSE s.space_id IS NULL OR EXISTS (SELECT 1 FROM spaces c WHERE c.id = s.space_id AND c.closes_at <= now()) END;
