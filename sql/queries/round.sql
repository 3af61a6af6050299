-- name: RoundGet :one
-- A round, with the database's time.
SELECT r.*, s.slug AS space, now()::timestamptz AS now FROM rounds r JOIN spaces s ON s.id = r.space_id WHERE r.code = @code;

-- name: RoundHold :one
-- RoundGet, which keeps others from changing the round until the transaction ends.
SELECT r.*, s.slug AS space, now()::timestamptz AS now FROM rounds r JOIN spaces s ON s.id = r.space_id WHERE r.code = @code FOR UPDATE OF r;

-- name: RoundList :many
-- The newest first, of one space or of all that somebody may know of: what follows a space is for its members.
SELECT r.*, s.slug AS space, now()::timestamptz AS now FROM rounds r JOIN spaces s ON s.id = r.space_id
WHERE (@space::text = '' OR s.slug = @space)
  AND (@all_of_them::boolean OR s.listed AND NOT r.follows OR EXISTS (SELECT 1 FROM space_members m WHERE m.space_id = s.id AND m.user_name = @viewer))
  AND (@before::text = '' OR r.id < (SELECT b.id FROM rounds b WHERE b.code = @before))
ORDER BY r.id DESC LIMIT @max::integer;

-- name: RoundCreate :one
INSERT INTO rounds (space_id, code, title, formal_name, kind, format, settings, starts_at, paused_ms, duration_ms, freeze_ms, thaw_at,
  public_runs, practice, speed, created_by)
SELECT s.id, @code, @title, @formal_name, @kind, @format, @settings, @starts_at, sqlc.narg(paused_ms), sqlc.narg(duration_ms), sqlc.narg(freeze_ms), @thaw_at,
  @public_runs, @practice, @speed, @created_by
FROM spaces s WHERE s.slug = @space RETURNING id, space_id;

-- name: RoundUpdate :exec
UPDATE rounds SET title = @title, formal_name = @formal_name, kind = @kind, format = @format, settings = @settings, starts_at = @starts_at,
  paused_ms = sqlc.narg(paused_ms), duration_ms = sqlc.narg(duration_ms), freeze_ms = sqlc.narg(freeze_ms), thaw_at = @thaw_at, thawed_at = @thawed_at,
  finalized_at = @finalized_at, finalized_by = @finalized_by, updates_end_at = @updates_end_at, public_runs = @public_runs, practice = @practice
WHERE id = @id;

-- name: RoundDelete :execrows
-- Only one that nobody has handed anything in to, and that follows no space.
DELETE FROM rounds r WHERE r.id = @id AND NOT r.follows AND NOT EXISTS (SELECT 1 FROM job_payloads p WHERE p.round_id = r.id);

-- name: RoundRemovedList :many
SELECT * FROM round_removed WHERE round_id = ANY (@round_ids::bigint[]) ORDER BY round_id, id;

-- name: RoundRemovedAdd :one
INSERT INTO round_removed (round_id, from_at, to_at, reason, by) VALUES (@round_id, @from_at, @to_at, @reason, @by) RETURNING id;

-- name: RoundRemovedUndo :exec
UPDATE round_removed SET undone_at = @undone_at WHERE id = @id AND round_id = @round_id AND undone_at IS NULL;

-- name: RoundChangeAdd :exec
INSERT INTO round_changes (space_id, round_id, kind, object) VALUES (@space_id, sqlc.narg(round_id), @kind, @object);

-- name: RoundProblemList :many
SELECT p.problem, p.version, p.label, p.points, p.rgb, p.color, p.paused_at, v.title
FROM round_problems p JOIN problems a ON a.slug = p.problem
JOIN problem_versions v ON v.slug = a.slug AND v.version = coalesce(nullif(p.version, ''), a.version)
WHERE p.round_id = @round_id ORDER BY p.place, p.problem;

-- name: RoundProblemGone :exec
DELETE FROM round_problems WHERE round_id = @round_id AND problem <> ALL (@problems::text[]);

-- name: RoundProblemPut :batchexec
INSERT INTO round_problems (round_id, problem, version, place, label, points, rgb, color, paused_at)
VALUES (@round_id, @problem, @version, @place, @label, sqlc.narg(points), @rgb, @color, @paused_at)
ON CONFLICT (round_id, problem) DO UPDATE SET version = excluded.version, place = excluded.place, label = excluded.label, points = excluded.points,
  rgb = excluded.rgb, color = excluded.color, paused_at = excluded.paused_at;

-- name: RoundProblemUnknown :many
-- Problems and versions that are named but do not exist; of a problem without a version, one that is live.
SELECT t.problem::text AS problem, CASE WHEN a.slug IS NULL THEN '' ELSE t.version END::text AS version
FROM (SELECT unnest(@problems::text[]) AS problem, unnest(@versions::text[]) AS version) t LEFT JOIN problems a ON a.slug = t.problem
WHERE a.slug IS NULL OR t.version <> '' AND NOT EXISTS (SELECT 1 FROM problem_versions v WHERE v.slug = t.problem AND v.version = t.version);

-- name: RoundProblemUsed :many
-- Problems of the round, but for some, that somebody has handed something in to.
SELECT p.problem FROM round_problems p
WHERE p.round_id = @round_id AND p.problem <> ALL (@problems::text[])
  AND EXISTS (SELECT 1 FROM job_payloads j WHERE j.round_id = p.round_id AND j.problem = p.problem);

