-- name: AdjustmentPut :execrows
-- What is added to the row of a participant of a round; nothing takes it away.
UPDATE round_entries SET adjust_minutes = @minutes, adjust_points = @points, adjust_reason = @reason, adjust_by = nullif(@by::text, ''), adjust_at = now()
FROM participants p WHERE round_entries.round_id = @round_id AND p.id = round_entries.participant_id AND p.code = @code;

-- name: AdjustmentList :many
SELECT p.code, e.adjust_minutes, e.adjust_points, e.adjust_reason, e.adjust_by::text AS adjust_by, e.adjust_at::timestamptz AS adjust_at
FROM round_entries e JOIN participants p ON p.id = e.participant_id
WHERE e.round_id = @round_id AND e.adjust_by IS NOT NULL AND p.code > @after::text ORDER BY p.code LIMIT @max::integer;

-- name: AdjustmentsKept :many
-- What is added, by participant.
SELECT e.participant_id, e.adjust_minutes, e.adjust_points FROM round_entries e WHERE e.round_id = @round_id AND e.adjust_by IS NOT NULL;
