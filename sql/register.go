package sql

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"deepoj/host/judge"
	"deepoj/sql/internal/dbsqlc"
)

// ErrEmailTaken is returned where an address is that of another account.
var ErrEmailTaken = errors.New("the address is that of another account")

// UserByEmail returns the account with an address, in small letters, or [ErrNotFound].
func (s *Site) UserByEmail(ctx context.Context, email string) (*judge.User, error) {
	u, err := s.q.UserByEmail(ctx, s.main, &email)
	return user(dbsqlc.SessionUserRow(u), "user of an address", err)
}

// DisplayNames returns what those of the accounts are called who are called anything.
func (s *Site) DisplayNames(ctx context.Context, names []string) (map[string]string, error) {
	found, err := s.q.UserNames(ctx, s.main, names)
	if err != nil {
		return nil, fmt.Errorf("look up display names: %w", err)
	}
	out := make(map[string]string, len(found))
	for _, u := range found {
		out[u.Name] = u.DisplayName
	}
	return out, nil
}

// SetDisplayName says what people call somebody; "" = by their name. It returns [ErrNotFound] if there is no such user.
func (s *Site) SetDisplayName(ctx context.Context, name, displayName, by string) error {
	n, err := s.q.UserSetDisplayName(ctx, s.main, dbsqlc.UserSetDisplayNameParams{Name: name, DisplayName: displayName, By: by})
	return changed(n, err, "set the display name of "+name)
}

// SetEmail changes the address of an account, in small letters, or takes it away (""). It returns what the address was,
// [ErrNotFound] if there is no such user, or [ErrEmailTaken].
func (s *Site) SetEmail(ctx context.Context, name, email, by string) (was string, err error) {
	return s.setEmail(ctx, s.main, name, email, by)
}

func (s *Site) setEmail(ctx context.Context, db dbsqlc.DBTX, name, email, by string) (was string, err error) {
	was, err = s.q.UserSetEmail(ctx, db, dbsqlc.UserSetEmailParams{Name: name, Email: orNil(email), By: by})
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		err = ErrNotFound
	case taken(err):
		err = ErrEmailTaken
	}
	if err != nil {
		return "", fmt.Errorf("set the address of %s: %w", name, err)
	}
	return was, nil
}

// taken reports whether a statement failed because an address is that of another account.
func taken(err error) bool {
	e, ok := errors.AsType[*pgconn.PgError](err)
	return ok && e.Code == uniqueViolation && e.ConstraintName == "users_email"
}

// FirstPasswordWaits reports whether the only account is that of the first start, and its password was never used.
func (s *Site) FirstPasswordWaits(ctx context.Context) (bool, error) {
	waits, err := s.q.FirstPasswordWaits(ctx, s.main)
	if err != nil {
		return false, fmt.Errorf("look for the first account: %w", err)
	}
	return waits, nil
}

// Registration is an account that its owner makes.
type Registration struct {
	Name, PasswordHash, DisplayName string

	LinkHash   string // of the link by which they come, which then is spent; "" = by an invitation alone
	Invitation int64  // that of the link counts where there is one
}

// Register makes an account for who comes by a link or an invitation, and a member of the space that it invites to. It
// returns the space's short name, "" if there is none; [ErrNotFound] if the link or the invitation does not work,
// [ErrExists] if the name is taken, or [ErrEmailTaken]. Then nothing is spent.
func (s *Site) Register(ctx context.Context, r Registration) (space string, err error) {
	err = pgx.BeginFunc(ctx, s.main, func(tx pgx.Tx) error {
		email := ""
		if r.LinkHash != "" {
			l, err := s.q.LinkTake(ctx, tx, dbsqlc.LinkTakeParams{TokenHash: r.LinkHash, Kind: string(judge.LetterRegister)})
			if err != nil {
				return err
			}
			email, r.Invitation = l.Email, orZero(l.InvitationID)
		}
		n, err := s.q.UserRegister(ctx, tx, dbsqlc.UserRegisterParams{
			Name: r.Name, PasswordHash: r.PasswordHash, DisplayName: r.DisplayName, Email: orNil(email),
		})
		if err != nil {
			return err
		}
		if n == 0 {
			return ErrExists
		}
		if r.Invitation != 0 {
			space, err = s.q.InvitationUse(ctx, tx, dbsqlc.InvitationUseParams{ID: r.Invitation, UserName: r.Name})
		}
		return err
	})
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		err = ErrNotFound
	case taken(err):
		err = ErrEmailTaken
	}
	if err != nil {
		return "", fmt.Errorf("register %s: %w", r.Name, err)
	}
	return space, nil
}

