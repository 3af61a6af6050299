-- name: InvitationMake :one
WITH made AS (
  INSERT INTO space_invitations (token_hash, space_id, label, created_by, expires_at, most)
  VALUES (@token_hash, @space_id, @label, @by, @expires_at, @most) RETURNING id, space_id, created_at, expires_at),
log AS (
  INSERT INTO audit_log (actor, action, subject, detail)
  SELECT @by, 'space_invite', 'space:' || s.slug, jsonb_build_object('invitation', m.id, 'label', @label::text, 'most', @most::integer, 'expires_at', m.expires_at)
  FROM made m JOIN spaces s ON s.id = m.space_id)
SELECT id, created_at FROM made;

-- name: InvitationList :many
SELECT id, label, created_by, created_at, expires_at, most, used, revoked_at, (expires_at > now() AND used < most AND revoked_at IS NULL)::boolean AS works
FROM space_invitations WHERE space_id = @space_id ORDER BY id DESC LIMIT @max::integer;

-- name: InvitationRevoke :execrows
WITH was AS (
  UPDATE space_invitations i SET revoked_at = coalesce(i.revoked_at, now()) WHERE i.id = @id AND i.space_id = @space_id RETURNING i.id, i.space_id)
INSERT INTO audit_log (actor, action, subject, detail)
SELECT @by::text, 'space_uninvite', 'space:' || s.slug, jsonb_build_object('invitation', w.id) FROM was w JOIN spaces s ON s.id = w.space_id;

-- name: InvitationGet :one
SELECT i.id, s.slug, s.title FROM space_invitations i JOIN spaces s ON s.id = i.space_id
WHERE i.token_hash = @token_hash AND i.expires_at > now() AND i.used < i.most AND i.revoked_at IS NULL;

-- name: InvitationUse :one
-- Makes somebody a contestant of the space. Who is a member already stays what they
-- are, and uses nothing up.
WITH open AS MATERIALIZED (
  SELECT i.id, i.space_id FROM space_invitations i WHERE i.id = @id AND i.expires_at > now() AND i.used < i.most AND i.revoked_at IS NULL FOR UPDATE),
joined AS (
  INSERT INTO space_members (space_id, user_name, role) SELECT o.space_id, @user_name, 'contestant' FROM open o
  ON CONFLICT (space_id, user_name) DO NOTHING RETURNING space_id),
counted AS (UPDATE space_invitations i SET used = i.used + 1 FROM joined j, open o WHERE i.id = o.id),
log AS (
  INSERT INTO audit_log (actor, action, subject, detail)
  SELECT @user_name, 'space_join', 'space:' || s.slug, jsonb_build_object('invitation', @id::bigint) FROM joined j JOIN spaces s ON s.id = j.space_id)
SELECT s.slug FROM open o JOIN spaces s ON s.id = o.space_id;
