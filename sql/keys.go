package sql

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"deepoj/sql/internal/dbsqlc"
)

// Scope is what a key may do: never more than its owner.
type Scope string

// The scopes. Each may do what those before it may.
const (
	ScopeRead   Scope = "read"   // look at what a contestant sees
	ScopeSubmit Scope = "submit" // all that a contestant may
	ScopeSetter Scope = "setter"
	ScopeStaff  Scope = "staff"
	ScopeAdmin  Scope = "admin"
)

// Scopes lists every scope.
var Scopes = []Scope{ScopeRead, ScopeSubmit, ScopeSetter, ScopeStaff, ScopeAdmin}

// Role returns the most that a key of this scope may be used as.
func (s Scope) Role() Role {
	switch s {
	case ScopeSetter:
		return RoleSetter
	case ScopeStaff:
		return RoleStaff
	case ScopeAdmin:
		return RoleAdmin
	case ScopeRead, ScopeSubmit:
	}
	return RoleContestant
}

// Key is a secret with which programs act for a user. The secret itself is not
// kept.
type Key struct {
	ID       int64
	User     string
	Label    string // what it is for, in its owner's words
	Scope    Scope
	Created  time.Time
	Expires  *time.Time // nil = never
	LastUsed *time.Time // to the minute; nil = never
	Revoked  *time.Time
}

// Works reports whether the key is taken at the time now, as long as its owner may
// log in.
func (k Key) Works(now time.Time) bool {
	return k.Revoked == nil && (k.Expires == nil || now.Before(*k.Expires))
}

// CreateKey stores a key of a user by the hash of its secret, and returns it with
// its id. It returns [ErrNotFound] if there is no such user, or they are disabled.
func (s *Store) CreateKey(ctx context.Context, k Key, secretHash, by string) (Key, error) {
	made, err := s.q.KeyCreate(ctx, s.main, dbsqlc.KeyCreateParams{
		KeyHash: secretHash, UserName: k.User, Label: k.Label, Scope: string(k.Scope), ExpiresAt: k.Expires, By: by,
	})
	if errors.Is(err, pgx.ErrNoRows) {
		err = ErrNotFound
	}
	if err != nil {
		return Key{}, fmt.Errorf("create a key of %s: %w", k.User, err)
	}
	k.ID, k.Created = made.ID, made.CreatedAt
	return k, nil
}

// KeyOwner returns whose key has this hash, and the key's id and scope. It returns
// [ErrNotFound] if there is none, or it has expired or was revoked, or its owner
// may not log in. The use is noted.
func (s *Store) KeyOwner(ctx context.Context, secretHash string) (*User, Key, error) {
	k, err := s.q.KeyUser(ctx, s.main, secretHash)
	if errors.Is(err, pgx.ErrNoRows) {
		err = ErrNotFound
	}
	if err != nil {
		return nil, Key{}, fmt.Errorf("key: %w", err)
	}
	return &User{Name: k.Name, Role: Role(k.Role), Created: k.CreatedAt}, Key{ID: k.ID, User: k.Name, Scope: Scope(k.Scope)}, nil
}

// Keys returns keys of a user with an id below before (0 = no bound), newest
// first.
func (s *Store) Keys(ctx context.Context, user string, before int64, limit int) ([]Key, error) {
	found, err := s.q.KeyList(ctx, s.main, dbsqlc.KeyListParams{UserName: user, Before: orMax(before), Max: bounded(limit)})
	if err != nil {
		return nil, fmt.Errorf("list keys of %s: %w", user, err)
	}
	out := make([]Key, len(found))
	for i, k := range found {
		out[i] = Key{
			ID: k.ID, User: k.UserName, Label: k.Label, Scope: Scope(k.Scope),
			Created: k.CreatedAt, Expires: k.ExpiresAt, LastUsed: k.LastUsedAt, Revoked: k.RevokedAt,
		}
	}
	return out, nil
}

// RevokeKey has a key refused from now on. It returns [ErrNotFound] if there is no
// such key, or, unless user is "", if it is not that user's. Revoking it again
// changes nothing.
func (s *Store) RevokeKey(ctx context.Context, id int64, user, by string) error {
	_, err := s.q.KeyRevoke(ctx, s.main, dbsqlc.KeyRevokeParams{ID: id, UserName: user, By: by})
	if errors.Is(err, pgx.ErrNoRows) {
		err = ErrNotFound
	}
	if err != nil {
		return fmt.Errorf("revoke key %d: %w", id, err)
	}
	return nil
}
