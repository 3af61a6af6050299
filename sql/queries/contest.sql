-- name: ContestPick :one
-- A round that something is due of, but for some, which nobody else records until the transaction ends.
SELECT c.round_id, c.seq, c.public_seq, c.teams_seq, c.shown, c.unshown, r.code, coalesce(c.wake_at <= now(), false)::boolean AS woken
FROM contest_recorders c JOIN rounds r ON r.id = c.round_id
WHERE c.round_id <> ALL (@apart::bigint[]) AND (c.wake_at <= now() OR EXISTS (SELECT 1 FROM contest_due d WHERE d.round_id = c.round_id))
ORDER BY c.round_id LIMIT 1 FOR UPDATE OF c SKIP LOCKED;

-- name: ContestTake :many
-- What is due of a round, as a job, or 0 for everything.
DELETE FROM contest_due WHERE round_id = @round_id RETURNING job_id;

-- name: ContestWhole :exec
-- Has everything of rounds that are not closed looked at.
WITH changing AS (SELECT r.id FROM rounds r WHERE r.updates_end_at IS NULL ORDER BY r.id),
opened AS (INSERT INTO contest_recorders (round_id) SELECT id FROM changing ON CONFLICT DO NOTHING)
INSERT INTO contest_due (round_id, job_id) SELECT id, 0 FROM changing ON CONFLICT DO NOTHING;

-- name: ContestProblems :many
-- The problems of a round in order, as their version calls them.
SELECT p.problem, p.label, p.points, p.rgb, p.color, v.title, v.problem AS facts
FROM round_problems p JOIN problems a ON a.slug = p.problem
JOIN problem_versions v ON v.slug = a.slug AND v.version = coalesce(nullif(p.version, ''), a.version)
WHERE p.round_id = @round_id ORDER BY p.place, p.problem;

-- name: ContestOrganizations :many
SELECT o.* FROM organizations o WHERE o.space_id = @space_id ORDER BY o.code;

-- name: ContestGroups :many
SELECT g.* FROM team_groups g WHERE g.space_id = @space_id ORDER BY g.code;

-- name: ContestParticipants :many
-- Who takes part in a round.
SELECT p.*, coalesce(o.code, '')::text AS organization,
  ARRAY(SELECT g.code FROM participant_groups pg JOIN team_groups g ON g.id = pg.group_id WHERE pg.participant_id = p.id ORDER BY g.code)::text[] AS groups
FROM round_entries e JOIN participants p ON p.id = e.participant_id LEFT JOIN organizations o ON o.id = p.organization_id
WHERE e.round_id = @round_id ORDER BY p.code;