-- name: EntryList :many
SELECT p.code FROM round_entries e JOIN participants p ON p.id = e.participant_id
WHERE e.round_id = @round_id AND p.code > @after ORDER BY p.code LIMIT @max::integer;

-- name: EntryAdd :many
-- Adds participants of the round's space, and returns the codes of those that were added or are in it.
WITH known AS (
  SELECT p.id, p.code FROM participants p JOIN rounds r ON r.space_id = p.space_id WHERE r.id = @round_id AND p.follows IS NULL AND p.code = ANY (@codes::text[])),
added AS (INSERT INTO round_entries (round_id, participant_id) SELECT @round_id, id FROM known ORDER BY id ON CONFLICT DO NOTHING)
SELECT code FROM known;

-- name: EntryRemove :one
-- Only of who has handed nothing in.
WITH named AS MATERIALIZED (
  SELECT e.participant_id FROM round_entries e JOIN participants p ON p.id = e.participant_id WHERE e.round_id = @round_id AND p.code = @code),
gone AS (
  DELETE FROM round_entries e USING named n WHERE e.round_id = @round_id AND e.participant_id = n.participant_id
    AND NOT EXISTS (SELECT 1 FROM job_payloads j WHERE j.participant_id = e.participant_id AND j.round_id = e.round_id) RETURNING e.participant_id)
SELECT EXISTS (SELECT 1 FROM named)::boolean AS found,
  EXISTS (SELECT 1 FROM gone)::boolean AS done;

-- name: EntryOf :one
-- The participant as whom somebody hands in, and whether it takes part in the round.
SELECT p.id, p.code, p.status, EXISTS (SELECT 1 FROM round_entries e WHERE e.round_id = @round_id AND e.participant_id = p.id)::boolean AS entered
FROM rounds r JOIN participant_members m ON m.space_id = r.space_id JOIN participants p ON p.id = m.participant_id
WHERE r.id = @round_id AND m.user_name = @user_name AND m.role = 'contestant';

-- name: EntryMember :one
-- A contestant of the space of a round, who is in no team, and a code that none has yet.
SELECT u.display_name, r.space_id, (SELECT c.code FROM (
    SELECT CASE n WHEN 1 THEN t.base ELSE t.base || '-' || n END AS code, n
    FROM (SELECT regexp_replace(left(u.name, 28), '[^A-Za-z0-9_.-]', '_', 'g') AS base) t, generate_series(1, 10000) AS n) c
  WHERE NOT EXISTS (SELECT 1 FROM participants p WHERE p.space_id = r.space_id AND p.code = c.code) ORDER BY c.n LIMIT 1)::text AS code
FROM rounds r JOIN space_members m ON m.space_id = r.space_id JOIN users u ON u.name = m.user_name
WHERE r.id = @round_id AND m.user_name = @user_name AND m.role = 'contestant'
  AND NOT EXISTS (SELECT 1 FROM participant_members t WHERE t.space_id = r.space_id AND t.user_name = u.name AND t.role = 'contestant');

-- name: EntryAlone :one
-- Whether nobody else is in a participant.
SELECT (count(*) = 1)::boolean AS alone FROM participant_members WHERE participant_id = @participant_id;

-- name: RoundUnsettled :one
-- What of a round has no result that stands: submissions in its time without a verdict, with a judging error, and in a
-- rejudge set of which nobody has decided yet.
WITH counted AS (
  SELECT j.job_id, j.verdict, j.rejudge_set FROM round_submissions p JOIN jobs j ON j.job_id = p.job_id JOIN rounds r ON r.id = p.round_id
  WHERE p.round_id = @round_id::bigint
    AND coalesce(round_time(r.id, j.created_at) < r.duration_ms, true)
    AND NOT EXISTS (SELECT 1 FROM submission_marks m WHERE m.job_id = p.job_id))
SELECT count(*) FILTER (WHERE verdict IS NULL) AS unjudged, count(*) FILTER (WHERE verdict IN ('JE', 'SE')) AS errors,
  count(*) FILTER (WHERE EXISTS (SELECT 1 FROM rejudge_sets s WHERE s.id = c.rejudge_set AND s.resolution IS NULL)) AS in_sets,
  (SELECT count(*) FROM clarifications q WHERE q.round_id = @round_id AND q.participant_id IS NOT NULL AND q.closed_at IS NULL
    AND NOT EXISTS (SELECT 1 FROM clarifications a WHERE a.reply_to = q.id)) AS questions
FROM counted c;

-- name: RoundTries :many
-- What a participant has handed in to a round, by problem, as far as it is told.
SELECT p.problem::text AS problem, count(*) AS tries, count(*) FILTER (WHERE j.verdict IS NULL) AS waiting, coalesce(bool_or(j.verdict = 'AC') FILTER (WHERE t.told), false)::boolean AS solved,
  coalesce(max(j.score) FILTER (WHERE t.told), 0)::float8 AS score, count(*) FILTER (WHERE j.verdict IS NOT NULL AND NOT t.told) AS veiled
FROM job_payloads p JOIN jobs j ON j.job_id = p.job_id, LATERAL (SELECT verdict_told(p.job_id, p.round_id) AS told) t
WHERE p.round_id = @round_id AND p.participant_id = @participant AND p.problem IS NOT NULL AND j.kind = 'submission' GROUP BY p.problem;
