-- name: SnapshotPut :one
-- The one of the newest line stays, and of the same line the first. Whether that is another is the answer.
WITH put AS (
  INSERT INTO contest_snapshots (round_id, view, seq, digest) VALUES (@round_id, @view, @seq, @digest)
  ON CONFLICT (round_id, view) DO UPDATE SET seq = excluded.seq, digest = excluded.digest, at = now() WHERE contest_snapshots.seq < excluded.seq)
SELECT EXISTS (SELECT FROM contest_snapshots s WHERE s.round_id = @round_id AND s.view = @view AND s.seq = @seq AND s.digest <> @digest)::boolean AS other;

-- name: SnapshotList :many
SELECT view, seq, digest, at FROM contest_snapshots WHERE round_id = @round_id ORDER BY view;
