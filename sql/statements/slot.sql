-- name: FeedSlots
-- What the server keeps for change feeds of this database.
WITH here AS (SELECT CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_lsn() END AS lsn)
SELECT s.slot_name::text, s.active, coalesce(s.wal_status, ''), coalesce(s.confirmed_flush_lsn::text, ''),
  coalesce(greatest(pg_wal_lsn_diff(here.lsn, s.confirmed_flush_lsn), 0), 0)::bigint,
  coalesce(greatest(pg_wal_lsn_diff(here.lsn, s.restart_lsn), 0), 0)::bigint,
  s.safe_wal_size
FROM pg_replication_slots s, here
WHERE s.slot_type = 'logical' AND s.plugin = 'pgoutput' AND s.database = current_database() AND NOT s.temporary
ORDER BY s.slot_name;
