-- min_binary: 17
-- When the owner of a session last proved who they are, so that acts which give or
-- take away power can ask for it again; and logs without secrets.

ALTER TABLE sessions ADD COLUMN proved_at timestamptz;    -- NULL = never here: a provider vouches for them, or the session is older than this column

-- A login at a provider that only proves again who has a session.
ALTER TABLE oidc_logins
  ADD COLUMN proves text NOT NULL DEFAULT '',             -- hash of the session's token; '' = it opens one
  ADD COLUMN act    text NOT NULL DEFAULT '',             -- address of the form that waits for the proof
  ADD COLUMN form   text NOT NULL DEFAULT '';             -- and what was filled in, as a browser encodes it

-- The path of a webhook's address may hold a secret word.
UPDATE audit_log SET detail = (detail - 'url') || jsonb_build_object('host', substring(detail->>'url' FROM '^[A-Za-z]+://([^/?#]*)'))
WHERE action = 'webhook_create' AND detail ? 'url';
