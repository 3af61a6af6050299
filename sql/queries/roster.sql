-- name: RosterAccounts :many
-- Those that have one of the names or addresses.
SELECT name, display_name, coalesce(email, '')::text AS email FROM users
WHERE name = ANY (@names::text[]) OR email = ANY (@emails::text[]);

-- name: RosterMembers :many
SELECT s.slug, m.user_name, m.role FROM space_members m JOIN spaces s ON s.id = m.space_id
WHERE s.slug = ANY (@spaces::text[]) AND m.user_name = ANY (@names::text[]);

-- name: RosterSpaces :many
SELECT slug FROM spaces WHERE slug = ANY (@spaces::text[]);

-- name: RosterMake :many
INSERT INTO users (name, password_hash, role, one_time, display_name, email)
SELECT (@names::text[])[n]::text, (@hashes::text[])[n]::text, 'contestant', (@one_times::boolean[])[n]::boolean, (@display_names::text[])[n]::text, nullif((@emails::text[])[n]::text, '')
FROM generate_series(1, cardinality(@names::text[])) AS t(n)
ON CONFLICT (name) DO NOTHING RETURNING name;

-- name: RosterFill :execrows
-- Gives accounts what they lack, and changes nothing that they have.
UPDATE users u SET display_name = CASE WHEN u.display_name = '' THEN g.display_name ELSE u.display_name END, email = coalesce(u.email, nullif(g.email, ''))
FROM (SELECT (@names::text[])[n]::text AS name, (@display_names::text[])[n]::text AS display_name, (@emails::text[])[n]::text AS email
      FROM generate_series(1, cardinality(@names::text[])) AS t(n)) g
WHERE u.name = g.name AND (u.display_name = '' AND g.display_name <> '' OR u.email IS NULL AND g.email <> '');

-- name: RosterJoin :execrows
-- Who is a member already keeps the role.
INSERT INTO space_members (space_id, user_name, role)
SELECT s.id, (@names::text[])[n]::text, (@roles::text[])[n]::text
FROM generate_series(1, cardinality(@names::text[])) AS t(n) JOIN spaces s ON s.slug = (@spaces::text[])[n]::text
ON CONFLICT (space_id, user_name) DO NOTHING;

-- name: RosterInvite :exec
INSERT INTO letters (kind, asked, user_name, language) SELECT 'invite', name, name, @language FROM unnest(@names::text[]) AS t(name);

-- name: RosterLog :exec
INSERT INTO audit_log (actor, action, subject, detail) VALUES (@by, 'user_import', @subject, @detail);
