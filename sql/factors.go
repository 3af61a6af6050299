package sql

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"deepoj/host/judge"
	"deepoj/sql/internal/dbsqlc"
)

// one makes an [ErrNotFound] of a row that is not there.
func one(err error, what string) error {
	if errors.Is(err, pgx.ErrNoRows) {
		err = ErrNotFound
	}
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

// Factors returns the second factors of a user, or [ErrNotFound].
func (s *Site) Factors(ctx context.Context, user string) (judge.Factors, error) {
	f, err := s.q.FactorsGet(ctx, s.main, user)
	out := judge.Factors{TOTP: f.Totp, TOTPUsed: f.TotpUsedAt, Passkeys: int(f.Passkeys), Recovery: int(f.Recovery)}
	if f.TakenOffBy != nil && f.TakenOffAt != nil {
		out.TakenOffBy, out.TakenOff = *f.TakenOffBy, *f.TakenOffAt
	}
	return out, one(err, "factors of "+user)
}

// FactorHandle returns what passkeys call a user, which is fresh where there was nothing before.
func (s *Site) FactorHandle(ctx context.Context, user string, fresh []byte) ([]byte, error) {
	handle, err := s.q.FactorsHandle(ctx, s.main, dbsqlc.FactorsHandleParams{UserName: user, Handle: fresh})
	return handle, one(err, "handle of "+user)
}

// BeginTOTP keeps the secret of an authenticator app that does not count yet, and returns the one that waits: fresh, or
// one from before. It returns [ErrExists] if the user has an app that counts.
func (s *Site) BeginTOTP(ctx context.Context, user string, fresh, handle []byte) ([]byte, error) {
	secret, err := s.q.TOTPBegin(ctx, s.main, dbsqlc.TOTPBeginParams{UserName: user, Handle: handle, Secret: fresh})
	if errors.Is(err, pgx.ErrNoRows) {
		err = ErrExists
	}
	return secret, one(err, "begin an authenticator app of "+user)
}

// TOTP returns the secret of a user's authenticator app, and whether it counts, or [ErrNotFound].
func (s *Site) TOTP(ctx context.Context, user string) (secret []byte, counts bool, err error) {
	t, err := s.q.TOTPSecret(ctx, s.main, user)
	return t.TotpSecret, t.TotpOn, one(err, "authenticator app of "+user)
}

// ConfirmTOTP has an authenticator app count whose code of a step was given. It returns [ErrNotFound] if none waits.
func (s *Site) ConfirmTOTP(ctx context.Context, user string, step int64) error {
	n, err := s.q.TOTPConfirm(ctx, s.main, dbsqlc.TOTPConfirmParams{UserName: user, Step: step})
	return changed(n, err, "confirm an authenticator app of "+user)
}

// TakeTOTP takes the code of a step. It returns [ErrNotFound] if that or a later one was taken before.
func (s *Site) TakeTOTP(ctx context.Context, user string, step int64) error {
	n, err := s.q.TOTPTake(ctx, s.main, dbsqlc.TOTPTakeParams{UserName: user, Step: step})
	return changed(n, err, "take a code of "+user)
}

// RemoveTOTP forgets a user's authenticator app; [ErrNotFound] if there is none. The recovery codes go with the last
// factor.
func (s *Site) RemoveTOTP(ctx context.Context, user string) error {
	n, err := s.q.TOTPRemove(ctx, s.main, user)
	return changed(n, err, "remove an authenticator app of "+user)
}

// AddPasskey keeps a passkey, of which a user has at most so many. It returns [ErrExists] if they have as many, or the
// passkey is somebody's already.
func (s *Site) AddPasskey(ctx context.Context, p judge.Passkey, most int) error {
	n, err := s.q.PasskeyAdd(ctx, s.main, dbsqlc.PasskeyAddParams{
		CredentialID: p.Credential, UserName: p.User, Label: p.Label, PublicKey: p.PublicKey, Transports: p.Transports,
		SignCount: int64(p.SignCount), Most: int32(most),
	})
	if err == nil && n == 0 {
		err = ErrExists
	}
	return one(err, "add a passkey of "+p.User)
}

// Passkeys returns the passkeys of a user, oldest first.
func (s *Site) Passkeys(ctx context.Context, user string) ([]judge.Passkey, error) {
	found, err := s.q.PasskeyList(ctx, s.main, user)
	if err != nil {
		return nil, fmt.Errorf("list passkeys of %s: %w", user, err)
	}
	out := make([]judge.Passkey, len(found))
	for i, p := range found {
		out[i] = passkey(dbsqlc.PasskeyGetRow{
			ID: p.ID, CredentialID: p.CredentialID, UserName: p.UserName, Label: p.Label, PublicKey: p.PublicKey, Transports: p.Transports,
			SignCount: p.SignCount, CreatedAt: p.CreatedAt, LastUsedAt: p.LastUsedAt,
		})
	}
	return out, nil
}

func passkey(p dbsqlc.PasskeyGetRow) judge.Passkey {
	return judge.Passkey{
		ID: p.ID, Credential: p.CredentialID, User: p.UserName, Label: p.Label, PublicKey: p.PublicKey, Transports: p.Transports,
		SignCount: uint32(p.SignCount), Created: p.CreatedAt, LastUsed: p.LastUsedAt, Handle: p.Handle,
	}
}

// Passkey returns a passkey by what its authenticator calls it, or [ErrNotFound].
func (s *Site) Passkey(ctx context.Context, credential []byte) (judge.Passkey, error) {
	p, err := s.q.PasskeyGet(ctx, s.main, credential)
	return passkey(p), one(err, "passkey")
}

// TakePasskey takes a signature of a passkey with its counter. It returns [ErrNotFound] if the passkey is gone, or the
// counter is not above the last one, as that of a copy.
func (s *Site) TakePasskey(ctx context.Context, id int64, signCount uint32) error {
	n, err := s.q.PasskeyTake(ctx, s.main, dbsqlc.PasskeyTakeParams{ID: id, SignCount: int64(signCount)})
	return changed(n, err, "take a signature of a passkey")
}

// RemovePasskey forgets a passkey of a user; [ErrNotFound] if there is none. The recovery codes go with the last factor.
func (s *Site) RemovePasskey(ctx context.Context, id int64, user string) error {
	n, err := s.q.PasskeyRemove(ctx, s.main, dbsqlc.PasskeyRemoveParams{ID: id, UserName: user})
	return changed(n, err, "remove a passkey of "+user)
}

// SetRecovery replaces the recovery codes of a user by others, given by their hashes. It returns [ErrNotFound] if the
// user has no factor that could be lost.
func (s *Site) SetRecovery(ctx context.Context, user string, hashes []string) error {
	n, err := s.q.RecoverySet(ctx, s.main, dbsqlc.RecoverySetParams{UserName: user, CodeHashes: hashes})
	return changed(n, err, "set recovery codes of "+user)
}

// TakeRecovery takes a recovery code, once, by its hash; [ErrNotFound] if it is none, or was taken.
func (s *Site) TakeRecovery(ctx context.Context, user, hash string) error {
	n, err := s.q.RecoveryTake(ctx, s.main, dbsqlc.RecoveryTakeParams{UserName: user, CodeHash: hash})
	return changed(n, err, "take a recovery code of "+user)
}

// TryCode counts a code of a user as wrong before it is looked at. It returns [ErrNotFound] if most were wrong, one
// after the other, the last of them within the pause, and the code does not come from a browser that is known.
func (s *Site) TryCode(ctx context.Context, user string, known bool, most int, pause time.Duration) error {
	_, err := s.q.CodeTry(ctx, s.main, dbsqlc.CodeTryParams{UserName: user, Known: known, Most: int32(most), Pause: pause.Seconds()})
	return one(err, "try a code of "+user)
}

// CodeRight says that the code was right that was tried last.
func (s *Site) CodeRight(ctx context.Context, user string) error {
	return one(s.q.CodeRight(ctx, s.main, user), "note a code of "+user)
}

// TakeFactorsOff forgets all factors of a user, who will be told by whom. It returns [ErrNotFound] if they have none.
func (s *Site) TakeFactorsOff(ctx context.Context, user, by string) error {
	n, err := s.q.FactorsOff(ctx, s.main, dbsqlc.FactorsOffParams{UserName: user, By: by})
	return changed(n, err, "take the factors off "+user)
}

// FactorsTold says that a user knows who took their factors off.
func (s *Site) FactorsTold(ctx context.Context, user string) error {
	return one(s.q.FactorsTold(ctx, s.main, user), "note that "+user+" was told")
}

// maxHalfTries is how many codes are taken for a login before the password has to be given again.
const maxHalfTries = 5

// SaveHalfLogin stores a login of somebody who has just given their password and has to give a second factor, by the
// hash of its token. It returns [ErrNotFound] if they may not log in any more.
func (s *Site) SaveHalfLogin(ctx context.Context, tokenHash string, u *judge.User, next string, expires time.Time) error {
	n, err := s.q.HalfLoginSave(ctx, s.main, dbsqlc.HalfLoginSaveParams{
		TokenHash: tokenHash, UserName: u.Name, PasswordHash: u.PasswordHash, Next: next, ExpiresAt: expires,
	})
	return changed(n, err, "save half a login of "+u.Name)
}

// HalfLogin returns whose login it is and where it leads, or [ErrNotFound] when it has ended.
func (s *Site) HalfLogin(ctx context.Context, tokenHash string) (u *judge.User, next string, err error) {
	h, err := s.q.HalfLoginGet(ctx, s.main, dbsqlc.HalfLoginGetParams{TokenHash: tokenHash, Most: maxHalfTries})
	u, err = user(dbsqlc.SessionUserRow{
		Name: h.Name, PasswordHash: h.PasswordHash, Role: h.Role, CreatedAt: h.CreatedAt, DisabledAt: h.DisabledAt, OneTime: h.OneTime,
	}, "half a login", err)
	return u, h.Next, err
}

// TryHalfLogin counts a code of a login; [ErrNotFound] if it has ended.
func (s *Site) TryHalfLogin(ctx context.Context, tokenHash string) error {
	n, err := s.q.HalfLoginTry(ctx, s.main, dbsqlc.HalfLoginTryParams{TokenHash: tokenHash, Most: maxHalfTries})
	return changed(n, err, "try half a login")
}

// EndHalfLogin ends a login that became a session, once; [ErrNotFound] if it has ended.
func (s *Site) EndHalfLogin(ctx context.Context, tokenHash string) error {
	n, err := s.q.HalfLoginEnd(ctx, s.main, tokenHash)
	return changed(n, err, "end half a login")
}

// SaveChallenge stores what a passkey has to sign, by the hash of who holds it; another of the same is forgotten.
func (s *Site) SaveChallenge(ctx context.Context, holderHash string, challenge []byte, expires time.Time) error {
	return one(s.q.ChallengeSave(ctx, s.main, dbsqlc.ChallengeSaveParams{HolderHash: holderHash, Challenge: challenge, ExpiresAt: expires}), "save a challenge")
}

// TakeChallenge returns what was to be signed, once, or [ErrNotFound].
func (s *Site) TakeChallenge(ctx context.Context, holderHash string) ([]byte, error) {
	challenge, err := s.q.ChallengeTake(ctx, s.main, holderHash)
	return challenge, one(err, "take a challenge")
}
