-- name: ClarificationAdd :one
-- Adds one, in a round that is held, and returns it by its number.
INSERT INTO clarifications (round_id, code, participant_id, to_participants, to_groups, reply_to, problem, text, by, at)
SELECT @round_id, @code, sqlc.narg(participant_id),
  coalesce((SELECT array_agg(p.id ORDER BY p.id) FROM participants p JOIN round_entries e ON e.participant_id = p.id AND e.round_id = @round_id WHERE p.code = ANY (@teams::text[])), '{}'),
  coalesce((SELECT array_agg(g.id ORDER BY g.id) FROM team_groups g JOIN rounds r ON r.space_id = g.space_id WHERE r.id = @round_id AND g.code = ANY (@groups::text[])), '{}'),
  sqlc.narg(reply_to), sqlc.narg(problem), @text, @by, coalesce(sqlc.narg(at)::timestamptz, now())
RETURNING id, to_participants, to_groups;

-- name: ClarificationList :many
-- Those of a round that somebody sees, newest first, from before a number: all, or what a participant asked, what is for it,
-- and what is for everybody.
SELECT c.id, c.code, c.problem, c.text, c.by, c.at, c.closed_at, c.participant_id, coalesce(p.code, '')::text AS from_code, coalesce(nullif(p.display_name, ''), p.name, '')::text AS from_name,
  coalesce(a.code, '')::text AS reply_to, coalesce(a.participant_id, 0)::bigint AS asked_by,
  ARRAY(SELECT t.code FROM participants t WHERE t.id = ANY (c.to_participants) ORDER BY t.code)::text[] AS teams,
  ARRAY(SELECT g.code FROM team_groups g WHERE g.id = ANY (c.to_groups) ORDER BY g.code)::text[] AS groups,
  EXISTS (SELECT 1 FROM clarifications r WHERE r.reply_to = c.id)::boolean AS answered
FROM clarifications c LEFT JOIN participants p ON p.id = c.participant_id LEFT JOIN clarifications a ON a.id = c.reply_to
WHERE c.round_id = @round_id AND (@before::text = '' OR c.id < (SELECT b.id FROM clarifications b WHERE b.round_id = @round_id AND b.code = @before))
  AND (@code::text = '' OR c.code = @code)
  AND (@all_of_them::boolean OR c.participant_id = @participant::bigint
    OR c.participant_id IS NULL AND (c.to_participants = '{}' AND c.to_groups = '{}' OR @participant = ANY (c.to_participants)
      OR EXISTS (SELECT 1 FROM participant_groups g WHERE g.participant_id = @participant AND g.group_id = ANY (c.to_groups))))
ORDER BY c.id DESC LIMIT @max::integer;

-- name: ClarificationClose :execrows
-- Has nobody wait for an answer to a question, or wait again.
UPDATE clarifications SET closed_at = CASE WHEN @closed::boolean THEN coalesce(closed_at, now()) END
WHERE round_id = @round_id AND code = @code AND participant_id IS NOT NULL;

-- name: ClarificationWaiting :one
-- How many questions of a participant, or of all where it is 0, nobody has answered yet.
SELECT count(*) AS waiting FROM clarifications c
WHERE c.round_id = @round_id AND c.participant_id IS NOT NULL AND (@participant::bigint = 0 OR c.participant_id = @participant)
  AND c.closed_at IS NULL AND NOT EXISTS (SELECT 1 FROM clarifications r WHERE r.reply_to = c.id);

-- name: ContestClarifications :many
-- Those of a round for its log, with who is in the groups that they are for.
SELECT c.code, c.problem, c.text, c.at, coalesce(c.participant_id, 0)::bigint AS participant, coalesce(p.code, '')::text AS from_code, coalesce(p.hidden, false)::boolean AS hidden,
  coalesce(a.code, '')::text AS reply_to, coalesce(a.participant_id, 0)::bigint AS asked_by, c.to_participants,
  ARRAY(SELECT g.code FROM team_groups g WHERE g.id = ANY (c.to_groups) ORDER BY g.code)::text[] AS groups,
  ARRAY(SELECT m.participant_id FROM participant_groups m JOIN round_entries e ON e.participant_id = m.participant_id AND e.round_id = c.round_id
    WHERE m.group_id = ANY (c.to_groups) ORDER BY m.participant_id)::bigint[] AS members
FROM clarifications c LEFT JOIN participants p ON p.id = c.participant_id LEFT JOIN clarifications a ON a.id = c.reply_to
WHERE c.round_id = @round_id ORDER BY c.id;
