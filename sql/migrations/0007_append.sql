-- New rows belong at the right end of an index, where the next one finds room: a
-- descending index splits its pages in the middle for ever. Both are read in
-- either direction. Nothing reads jobs by their group.
DROP INDEX jobs_group;
DROP INDEX submissions_author;
DROP INDEX submissions_problem;
DROP INDEX outbox_events_newest;
CREATE INDEX submissions_author ON submissions (author, job_id);
CREATE INDEX submissions_problem ON submissions (problem, job_id);
CREATE INDEX outbox_events_newest ON outbox_events (queue, pool, group_key, job_id)
  WHERE state = 'R' AND lane = 2 AND priority = 0 AND delayed_at IS NULL;
