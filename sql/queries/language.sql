-- name: LanguagesOffer :exec
-- A worker is able to judge these. Workers say so again and again, and a row is
-- written when there is something new to say.
INSERT INTO languages (id, info)
SELECT l ->> 'id', l FROM jsonb_array_elements(@languages::jsonb) AS l ORDER BY l ->> 'id'
ON CONFLICT (id) DO UPDATE SET info = excluded.info, seen_at = now()
WHERE languages.info -> 'name' IS DISTINCT FROM excluded.info -> 'name'
  OR languages.info -> 'extensions' IS DISTINCT FROM excluded.info -> 'extensions'
  OR languages.info -> 'editor' IS DISTINCT FROM excluded.info -> 'editor'
  OR languages.seen_at < now() - interval '1 hour';

-- name: LanguageList :many
SELECT info, withdrawn FROM languages ORDER BY id;

-- name: LanguageWithdraw :one
-- Takes a language off the list, or puts it back.
WITH known AS MATERIALIZED (SELECT languages.id, languages.withdrawn FROM languages WHERE languages.id = @id FOR UPDATE),
changed AS (
  UPDATE languages l SET withdrawn = @withdrawn::boolean FROM known k WHERE l.id = k.id AND k.withdrawn <> @withdrawn RETURNING l.id AS language),
log AS (
  INSERT INTO audit_log (actor, action, subject)
  SELECT @by::text, CASE WHEN @withdrawn THEN 'language_withdraw' ELSE 'language_offer' END, 'language:' || language FROM changed)
SELECT count(*) AS found FROM known;
