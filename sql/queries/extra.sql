-- name: ExtraKept :many
-- All of a round, in the order in which they came.
SELECT kind, code, data FROM round_extras WHERE round_id = @round_id ORDER BY kind, at, code;

-- name: ExtraList :many
-- Those of a kind, from the one behind another on.
SELECT kind, code, data FROM round_extras WHERE round_id = @round_id AND kind = @kind AND code > @after::text ORDER BY code LIMIT @max::integer;

-- name: ExtraCount :one
SELECT count(*) FROM round_extras WHERE round_id = @round_id;

-- name: ExtraPut :exec
INSERT INTO round_extras (round_id, kind, code, data, by)
SELECT @round_id, t.kind, t.code, t.data::jsonb, @by FROM (SELECT unnest(@kinds::text[]) AS kind, unnest(@codes::text[]) AS code, unnest(@data::text[]) AS data) t
ON CONFLICT (round_id, kind, code) DO UPDATE SET data = excluded.data, by = excluded.by;

-- name: ExtraAdd :many
-- Those that were not there, as they are now.
INSERT INTO round_extras (round_id, kind, code, data, by)
SELECT @round_id, t.kind, t.code, t.data::jsonb, @by FROM (SELECT unnest(@kinds::text[]) AS kind, unnest(@codes::text[]) AS code, unnest(@data::text[]) AS data) t
ON CONFLICT (round_id, kind, code) DO NOTHING RETURNING code;

-- name: ExtraRemove :execrows
DELETE FROM round_extras WHERE round_id = @round_id AND kind = @kind AND code = @code;

-- name: ContestAccounts :many
-- Who hands in as whom in a round.
SELECT m.participant_id, m.user_name, coalesce(u.display_name, '')::text AS display_name
FROM round_entries e JOIN participant_members m ON m.participant_id = e.participant_id JOIN users u ON u.name = m.user_name
WHERE e.round_id = @round_id AND m.role = 'contestant' ORDER BY m.user_name;
