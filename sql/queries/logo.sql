-- name: LogoPut :one
-- Keeps a logo of an organization, in the place of one of that name; no more than there may be.
WITH o AS (SELECT o.id FROM organizations o WHERE o.space_id = @space_id AND o.code = @code),
kept AS (
  INSERT INTO organization_logos (organization_id, name, media, width, height, hash, data)
  SELECT o.id, @name, @media, @width, @height, @hash, @data FROM o
  WHERE (SELECT count(*) FROM organization_logos l WHERE l.organization_id = o.id AND l.name <> @name) < @most::integer
  ON CONFLICT (organization_id, name) DO UPDATE SET media = excluded.media, width = excluded.width, height = excluded.height, hash = excluded.hash, data = excluded.data
  RETURNING 1)
SELECT EXISTS (SELECT 1 FROM o)::boolean AS found, EXISTS (SELECT 1 FROM kept)::boolean AS kept;

-- name: LogosRemove :execrows
DELETE FROM organization_logos l USING organizations o WHERE o.id = l.organization_id AND o.space_id = @space_id AND o.code = @code;

-- name: LogoGet :one
SELECT l.media, l.hash, l.data FROM organization_logos l JOIN organizations o ON o.id = l.organization_id
WHERE o.space_id = @space_id AND o.code = @code AND l.name = @name;

-- name: LogoList :many
-- The logos of a space, without the pictures.
SELECT o.code, l.name, l.media, l.width, l.height, l.hash FROM organization_logos l JOIN organizations o ON o.id = l.organization_id
WHERE o.space_id = @space_id ORDER BY o.code, l.name;
