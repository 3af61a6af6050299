-- A claim changes indexed columns of the queue row, so it pays for every index
-- that holds one. How many jobs of a group are under way is counted from the
-- timer's index, which holds no more than are under way in all; and only jobs of
-- lifo queues need to be found by group.
DROP INDEX outbox_events_group;
DROP INDEX outbox_events_newest;
ALTER TABLE outbox_events ADD COLUMN lifo boolean NOT NULL DEFAULT false; -- as its queue
UPDATE outbox_events SET lifo = true WHERE queue IN (SELECT name FROM queues WHERE ordering = 'lifo');
CREATE INDEX outbox_events_newest ON outbox_events (queue, pool, group_key, job_id)
  WHERE lifo AND state = 'R' AND lane = 2 AND priority = 0 AND delayed_at IS NULL;

CREATE FUNCTION queues_reorder() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE outbox_events SET lifo = NOT lifo WHERE queue = NEW.name AND lifo <> (NEW.ordering = 'lifo');
  RETURN NULL;
END $$;
CREATE TRIGGER queues_reorder AFTER UPDATE OF ordering ON queues FOR EACH ROW
WHEN (OLD.ordering <> NEW.ordering) EXECUTE FUNCTION queues_reorder();
