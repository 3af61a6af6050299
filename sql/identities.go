package sql

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"deepoj/host/judge"
	"deepoj/sql/internal/dbsqlc"
)

// IdentityUser returns the account of an identity, or [ErrNotFound].
func (s *Store) IdentityUser(ctx context.Context, id judge.Identity) (*judge.User, error) {
	u, err := s.q.IdentityUser(ctx, s.main, dbsqlc.IdentityUserParams{Issuer: id.Issuer, Subject: id.Subject})
	return user(dbsqlc.SessionUserRow(u), "user of an identity", err)
}

// CreateIdentity makes the account of a contestant for an identity. It returns
// [ErrExists] if the name is taken, or the identity has an account by now.
func (s *Store) CreateIdentity(ctx context.Context, id judge.Identity, name, passwordHash string) error {
	n, err := s.q.IdentityCreate(ctx, s.main, dbsqlc.IdentityCreateParams{Name: name, PasswordHash: passwordHash, Issuer: id.Issuer, Subject: id.Subject})
	if e, ok := errors.AsType[*pgconn.PgError](err); ok && e.Code == uniqueViolation || err == nil && n == 0 {
		err = ErrExists
	}
	if err != nil {
		return fmt.Errorf("create user %s for an identity: %w", name, err)
	}
	return nil
}

// IdentityKnown reports whether a user may prove at an issuer who they are.
func (s *Store) IdentityKnown(ctx context.Context, issuer, name string) (bool, error) {
	known, err := s.q.IdentityKnown(ctx, s.main, dbsqlc.IdentityKnownParams{Issuer: issuer, UserName: name})
	if err != nil {
		return false, fmt.Errorf("identity of %s: %w", name, err)
	}
	return known, nil
}

// BegunLogin is a login that goes on when a browser comes back from a provider.
type BegunLogin struct {
	Nonce    string // that the provider has to repeat
	Verifier string // of PKCE (RFC 7636)
	Next     string // where to go on

	// Proves is the hash of a session's token whose owner only proves again who they
	// are; "" = the login opens a session. Act is the address of the form that waits
	// for the proof, and Form what was filled in, as a browser encodes it.
	Proves, Act, Form string
}

// BeginLogin stores a login by the hashes of its state and of what only the browser
// has that begins it.
func (s *Store) BeginLogin(ctx context.Context, stateHash, browserHash string, l BegunLogin, expires time.Time) error {
	err := s.q.LoginBegin(ctx, s.main, dbsqlc.LoginBeginParams{
		StateHash: stateHash, BrowserHash: browserHash, Nonce: l.Nonce, Verifier: l.Verifier, Next: l.Next, Proves: l.Proves, Act: l.Act, Form: l.Form, ExpiresAt: expires,
	})
	if err != nil {
		return fmt.Errorf("begin a login: %w", err)
	}
	return nil
}

// TakeLogin returns a login that was begun, once, or [ErrNotFound].
func (s *Store) TakeLogin(ctx context.Context, stateHash, browserHash string) (BegunLogin, error) {
	l, err := s.q.LoginTake(ctx, s.main, dbsqlc.LoginTakeParams{StateHash: stateHash, BrowserHash: browserHash})
	if errors.Is(err, pgx.ErrNoRows) {
		err = ErrNotFound
	}
	if err != nil {
		return BegunLogin{}, fmt.Errorf("take a login: %w", err)
	}
	return BegunLogin(l), nil
}
