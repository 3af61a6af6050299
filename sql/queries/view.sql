-- name: AuditLogAdd :exec
INSERT INTO audit_log (actor, action, subject, detail) VALUES (@actor, @action, @subject, @detail);

-- name: AuditLogList :many
-- Newest first. A subject without a name behind its colon stands for all of its
-- kind.
SELECT id, at, actor, action, subject, detail FROM audit_log
WHERE id < @before AND (@actor::text = '' OR actor = @actor) AND (@action::text = '' OR action = @action)
  AND (@subject::text = '' OR subject = @subject OR right(@subject, 1) = ':' AND starts_with(subject, @subject))
ORDER BY id DESC LIMIT @max::integer;
