-- What the jury of a round gives.

-- name: AwardList :many
SELECT a.code, a.citation, ARRAY(SELECT p.code FROM participants p WHERE p.id = ANY (a.participants) ORDER BY p.code)::text[] AS participants
FROM round_awards a WHERE a.round_id = @round_id ORDER BY a.code;

-- name: AwardPut :one
-- Gives one to participants of the round, and returns to how many.
INSERT INTO round_awards (round_id, code, citation, participants, by)
SELECT @round_id, @code, @citation,
  coalesce((SELECT array_agg(p.id ORDER BY p.id) FROM participants p JOIN round_entries e ON e.participant_id = p.id AND e.round_id = @round_id WHERE p.code = ANY (@participants::text[])), '{}'), @by
ON CONFLICT (round_id, code) DO UPDATE SET citation = excluded.citation, participants = excluded.participants, by = excluded.by, at = now()
RETURNING cardinality(participants)::integer AS given;

-- name: AwardRemove :execrows
DELETE FROM round_awards WHERE round_id = @round_id AND code = @code;
