-- Dispatchers of one queue share its groups out among themselves. The shard of a
-- job is a hash of its group, so it needs no column.

ALTER TABLE outbox_events DROP COLUMN shard;

CREATE TABLE dispatchers (
  queue      text NOT NULL,
  pool       text NOT NULL,
  name       text NOT NULL,
  seen_until timestamptz NOT NULL,
  PRIMARY KEY (queue, pool, name)
);

CREATE TABLE outbox_shards (
  queue      text NOT NULL,
  pool       text NOT NULL,
  shard      integer NOT NULL CHECK (shard >= 0),
  lock_owner text,
  lock_until timestamptz,
  PRIMARY KEY (queue, pool, shard),
  CONSTRAINT outbox_shards_lock CHECK ((lock_owner IS NULL) = (lock_until IS NULL))
);