// TakeReset gives the owner of a link another password, ends all their sessions, and has the keys of the list refused that are theirs.
// The letter that tells them is in the language, unless the account has one of its own.
// It returns whose account it is and how many sessions ended, or [ErrNotFound] if the link does not work any more.
func (s *Site) TakeReset(ctx context.Context, linkHash, passwordHash string, revoke []int64, language string) (name string, sessions int64, err error) {
	err = pgx.BeginFunc(ctx, s.main, func(tx pgx.Tx) error {
		l, err := s.q.LinkTake(ctx, tx, dbsqlc.LinkTakeParams{TokenHash: linkHash, Kind: string(judge.LetterReset)})
		if err != nil {
			return err
		}
		name = l.UserName
		done, err := s.q.UserNewPassword(ctx, tx, dbsqlc.UserNewPasswordParams{Name: name, PasswordHash: passwordHash})
		if err != nil {
			return err
		}
		if done.Found == 0 {
			return ErrNotFound
		}
		sessions = done.Sessions
		for _, id := range revoke {
			if _, err := s.q.KeyRevoke(ctx, tx, dbsqlc.KeyRevokeParams{ID: id, UserName: name, By: name}); err != nil && !errors.Is(err, pgx.ErrNoRows) {
				return err
			}
		}
		if err := s.q.LinksEnd(ctx, tx, &name); err != nil {
			return err
		}
		return s.q.LetterTell(ctx, tx, dbsqlc.LetterTellParams{Kind: string(judge.LetterPasswordChanged), Asked: l.Email, UserName: &name, Language: language})
	})
	if errors.Is(err, pgx.ErrNoRows) {
		err = ErrNotFound
	}
	if err != nil {
		return "", 0, fmt.Errorf("take a link to a new password: %w", err)
	}
	return name, sessions, nil
}

// TakeEmail makes the address that a link was sent to that of its account, and tells the one before. It returns whose
// account it is, or [ErrNotFound] if the link does not work any more, or [ErrEmailTaken].
func (s *Site) TakeEmail(ctx context.Context, linkHash, language string) (name string, err error) {
	err = pgx.BeginFunc(ctx, s.main, func(tx pgx.Tx) error {
		l, err := s.q.LinkTake(ctx, tx, dbsqlc.LinkTakeParams{TokenHash: linkHash, Kind: string(judge.LetterEmail)})
		if err != nil {
			return err
		}
		name = l.UserName
		return s.changeEmail(ctx, tx, name, l.Email, language)
	})
	if errors.Is(err, pgx.ErrNoRows) {
		err = ErrNotFound
	}
	if err != nil {
		return "", fmt.Errorf("take a link to an address: %w", err)
	}
	return name, nil
}

// RemoveEmail takes the address of an account away, and tells it.
func (s *Site) RemoveEmail(ctx context.Context, name, language string) error {
	return pgx.BeginFunc(ctx, s.main, func(tx pgx.Tx) error { return s.changeEmail(ctx, tx, name, "", language) })
}

// changeEmail changes an address, ends the links that were sent to the one before, and tells it.
func (s *Site) changeEmail(ctx context.Context, tx pgx.Tx, name, email, language string) error {
	was, err := s.setEmail(ctx, tx, name, email, name)
	if err != nil {
		return err
	}
	if err := s.q.LinksEnd(ctx, tx, &name); err != nil {
		return fmt.Errorf("end the links of %s: %w", name, err)
	}
	if was == "" || was == email {
		return nil
	}
	if err := s.q.LetterTell(ctx, tx, dbsqlc.LetterTellParams{Kind: string(judge.LetterEmailChanged), Asked: was, UserName: &name, Language: language}); err != nil {
		return fmt.Errorf("tell the address of %s: %w", name, err)
	}
	return nil
}
