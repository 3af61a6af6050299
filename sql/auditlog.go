package sql

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"deepoj/sql/internal/dbsqlc"
	"deepoj/sql/internal/pg"
)

// AuditEntry is a privileged act as the audit log keeps it.
type AuditEntry struct {
	ID      int64
	At      time.Time
	Actor   string
	Action  string          // such as "user_disable"
	Subject string          // a kind and a name, such as "user:ann"
	Detail  json.RawMessage // nil where there is none
}

// AuditFilter chooses entries of the audit log. Zero fields do not restrict.
type AuditFilter struct {
	Actor, Action string
	Subject       string // "user:ann", or "user:" for all of its kind
	Before        int64  // only ids below this: the cursor
	Limit         int    // 1 to 200; 0 = 50
}

// AuditLog returns the entries that f chooses, newest first.
func (s *Site) AuditLog(ctx context.Context, f AuditFilter) ([]AuditEntry, error) {
	found, err := s.q.AuditLogList(ctx, planned{s.main}, dbsqlc.AuditLogListParams{
		Before: orMax(f.Before), Actor: f.Actor, Action: f.Action, Subject: f.Subject, Max: pg.Bounded(f.Limit),
	})
	if err != nil {
		return nil, fmt.Errorf("list the audit log: %w", err)
	}
	out := make([]AuditEntry, len(found))
	for i, e := range found {
		out[i] = AuditEntry{ID: e.ID, At: e.At, Actor: e.Actor, Action: e.Action, Subject: e.Subject, Detail: e.Detail}
	}
	return out, nil
}

// AuditNote records a privileged act in the audit log.
func (s *Site) AuditNote(ctx context.Context, actor, action, subject string, detail any) error {
	var data []byte
	if detail != nil {
		var err error
		if data, err = pg.Encode(detail); err != nil {
			return fmt.Errorf("audit %s of %s: %w", action, subject, err)
		}
	}
	err := s.q.AuditLogAdd(ctx, s.main, dbsqlc.AuditLogAddParams{Actor: actor, Action: action, Subject: subject, Detail: data})
	if err != nil {
		return fmt.Errorf("audit %s of %s: %w", action, subject, err)
	}
	return nil
}
