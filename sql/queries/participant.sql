-- name: OrganizationList :many
SELECT o.* FROM organizations o JOIN spaces s ON s.id = o.space_id WHERE s.slug = @space AND o.code > @after ORDER BY o.code LIMIT @max::integer;

-- name: OrganizationPut :batchexec
INSERT INTO organizations (space_id, code, icpc_id, name, formal_name, country, subdivision, url, twitter)
VALUES (@space_id, @code, @icpc_id, @name, @formal_name, @country, @subdivision, @url, @twitter)
ON CONFLICT (space_id, code) DO UPDATE SET icpc_id = excluded.icpc_id, name = excluded.name, formal_name = excluded.formal_name,
  country = excluded.country, subdivision = excluded.subdivision, url = excluded.url, twitter = excluded.twitter;

-- name: OrganizationRemove :execrows
DELETE FROM organizations WHERE space_id = @space_id AND code = @code;

-- name: TeamGroupList :many
SELECT g.* FROM team_groups g JOIN spaces s ON s.id = g.space_id WHERE s.slug = @space AND g.code > @after ORDER BY g.code LIMIT @max::integer;

-- name: TeamGroupPut :batchexec
INSERT INTO team_groups (space_id, code, icpc_id, name, type, ranked, sort) VALUES (@space_id, @code, @icpc_id, @name, @type, @ranked, @sort)
ON CONFLICT (space_id, code) DO UPDATE SET icpc_id = excluded.icpc_id, name = excluded.name, type = excluded.type, ranked = excluded.ranked,
  sort = excluded.sort;

-- name: TeamGroupRemove :execrows
DELETE FROM team_groups WHERE space_id = @space_id AND code = @code;

-- name: ParticipantList :many
-- Those who stand for a member in the round that follows the space are found by their code alone.
SELECT p.*, coalesce(o.code, '')::text AS organization,
  ARRAY(SELECT g.code FROM participant_groups pg JOIN team_groups g ON g.id = pg.group_id WHERE pg.participant_id = p.id ORDER BY g.code)::text[] AS groups,
  ARRAY(SELECT m.user_name FROM participant_members m WHERE m.participant_id = p.id ORDER BY m.user_name)::text[] AS users,
  ARRAY(SELECT m.role FROM participant_members m WHERE m.participant_id = p.id ORDER BY m.user_name)::text[] AS roles
FROM participants p JOIN spaces s ON s.id = p.space_id LEFT JOIN organizations o ON o.id = p.organization_id
WHERE s.slug = @space AND p.code > @after AND (@code::text = '' AND p.follows IS NULL OR p.code = @code) ORDER BY p.code LIMIT @max::integer;

-- name: ParticipantKnown :one
-- Which of some codes and names a space, or the installation, does not have; and which codes are those of members.
SELECT
  ARRAY(SELECT t.c FROM unnest(@organizations::text[]) AS t(c) WHERE t.c <> '' AND NOT EXISTS (SELECT 1 FROM organizations o WHERE o.space_id = @space_id AND o.code = t.c) ORDER BY 1)::text[] AS organizations,
  ARRAY(SELECT t.c FROM unnest(@groups::text[]) AS t(c) WHERE NOT EXISTS (SELECT 1 FROM team_groups g WHERE g.space_id = @space_id AND g.code = t.c) ORDER BY 1)::text[] AS groups,
  ARRAY(SELECT t.c FROM unnest(@users::text[]) AS t(c) WHERE NOT EXISTS (SELECT 1 FROM users u WHERE u.name = t.c) ORDER BY 1)::text[] AS users,
  ARRAY(SELECT p.code FROM participants p WHERE p.space_id = @space_id AND p.code = ANY (@codes::text[]) AND p.follows IS NOT NULL ORDER BY 1)::text[] AS members;

-- name: ParticipantTaken :many
-- Contestants of some participants who are contestants of others.
SELECT m.user_name, p.code FROM participant_members m JOIN participants p ON p.id = m.participant_id
WHERE m.space_id = @space_id AND m.role = 'contestant' AND m.user_name = ANY (@users::text[]) AND p.code <> ALL (@codes::text[])
ORDER BY m.user_name;

-- name: ParticipantPut :batchone
INSERT INTO participants (space_id, code, icpc_id, label, name, display_name, organization_id, room, ranked, hidden, status, reason)
VALUES (@space_id, @code, @icpc_id, @label, @name, @display_name,
  (SELECT o.id FROM organizations o WHERE o.space_id = @space_id AND o.code = @organization::text), @room, @ranked, @hidden, @status, @reason)
ON CONFLICT (space_id, code) DO UPDATE SET icpc_id = excluded.icpc_id, label = excluded.label, name = excluded.name, display_name = excluded.display_name,
  organization_id = excluded.organization_id, room = excluded.room, ranked = excluded.ranked, hidden = excluded.hidden, status = excluded.status,
  reason = excluded.reason
RETURNING id;

-- name: ParticipantApart :exec
-- Takes members and groups from participants, before they get new ones.
WITH members AS (DELETE FROM participant_members WHERE participant_id = ANY (@ids::bigint[]))
DELETE FROM participant_groups WHERE participant_id = ANY (@ids::bigint[]);

-- name: ParticipantTogether :exec
-- Gives participants members and groups, as lists of equal length. Whoever joins is a member of the space.
WITH given AS (
  SELECT unnest(@member_of::bigint[]) AS participant_id, unnest(@users::text[]) AS user_name, unnest(@roles::text[]) AS role),
space AS (
  INSERT INTO space_members (space_id, user_name, role) SELECT DISTINCT @space_id::bigint, user_name, 'contestant' FROM given WHERE role = 'contestant'
  ON CONFLICT DO NOTHING),
members AS (
  INSERT INTO participant_members (participant_id, space_id, user_name, role) SELECT participant_id, @space_id, user_name, role FROM given)
INSERT INTO participant_groups (participant_id, group_id)
SELECT t.participant_id, g.id FROM (SELECT unnest(@group_of::bigint[]) AS participant_id, unnest(@groups::text[]) AS code) t
JOIN team_groups g ON g.space_id = @space_id AND g.code = t.code;

-- name: ParticipantRemove :one
-- Only one who has handed nothing in, and stands for no member.
WITH gone AS (
  DELETE FROM participants p WHERE p.space_id = @space_id AND p.code = @code AND p.follows IS NULL
    AND NOT EXISTS (SELECT 1 FROM job_payloads j WHERE j.participant_id = p.id) RETURNING p.code)
SELECT EXISTS (SELECT 1 FROM participants p WHERE p.space_id = @space_id AND p.code = @code)::boolean AS found, EXISTS (SELECT 1 FROM gone)::boolean AS done;

-- name: ParticipantMate :one
-- Whether somebody hands in as a participant.
SELECT EXISTS (SELECT 1 FROM participant_members m WHERE m.participant_id = @participant AND m.user_name = @user_name AND m.role = 'contestant')::boolean AS mate;
