-- min_binary: 17
-- What others may see of somebody.

-- Who sees the page of what somebody has solved. Without a row it is for themselves,
-- and staff.
CREATE TABLE profiles (
  name    text PRIMARY KEY REFERENCES users (name) ON DELETE CASCADE,
  seen_by text NOT NULL CONSTRAINT profiles_seen_by CHECK (seen_by IN ('self', 'members', 'everyone')),
  at      timestamptz NOT NULL DEFAULT now()
);

-- What counts of somebody, with what decides who may see it.
CREATE VIEW profile_submissions AS
SELECT c.job_id, c.author, c.problem, c.verdict, s.space_id, j.created_at, (h.slug IS NOT NULL) AS hidden, coalesce(p.listed, true) AS listed
FROM counted_submissions c
JOIN job_payloads s ON s.job_id = c.job_id
JOIN jobs j ON j.job_id = c.job_id
LEFT JOIN hidden_problems h ON h.slug = c.problem
LEFT JOIN spaces p ON p.id = s.space_id;