-- name: ContestSubmissions :many
-- What participants handed in to a round, all of it or some, in order of arrival, with the judging that everybody would
-- see: none of a rejudge set that was not applied. Of what was handed in to a space whose round follows it, without the tests.
SELECT s.job_id, EXISTS (SELECT 1 FROM submission_marks m WHERE m.job_id = s.job_id)::boolean AS ignored, EXISTS (SELECT 1 FROM submission_tokens k WHERE k.job_id = s.job_id)::boolean AS token, p.id AS participant_id, p.code AS participant, p.hidden, s.problem::text AS problem, j.language, j.created_at,
  coalesce(c.number, 0)::bigint AS number, coalesce(j.verdict, '')::text AS verdict, j.score,
  (CASE WHEN r.job_id IS NULL THEN 0 ELSE generation_seen(j.job_id, r.generation) END)::integer AS generation,
  r.started_at, r.created_at AS judged_at, coalesce((r.result #>> '{usage,cpu_us}')::bigint, 0)::bigint AS cpu_us,
  coalesce((SELECT json_agg(json_build_object('name', g ->> 'name', 'score', g -> 'score')) FROM json_array_elements(r.result -> 'groups') g
    WHERE g ->> 'score' IS NOT NULL AND g ->> 'name' <> ''), '[]')::json AS groups,
  coalesce((SELECT json_agg(json_build_object('verdict', t ->> 'verdict', 'cpu_us', t #> '{usage,cpu_us}', 'wall_ms', t #> '{usage,wall_ms}') ORDER BY (t ->> 'index')::integer)
    FROM json_array_elements(r.result -> 'tests') t WHERE NOT s.follows), '[]')::json AS tests
FROM round_submissions s JOIN jobs j ON j.job_id = s.job_id JOIN participants p ON p.id = s.participant_id
LEFT JOIN contest_submissions c ON c.job_id = s.job_id
LEFT JOIN results r ON r.job_id = j.job_id AND r.generation = j.live_generation
WHERE s.round_id = @round_id::bigint
  AND (@everything::boolean OR s.job_id = ANY (@job_ids::bigint[]))
ORDER BY s.job_id;

-- name: ContestObjects :many
-- What was told last of everything in a round, or of some submissions.
SELECT o.kind, o.object, o.submission, o.data, o.audience, o.only_participant FROM contest_objects o
WHERE o.round_id = @round_id AND (@everything::boolean OR o.submission = ANY (@submissions::bigint[])) ORDER BY o.kind, o.object;

-- name: ContestNumber :exec
-- Gives submissions their numbers.
INSERT INTO contest_submissions (round_id, number, job_id) SELECT @round_id, t.number, t.job_id
FROM (SELECT unnest(@numbers::bigint[]) AS number, unnest(@job_ids::bigint[]) AS job_id) t;

-- name: ContestOwn :many
-- The last number of what some participants alone were told.
SELECT t.participant::bigint AS participant, coalesce((SELECT max(l.own_seq) FROM contest_log l
  WHERE l.round_id = @round_id AND l.only_participant = t.participant AND l.own_seq IS NOT NULL), 0)::bigint AS own_seq
FROM (SELECT unnest(@participants::bigint[]) AS participant) t;

-- name: ContestLogAdd :copyfrom
INSERT INTO contest_log (round_id, seq, at, kind, object, data, audience, only_participant, public_seq, teams_seq, own_seq)
VALUES (@round_id, @seq, @at, @kind, @object, sqlc.narg(data), @audience, sqlc.narg(only_participant), sqlc.narg(public_seq), sqlc.narg(teams_seq), sqlc.narg(own_seq));

-- name: ContestObjectPut :exec
-- Keeps what was told last, as lists of equal length.
INSERT INTO contest_objects (round_id, kind, object, submission, data, audience, only_participant)
SELECT @round_id, t.kind, t.object, nullif(t.submission, 0), t.data::json, t.audience, nullif(t.only_participant, 0)
FROM (SELECT unnest(@kinds::text[]) AS kind, unnest(@objects::text[]) AS object, unnest(@submissions::bigint[]) AS submission,
  unnest(@data::text[]) AS data, unnest(@audiences::smallint[]) AS audience, unnest(@participants::bigint[]) AS only_participant) t
ON CONFLICT (round_id, kind, object) DO UPDATE SET submission = excluded.submission, data = excluded.data, audience = excluded.audience,
  only_participant = excluded.only_participant;

-- name: ContestObjectGone :exec
DELETE FROM contest_objects o USING (SELECT unnest(@kinds::text[]) AS kind, unnest(@objects::text[]) AS object) t
WHERE o.round_id = @round_id AND o.kind = t.kind AND o.object = t.object;

-- name: ContestMoved :exec
UPDATE contest_recorders SET seq = @seq, public_seq = @public_seq, teams_seq = @teams_seq, shown = @shown, unshown = @unshown, wake_at = @wake_at
WHERE round_id = @round_id;

-- name: ContestLog :many
-- The log of a round behind a number, in order.
SELECT l.seq, l.at, l.kind, l.object, l.data, l.audience, coalesce(l.only_participant, 0)::bigint AS only_participant,
  coalesce(l.public_seq, 0)::bigint AS public_seq, coalesce(l.teams_seq, 0)::bigint AS teams_seq, coalesce(l.own_seq, 0)::bigint AS own_seq
FROM contest_log l WHERE l.round_id = @round_id AND l.seq > @after ORDER BY l.seq LIMIT @max::integer;

-- name: ContestRead :many
-- The log of a round behind a number, in order, as far as somebody is told.
SELECT l.seq, l.at, l.kind, l.object, l.data, l.audience, coalesce(l.only_participant, 0)::bigint AS only_participant,
  coalesce(l.public_seq, 0)::bigint AS public_seq, coalesce(l.teams_seq, 0)::bigint AS teams_seq, coalesce(l.own_seq, 0)::bigint AS own_seq
FROM contest_log l WHERE l.round_id = @round_id AND l.seq > @after
  AND (l.audience & @audience::smallint <> 0 OR l.audience & 4 <> 0 AND l.only_participant = @participant::bigint)
ORDER BY l.seq LIMIT @max::integer;

-- name: ContestNamed :many
-- What somebody was told up to a number of what a round and its participants are.
SELECT l.seq, l.at, l.kind, l.object, l.data, l.audience, coalesce(l.only_participant, 0)::bigint AS only_participant,
  coalesce(l.public_seq, 0)::bigint AS public_seq, coalesce(l.teams_seq, 0)::bigint AS teams_seq, coalesce(l.own_seq, 0)::bigint AS own_seq
FROM contest_log l WHERE l.round_id = @round_id AND l.seq <= @until AND l.kind IN ('round', 'participant')
  AND (l.audience & @audience::smallint <> 0 OR l.audience & 4 <> 0 AND l.only_participant = @participant::bigint)
ORDER BY l.seq;

-- name: ContestAlone :many
-- What one participant was told, and no other.
SELECT l.seq, l.at, l.kind, l.object, l.data, l.audience, coalesce(l.only_participant, 0)::bigint AS only_participant,
  coalesce(l.public_seq, 0)::bigint AS public_seq, coalesce(l.teams_seq, 0)::bigint AS teams_seq, coalesce(l.own_seq, 0)::bigint AS own_seq
FROM contest_log l WHERE l.round_id = @round_id AND l.only_participant = @participant::bigint AND l.own_seq IS NOT NULL ORDER BY l.seq;

-- name: ContestPlace :one
-- The number in the log of what has these numbers among those who are told; 0 = none is asked about.
SELECT max(t.seq)::bigint AS seq FROM (
  SELECT l.seq FROM contest_log l WHERE l.round_id = @round_id AND l.public_seq = @public_seq::bigint
  UNION ALL SELECT l.seq FROM contest_log l WHERE l.round_id = @round_id AND l.teams_seq = @teams_seq::bigint
  UNION ALL SELECT l.seq FROM contest_log l WHERE l.round_id = @round_id AND l.only_participant = @participant::bigint AND l.own_seq = @own_seq::bigint) t
HAVING count(*) = (@public_seq > 0)::integer + (@teams_seq > 0)::integer + (@own_seq > 0)::integer AND count(*) > 0;

-- name: ContestRounds :many
-- What everybody was told last of some rounds themselves.
SELECT o.round_id, o.data FROM contest_objects o WHERE o.round_id = ANY (@rounds::bigint[]) AND o.kind = 'round';

-- name: ContestNumberOf :one
-- The number of a job in its round; 0 = it has none yet.
SELECT coalesce((SELECT s.number FROM contest_submissions s WHERE s.job_id = @job_id), 0)::bigint AS number;

-- name: ContestJob :one
SELECT s.job_id FROM contest_submissions s WHERE s.round_id = @round_id AND s.number = @number;

-- name: ContestLanguages :many
-- Those in which something was handed in to a round.
SELECT DISTINCT j.language FROM round_submissions p JOIN jobs j ON j.job_id = p.job_id WHERE p.round_id = @round_id::bigint ORDER BY 1;

-- name: ContestSources :many
-- The submissions of a round that count, by their numbers, from the one behind a number on.
SELECT s.number, s.job_id FROM contest_submissions s WHERE s.round_id = @round_id AND s.number > @after
  AND NOT EXISTS (SELECT 1 FROM submission_marks m WHERE m.job_id = s.job_id)
ORDER BY s.number LIMIT @max::integer;

-- name: ContestTimed :one
-- Whether a round that has an end goes on, or is about to begin.
SELECT EXISTS (SELECT 1 FROM rounds r WHERE r.duration_ms IS NOT NULL AND r.starts_at <= now() + interval '1 second'
  AND round_time(r.id, now()) < r.duration_ms + 60000)::boolean AS timed;

-- name: RoundThaw :exec
-- Shows what was hidden, as planned.
WITH thawed AS (UPDATE rounds SET thawed_at = @at::timestamptz WHERE rounds.id = @id AND thawed_at IS NULL RETURNING code)
INSERT INTO audit_log (actor, action, subject, detail) SELECT 'system', 'round_thaw', 'round:' || code, '{"planned": true}' FROM thawed;

-- name: ContestGoing :many
-- Rounds of a format that go on.
SELECT r.id FROM rounds r WHERE r.format = @format AND r.starts_at <= now() AND r.paused_ms IS NULL
  AND (r.duration_ms IS NULL OR round_time(r.id, now()) < r.duration_ms) ORDER BY r.id;

-- name: ContestHold :one
-- A round that nobody else records until the transaction ends.
SELECT c.round_id, c.seq, c.public_seq, c.teams_seq
FROM contest_recorders c WHERE c.round_id = @round_id FOR UPDATE OF c;

-- name: ContestClock :one
-- What time it is, which is not that at which the transaction began.
SELECT clock_timestamp()::timestamptz AS at;

-- name: ContestGrown :exec
-- Counts the lines that were added to the log.
UPDATE contest_recorders SET seq = @seq, public_seq = @public_seq, teams_seq = @teams_seq WHERE round_id = @round_id;
