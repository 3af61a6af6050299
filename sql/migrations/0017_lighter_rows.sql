-- What PostgreSQL does for a job beside storing it: figures in host/docs/benchmarks.md.

-- A result is read whole, so it stays as it was written.
ALTER TABLE results ALTER COLUMN result TYPE json USING result::json;

-- Numbers that are all different do not become smaller.
ALTER TABLE event_batches SET (toast_tuple_target = 8160);
ALTER TABLE event_batches
  ALTER COLUMN job_ids SET STORAGE EXTERNAL, ALTER COLUMN generations SET STORAGE EXTERNAL, ALTER COLUMN attempts SET STORAGE EXTERNAL,
  ALTER COLUMN verdicts SET STORAGE EXTERNAL, ALTER COLUMN scores SET STORAGE EXTERNAL;

-- What goes with a status, in one condition instead of three.
ALTER TABLE jobs
  DROP CONSTRAINT jobs_lease, DROP CONSTRAINT jobs_done, DROP CONSTRAINT jobs_attempted,
  ADD CONSTRAINT jobs_companions CHECK (
    CASE status
      WHEN 'pending' THEN finished_at IS NULL AND lease_owner IS NULL AND lease_token IS NULL AND lease_until IS NULL
      WHEN 'running' THEN finished_at IS NULL AND lease_owner IS NOT NULL AND lease_token IS NOT NULL AND lease_until IS NOT NULL
        AND attempt_id > 0 AND started_at IS NOT NULL
      ELSE finished_at IS NOT NULL AND lease_owner IS NULL AND lease_token IS NULL AND lease_until IS NULL
        AND (status <> 'finished' OR (attempt_id > 0 AND started_at IS NOT NULL)) END);

-- The same moves as before, without making a text of each.
DROP TRIGGER jobs_moves ON jobs;
CREATE TRIGGER jobs_moves AFTER UPDATE OF status, attempt_id, generation ON jobs FOR EACH ROW
WHEN (NEW.attempt_id < OLD.attempt_id OR NEW.generation < OLD.generation
  OR (OLD.status <> NEW.status AND CASE OLD.status
    WHEN 'pending' THEN NEW.status NOT IN ('running', 'cancelled', 'dead')
    WHEN 'running' THEN NEW.status NOT IN ('finished', 'pending', 'cancelled', 'dead')
    ELSE NEW.status <> 'pending' END)
  OR (OLD.status <> 'running' AND NEW.status = 'running' AND NEW.attempt_id = OLD.attempt_id))
EXECUTE FUNCTION jobs_refuse_move();
