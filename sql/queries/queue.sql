-- name: QueueSave :exec
INSERT INTO queues (name, paused, ordering, max_wait, spacing, redeliver, max_tries, group_limit, max_backlog)
VALUES (@name, @paused, @ordering, @max_wait, @spacing, @redeliver, @max_tries, @group_limit, @max_backlog)
ON CONFLICT (name) DO UPDATE SET paused = excluded.paused, ordering = excluded.ordering, max_wait = excluded.max_wait, spacing = excluded.spacing,
  redeliver = excluded.redeliver, max_tries = excluded.max_tries, group_limit = excluded.group_limit, max_backlog = excluded.max_backlog;

-- name: QueueList :many
SELECT name, paused, ordering, extract(epoch FROM max_wait)::double precision AS max_wait, extract(epoch FROM spacing)::double precision AS spacing,
  extract(epoch FROM redeliver)::double precision AS redeliver, max_tries, group_limit, max_backlog
FROM queues ORDER BY name;
