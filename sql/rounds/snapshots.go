package rounds

import (
	"context"
	"encoding/hex"
	"fmt"

	"deepoj/host/judge"
	"deepoj/sql/internal/dbsqlc"
)

// KeepSnapshot keeps what a board was when it was shown, unless there is one of the same line of the log or a later one. It reports
// whether there is one of the same line that says something else.
func (s *Store) KeepSnapshot(ctx context.Context, round int64, view string, seq int64, digest []byte) (other bool, err error) {
	other, err = s.q.SnapshotPut(ctx, s.db.Main, dbsqlc.SnapshotPutParams{RoundID: round, View: view, Seq: seq, Digest: digest})
	if err != nil {
		return false, fmt.Errorf("keep a snapshot of round %d: %w", round, err)
	}
	return other, nil
}

// Snapshots returns what the boards of a round were when they were last shown.
func (s *Store) Snapshots(ctx context.Context, round int64) ([]judge.BoardSnapshot, error) {
	found, err := s.q.SnapshotList(ctx, s.db.Main, round)
	if err != nil {
		return nil, fmt.Errorf("list snapshots of round %d: %w", round, err)
	}
	out := make([]judge.BoardSnapshot, len(found))
	for i, v := range found {
		out[i] = judge.BoardSnapshot{View: v.View, Seq: v.Seq, Digest: hex.EncodeToString(v.Digest), At: v.At}
	}
	return out, nil
}
