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
	"deepoj/sql/internal/pg"
)

// ErrLastAdmin is returned by a change that would leave nobody who may manage accounts.
var ErrLastAdmin = errors.New("nobody else is an administrator")

// NewUser is an account to be made.
type NewUser struct {
	Name         string
	PasswordHash string
	Role         judge.Role
	OneTime      bool   // the password has to be changed first
	By           string // who makes it, for the audit log
}

// CreateUser adds an account; [ErrExists] if the name is taken.
func (s *Site) CreateUser(ctx context.Context, u NewUser) error {
	n, err := s.q.UserCreate(ctx, s.main, dbsqlc.UserCreateParams{
		Name: u.Name, PasswordHash: u.PasswordHash, Role: string(u.Role), OneTime: u.OneTime, By: pg.OrDefault(u.By, u.Name),
	})
	if err != nil {
		return fmt.Errorf("create user %s: %w", u.Name, err)
	}
	if n == 0 {
		return fmt.Errorf("create user %s: %w", u.Name, ErrExists)
	}
	return nil
}

// ChangePassword replaces the password of a user who knows the old one, and ends their sessions but the one whose
// token's hash is keep. It returns [ErrNotFound] if old is not the hash of their password, or they are disabled.
func (s *Site) ChangePassword(ctx context.Context, name, old, passwordHash, keep string) error {
	n, err := s.q.UserSetPassword(ctx, s.main, dbsqlc.UserSetPasswordParams{Name: name, OldHash: old, PasswordHash: passwordHash, Keep: keep})
	return changed(n, err, "change password of "+name)
}

// ResetPassword gives a user a password that they have to change at their next
// login, and ends their sessions; [ErrNotFound] if there is no such user.
func (s *Site) ResetPassword(ctx context.Context, name, passwordHash, by string) error {
	n, err := s.q.UserResetPassword(ctx, s.main, dbsqlc.UserResetPasswordParams{Name: name, PasswordHash: passwordHash, By: by})
	return changed(n, err, "reset password of "+name)
}

// changed makes an [ErrNotFound] of a statement that changed nothing.
func changed(n int64, err error, what string) error {
	if err == nil && n == 0 {
		err = ErrNotFound
	}
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

// SetRole changes what a user may do, from their next request on. It returns [ErrNotFound], or [ErrLastAdmin].
func (s *Site) SetRole(ctx context.Context, name string, role judge.Role, by string) error {
	return s.changeUser(ctx, dbsqlc.UserChangeParams{Name: name, Role: new(string(role)), By: by})
}

// Disable says whether a user may not log in any more. Their sessions end, and their keys are refused while they are
// disabled. It returns [ErrNotFound], or [ErrLastAdmin].
func (s *Site) Disable(ctx context.Context, name string, disabled bool, by string) error {
	return s.changeUser(ctx, dbsqlc.UserChangeParams{Name: name, Disabled: &disabled, By: by})
}

func (s *Site) changeUser(ctx context.Context, p dbsqlc.UserChangeParams) error {
	done, err := s.q.UserChange(ctx, s.main, p)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		err = ErrNotFound
	case err == nil && !done:
		err = ErrLastAdmin
	}
	if err != nil {
		return fmt.Errorf("change user %s: %w", p.Name, err)
	}
	return nil
}

// User returns an account, or [ErrNotFound].
func (s *Site) User(ctx context.Context, name string) (*judge.User, error) {
	u, err := s.q.UserGet(ctx, s.main, name)
	return user(dbsqlc.SessionUserRow(u), "user "+name, err)
}

// UserFilter chooses accounts. Zero fields do not restrict.
type UserFilter struct {
	Prefix string // of the name
	Role   judge.Role
	After  string // only names behind this one: the cursor
	Limit  int    // 1 to 200; 0 = 50
}

// Users returns the accounts that f chooses, by name.
func (s *Site) Users(ctx context.Context, f UserFilter) ([]judge.User, error) {
	found, err := s.q.UserList(ctx, s.main, dbsqlc.UserListParams{After: f.After, Prefix: f.Prefix, Role: string(f.Role), Max: pg.Bounded(f.Limit)})
	if err != nil {
		return nil, fmt.Errorf("list users: %w", err)
	}
	out := make([]judge.User, len(found))
	for i, u := range found {
		out[i] = judge.User{Name: u.Name, Role: judge.Role(u.Role), Created: u.CreatedAt, Disabled: u.DisabledAt, OneTime: u.OneTime, DisplayName: u.DisplayName, Email: u.Email}
	}
	return out, nil
}

// CountUsers counts the accounts.
func (s *Site) CountUsers(ctx context.Context) (int64, error) {
	n, err := s.q.UserCount(ctx, s.main)
	if err != nil {
		return 0, fmt.Errorf("count users: %w", err)
	}
	return n, nil
}

// SaveSession stores a session of somebody who has just given their password, by the hash of its token. It returns
// [ErrNotFound] if the user was disabled, or their password changed, since u was read.
func (s *Site) SaveSession(ctx context.Context, tokenHash string, u *judge.User, expires time.Time) error {
	return s.saveSession(ctx, tokenHash, u, expires, true)
}

