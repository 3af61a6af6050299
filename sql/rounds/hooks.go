package rounds

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"deepoj/host/judge"
	"deepoj/sql/internal/dbsqlc"
	"deepoj/sql/internal/pg"
)

// Hook is an address that is told what the feeds of contests tell.
type Hook struct {
	ID, Owner string
	Key       int64  // that made it, and without which it is told nothing; 0 = its owner did
	Version   string // the release of the API
	URL       string
	Token     string   // by which the receiver knows who calls; empty where hooks are listed
	Endpoints []string // empty = all
	Contests  []string // codes of rounds; empty = all
	Active    bool
}

// DueHook is a hook that there is something for.
type DueHook struct {
	Hook
	Scope judge.Scope // what its key may do; "" = all that its owner may
	Lease time.Time   // until when nobody else takes it
	Round int64
	Code  string        // of the round
	Last  int64         // line of its log
	Seq   int64         // the last line of its log that the hook was told, or did not want
	Tries int           // that failed, one after the other
	For   time.Duration // since the first of those
}

// CreateHook adds one, which is told what comes from now on. It returns ErrInUse if its owner has most already.
func (s *Store) CreateHook(ctx context.Context, h Hook, most int) error {
	n, err := s.q.HookCreate(ctx, s.db.Main, dbsqlc.HookCreateParams{
		ID: h.ID, KeyID: h.Key, Version: h.Version, Url: h.URL, Token: h.Token, Endpoints: h.Endpoints, Contests: h.Contests, Owner: h.Owner, Most: int32(most),
	})
	if err == nil && n == 0 {
		err = pg.ErrInUse
	}
	if err != nil {
		return fmt.Errorf("create a hook of %s: %w", h.Owner, err)
	}
	return nil
}

// Hooks returns those of an owner, or of everybody (""), or one of them.
func (s *Store) Hooks(ctx context.Context, owner, id string, limit int) ([]Hook, error) {
	found, err := s.q.HookList(ctx, s.db.Main, dbsqlc.HookListParams{Owner: owner, ID: id, Max: pg.Bounded(limit)})
	if err != nil {
		return nil, fmt.Errorf("list hooks: %w", err)
	}
	out := make([]Hook, len(found))
	for i, v := range found {
		out[i] = Hook{ID: v.ID, Owner: v.Owner, Version: v.Version, URL: v.Url, Endpoints: v.Endpoints, Contests: v.Contests, Active: v.Active}
	}
	return out, nil
}

// DeleteHook removes one of an owner, or of anybody (""); ErrNotFound.
func (s *Store) DeleteHook(ctx context.Context, owner, id, by string) error {
	n, err := s.q.HookDelete(ctx, s.db.Main, dbsqlc.HookDeleteParams{By: by, ID: id, Owner: owner})
	if err == nil && n == 0 {
		err = pg.ErrNotFound
	}
	if err != nil {
		return fmt.Errorf("delete hook %s: %w", id, err)
	}
	return nil
}

// TakeHook takes a hook that there is something for, which nobody else takes for as long as the lease; nil = there is none.
func (s *Store) TakeHook(ctx context.Context, lease time.Duration) (*DueHook, error) {
	v, err := s.q.HookDue(ctx, s.db.Main, lease.Seconds())
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil //nolint:nilnil // nothing is due
	}
	if err != nil {
		return nil, fmt.Errorf("take a hook: %w", err)
	}
	d := &DueHook{
		Hook:  Hook{ID: v.ID, Owner: v.Owner, Version: v.Version, URL: v.Url, Token: v.Token, Endpoints: v.Endpoints, Active: true},
		Scope: judge.Scope(v.Scope), Round: v.RoundID, Code: v.Code, Last: v.Last, Seq: v.Seq, Tries: int(v.Failures),
	}
	if v.LeasedUntil != nil {
		d.Lease = *v.LeasedUntil
	}
	if v.FailingSince != nil {
		d.For = v.Now.Sub(*v.FailingSince)
	}
	return d, nil
}

// HookTaken notes that a hook was told of a log up to a line, or did not want it.
func (s *Store) HookTaken(ctx context.Context, d *DueHook, seq int64) error {
	if _, err := s.q.HookTaken(ctx, s.db.Main, dbsqlc.HookTakenParams{ID: d.ID, RoundID: d.Round, Seq: seq, LeasedUntil: d.Lease}); err != nil {
		return fmt.Errorf("note what hook %s was told: %w", d.ID, err)
	}
	return nil
}

// HookFailed has a hook tried again after a time, or no more.
func (s *Store) HookFailed(ctx context.Context, d *DueHook, wait time.Duration, disable bool) error {
	if err := s.q.HookFailed(ctx, s.db.Main, dbsqlc.HookFailedParams{WaitS: wait.Seconds(), Disable: disable, ID: d.ID, LeasedUntil: d.Lease}); err != nil {
		return fmt.Errorf("note that hook %s failed: %w", d.ID, err)
	}
	return nil
}
