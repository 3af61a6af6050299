package sql

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"deepoj/host/judge"
	"deepoj/sql/internal/dbsqlc"
	"deepoj/sql/internal/pg"
)

// CreateKey stores a key of a user by the hash of its secret, and returns it with
// its id. It returns [ErrNotFound] if there is no such user, or they are disabled.
func (s *Site) CreateKey(ctx context.Context, k judge.Key, secretHash, by string) (judge.Key, error) {
	made, err := s.q.KeyCreate(ctx, s.main, dbsqlc.KeyCreateParams{
		KeyHash: secretHash, UserName: k.User, Label: k.Label, Scope: string(k.Scope), ExpiresAt: k.Expires, By: by,
	})
	if errors.Is(err, pgx.ErrNoRows) {
		err = ErrNotFound
	}
	if err != nil {
		return judge.Key{}, fmt.Errorf("create a key of %s: %w", k.User, err)
	}
	k.ID, k.Created = made.ID, made.CreatedAt
	return k, nil
}

// KeyOwner returns whose key has this hash, and the key's id and scope. It returns [ErrNotFound] if there is none, or
// it has expired or was revoked, or its owner may not log in. The use is noted.
func (s *Site) KeyOwner(ctx context.Context, secretHash string) (*judge.User, judge.Key, error) {
	k, err := s.q.KeyUser(ctx, s.main, secretHash)
	if errors.Is(err, pgx.ErrNoRows) {
		err = ErrNotFound
	}
	if err != nil {
		return nil, judge.Key{}, fmt.Errorf("key: %w", err)
	}
	return &judge.User{Name: k.Name, Role: judge.Role(k.Role), Created: k.CreatedAt}, judge.Key{ID: k.ID, User: k.Name, Scope: judge.Scope(k.Scope)}, nil
}

// Keys returns keys of a user with an id below before (0 = no bound), newest first.
func (s *Site) Keys(ctx context.Context, user string, before int64, limit int) ([]judge.Key, error) {
	found, err := s.q.KeyList(ctx, s.main, dbsqlc.KeyListParams{UserName: user, Before: orMax(before), Max: pg.Bounded(limit)})
	if err != nil {
		return nil, fmt.Errorf("list keys of %s: %w", user, err)
	}
	out := make([]judge.Key, len(found))
	for i, k := range found {
		out[i] = judge.Key{
			ID: k.ID, User: k.UserName, Label: k.Label, Scope: judge.Scope(k.Scope),
			Created: k.CreatedAt, Expires: k.ExpiresAt, LastUsed: k.LastUsedAt, Revoked: k.RevokedAt,
		}
	}
	return out, nil
}

// RevokeKey has a key refused from now on. It returns [ErrNotFound] if there is no such key, or, unless user is "", if
// it is not that user's. Revoking it again changes nothing.
func (s *Site) RevokeKey(ctx context.Context, id int64, user, by string) error {
	_, err := s.q.KeyRevoke(ctx, s.main, dbsqlc.KeyRevokeParams{ID: id, UserName: user, By: by})
	if errors.Is(err, pgx.ErrNoRows) {
		err = ErrNotFound
	}
	if err != nil {
		return fmt.Errorf("revoke key %d: %w", id, err)
	}
	return nil
}