// SaveVouchedSession is SaveSession of somebody whom a provider of OpenID Connect
// vouches for: when they proved there who they are is not known.
func (s *Site) SaveVouchedSession(ctx context.Context, tokenHash string, u *judge.User, expires time.Time) error {
	return s.saveSession(ctx, tokenHash, u, expires, false)
}

func (s *Site) saveSession(ctx context.Context, tokenHash string, u *judge.User, expires time.Time, proved bool) error {
	n, err := s.q.SessionSave(ctx, s.main, dbsqlc.SessionSaveParams{
		TokenHash: tokenHash, UserName: u.Name, PasswordHash: u.PasswordHash, ExpiresAt: expires, Proved: proved,
	})
	return changed(n, err, "save session of "+u.Name)
}

// ProveSession notes that the user of a session proved at a time who they are. It
// returns [ErrNotFound] if the session is not theirs, or has ended.
func (s *Site) ProveSession(ctx context.Context, tokenHash, user string, at time.Time) error {
	n, err := s.q.SessionProve(ctx, s.main, dbsqlc.SessionProveParams{TokenHash: tokenHash, UserName: user, ProvedAt: at})
	return changed(n, err, "prove a session of "+user)
}

// SessionProved returns how long ago the user of a session proved who they are, or [ErrNotFound] if they never did.
func (s *Site) SessionProved(ctx context.Context, tokenHash string) (time.Duration, error) {
	age, err := s.q.SessionProved(ctx, s.main, tokenHash)
	if errors.Is(err, pgx.ErrNoRows) {
		err = ErrNotFound
	}
	if err != nil {
		return 0, fmt.Errorf("proof of a session: %w", err)
	}
	return time.Duration(age * float64(time.Second)), nil
}

// Session returns the user of a session that has not expired or been ended, or [ErrNotFound].
func (s *Site) Session(ctx context.Context, tokenHash string) (*judge.User, error) {
	u, err := s.q.SessionUser(ctx, s.main, tokenHash)
	return user(u, "session", err)
}

// SetReading keeps the language that somebody reads pages in, and whose clock; nil leaves it.
func (s *Site) SetReading(ctx context.Context, name string, language, zone *string) error {
	n, err := s.q.UserReads(ctx, s.main, dbsqlc.UserReadsParams{Name: name, Language: language, Zone: zone})
	return changed(n, err, "change how "+name+" reads")
}

// DeleteSession ends a session.
func (s *Site) DeleteSession(ctx context.Context, tokenHash string) error {
	if err := s.q.SessionDelete(ctx, s.main, tokenHash); err != nil {
		return fmt.Errorf("delete session: %w", err)
	}
	return nil
}

func user(u dbsqlc.SessionUserRow, what string, err error) (*judge.User, error) {
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, fmt.Errorf("%s: %w", what, ErrNotFound)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	return &judge.User{
		Name: u.Name, PasswordHash: u.PasswordHash, Role: judge.Role(u.Role), Created: u.CreatedAt, Disabled: u.DisabledAt, OneTime: u.OneTime,
		DisplayName: u.DisplayName, Email: u.Email,
		Language: u.Language, Zone: u.Zone,
	}, nil
}

// IdentityUser returns the account of an identity, or [ErrNotFound].
func (s *Site) IdentityUser(ctx context.Context, id judge.Identity) (*judge.User, error) {
	u, err := s.q.IdentityUser(ctx, s.main, dbsqlc.IdentityUserParams{Issuer: id.Issuer, Subject: id.Subject})
	return user(dbsqlc.SessionUserRow(u), "user of an identity", err)
}

// CreateIdentity makes the account of a contestant for an identity. It returns
// [ErrExists] if the name is taken, or the identity has an account by now.
func (s *Site) CreateIdentity(ctx context.Context, id judge.Identity, name, passwordHash string) error {
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
func (s *Site) IdentityKnown(ctx context.Context, issuer, name string) (bool, error) {
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

// BeginLogin stores a login by the hashes of its state and of what only the browser has that begins it.
func (s *Site) BeginLogin(ctx context.Context, stateHash, browserHash string, l BegunLogin, expires time.Time) error {
	err := s.q.LoginBegin(ctx, s.main, dbsqlc.LoginBeginParams{
		StateHash: stateHash, BrowserHash: browserHash, Nonce: l.Nonce, Verifier: l.Verifier, Next: l.Next, Proves: l.Proves, Act: l.Act, Form: l.Form, ExpiresAt: expires,
	})
	if err != nil {
		return fmt.Errorf("begin a login: %w", err)
	}
	return nil
}

// TakeLogin returns a login that was begun, once, or [ErrNotFound].
func (s *Site) TakeLogin(ctx context.Context, stateHash, browserHash string) (BegunLogin, error) {
	l, err := s.q.LoginTake(ctx, s.main, dbsqlc.LoginTakeParams{StateHash: stateHash, BrowserHash: browserHash})
	if errors.Is(err, pgx.ErrNoRows) {
		err = ErrNotFound
	}
	if err != nil {
		return BegunLogin{}, fmt.Errorf("take a login: %w", err)
	}
	return BegunLogin(l), nil
}
