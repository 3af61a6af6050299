package factors

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/judge"
	"deepoj/host/people"
	"deepoj/sql"
	"deepoj/web/locale"
	"deepoj/web/site"
	"deepoj/web/webauthn"
)

const (
	passkeyCookie = "deepoj_passkey" // binds a login by passkey alone to the browser that began it
	challengeTime = 5 * time.Minute
)

// What a challenge is for. One that was made for something is of no use for anything else.
const (
	toLogIn   = "log in"
	toGoOn    = "second step"
	toConfirm = "confirm"
	toMake    = "make"
)

// challenge makes what a passkey has to sign, and keeps it for whoever has the token.
func (s *Room) challenge(ctx context.Context, purpose, token string) ([]byte, error) {
	challenge := make([]byte, 32)
	_, _ = rand.Read(challenge) // never fails: see crypto/rand
	return challenge, s.Store.SaveChallenge(ctx, people.HashToken(purpose+"\x00"+token), challenge, time.Now().Add(challengeTime))
}

// takeChallenge returns what was to be signed, once.
func (s *Room) takeChallenge(ctx context.Context, purpose, token string) ([]byte, error) {
	if token == "" {
		return nil, sql.ErrNotFound
	}
	return s.Store.TakeChallenge(ctx, people.HashToken(purpose+"\x00"+token))
}

// known are passkeys as browsers are told of them.
func known(passkeys []judge.Passkey) (out []webauthn.Made) {
	for _, p := range passkeys {
		out = append(out, webauthn.Made{ID: p.Credential, Transports: p.Transports})
	}
	return out
}

// askPasskey answers with what a browser needs to sign by a passkey of a user, or of anybody if user is "".
func (s *Room) askPasskey(c *fiber.Ctx, purpose, token, user string) error {
	if s.party.ID == "" {
		return sql.ErrNotFound
	}
	var with []judge.Passkey
	if user != "" {
		var err error
		if with, err = s.Store.Passkeys(c.UserContext(), user); err != nil {
			return err
		}
		if len(with) == 0 {
			return sql.ErrNotFound
		}
	}
	challenge, err := s.challenge(c.UserContext(), purpose, token)
	if err != nil {
		return err
	}
	return c.JSON(s.party.Ask(challenge, known(with)))
}

// errPasskey says that what a browser sent proves nothing.
var errPasskey = errors.New("the passkey proves nothing")

// signer returns whose passkey signed a challenge. With user it has to be theirs; without one the authenticator has to
// say itself whose it is. It returns [errPasskey] for anything that is no proof.
func (s *Room) signer(c *fiber.Ctx, purpose, token, text, user string) (string, error) {
	ctx := c.UserContext()
	challenge, err := s.takeChallenge(ctx, purpose, token)
	if errors.Is(err, sql.ErrNotFound) {
		return "", fmt.Errorf("%w: nothing was asked, or too long ago", errPasskey)
	}
	if err != nil {
		return "", err
	}
	signed, err := webauthn.ReadSigned([]byte(text))
	if err != nil {
		return "", fmt.Errorf("%w: %w", errPasskey, err)
	}
	p, err := s.Store.Passkey(ctx, signed.ID)
	switch {
	case errors.Is(err, sql.ErrNotFound):
		return "", fmt.Errorf("%w: nobody knows it", errPasskey)
	case err != nil:
		return "", err
	case user != "" && p.User != user:
		return "", fmt.Errorf("%w: it is somebody else's", errPasskey)
	case !bytes.Equal(signed.Handle, p.Handle) && (user == "" || len(signed.Handle) > 0):
		return "", fmt.Errorf("%w: the authenticator says that it is somebody else's", errPasskey)
	}
	counter, err := s.party.Check(signed, challenge, p.PublicKey)
	if err != nil {
		return "", fmt.Errorf("%w: %w", errPasskey, err)
	}
	err = s.Store.TakePasskey(ctx, p.ID, counter)
	if errors.Is(err, sql.ErrNotFound) { // two authenticators count one after the other
		if err := s.Store.AuditNote(ctx, p.User, "passkey_copy", "user:"+p.User, map[string]any{"passkey": p.ID, "label": p.Label, "counter": counter}); err != nil {
			return "", err
		}
		return "", fmt.Errorf("%w: its counter did not grow: there may be a copy of it", errPasskey)
	}
	return p.User, err
}

// logPasskey notes why a passkey was refused, of which its sender learns nothing.
func (s *Room) logPasskey(c *fiber.Ctx, err error) {
	s.Log.InfoContext(c.UserContext(), "passkey refused", slog.String("client", s.ClientAddress(c)), slog.String("trace_id", site.TraceOf(c.UserContext())), slog.Any("err", err))
}

const refusedPasskey locale.Word = "The passkey was not accepted. Try again, or use another way."

// askToLogIn handles POST /login/passkey/options.
func (s *Room) askToLogIn(c *fiber.Ctx) error {
	token := people.NewToken(32)
	c.Cookie(&fiber.Cookie{
		Name: passkeyCookie, Value: token, Path: halfPath, Expires: time.Now().Add(challengeTime),
		HTTPOnly: true, SameSite: fiber.CookieSameSiteStrictMode, Secure: c.Secure(),
	})
	return s.askPasskey(c, toLogIn, token, "")
}

// logInByPasskey handles POST /login/passkey: a passkey whose authenticator has verified its user opens a session
// without a password.
func (s *Room) logInByPasskey(c *fiber.Ctx) error {
	next := site.LocalPath(c.FormValue("next"))
	name, err := s.signer(c, toLogIn, c.Cookies(passkeyCookie), c.FormValue("passkey"), "")
	if errors.Is(err, errPasskey) {
		s.logPasskey(c, err)
		return s.login.Again(c, next, refusedPasskey)
	}
	if err != nil {
		return err
	}
	u, err := s.Store.User(c.UserContext(), name)
	if err != nil {
		return err
	}
	if u.Disabled != nil { // learns no more than anybody
		return s.login.Again(c, next, refusedPasskey)
	}
	return s.login.LogIn(c, u, next)
}

// askToGoOn handles POST /login/second/options.
func (s *Room) askToGoOn(c *fiber.Ctx) error {
	u, _, hash, err := s.half(c)
	if err != nil {
		return err
	}
	return s.askPasskey(c, toGoOn, hash, u.Name)
}

// goOnByPasskey handles POST /login/second/passkey.
func (s *Room) goOnByPasskey(c *fiber.Ctx) error {
	u, next, hash, err := s.half(c)
	if errors.Is(err, sql.ErrNotFound) {
		return s.tooLate(c, "")
	}
	if err != nil {
		return err
	}
	_, err = s.signer(c, toGoOn, hash, c.FormValue("passkey"), u.Name)
	if errors.Is(err, errPasskey) {
		s.logPasskey(c, err)
		return s.showSecond(c, fiber.StatusUnprocessableEntity, u, locale.Sentence{Key: refusedPasskey})
	}
	if err != nil {
		return err
	}
	return s.endSecond(c, u, next, hash)
}

// askToConfirm handles POST /account/confirm/options.
func (s *Room) askToConfirm(c *fiber.Ctx) error {
	v := site.ViewerOf(c)
	return s.askPasskey(c, toConfirm, v.Token, v.Name)
}

// Confirm notes that whoever is logged in has just used a passkey of theirs.
func (s *Room) Confirm(c *fiber.Ctx, signed string) error {
	v := site.ViewerOf(c)
	_, err := s.signer(c, toConfirm, v.Token, signed, v.Name)
	if errors.Is(err, errPasskey) {
		s.logPasskey(c, err)
		return site.WrongField("passkey", "wrong_passkey", refusedPasskey)
	}
	if err != nil {
		return err
	}
	return s.Store.ProveSession(c.UserContext(), people.HashToken(v.Token), v.Name, time.Now())
}

// passkeyView is the page where a passkey is made.
type passkeyView struct {
	Site  string // what passkeys know the site by; "" = there are none
	Label string
	Fault *site.Fault
}

// passkeyPage handles POST /account/passkeys/new.
func (s *Room) passkeyPage(c *fiber.Ctx) error {
	if err := s.mayHaveFactors(c); err != nil {
		return err
	}
	return s.Page(c, fiber.StatusOK, "passkey", "Add a passkey", passkeyView{Site: s.party.ID})
}

// askToMake handles POST /account/passkeys/options.
func (s *Room) askToMake(c *fiber.Ctx) error {
	if err := s.mayHaveFactors(c); err != nil {
		return err
	}
	v, ctx := site.ViewerOf(c), c.UserContext()
	if s.party.ID == "" {
		return sql.ErrNotFound
	}
	others, err := s.Store.Passkeys(ctx, v.Name)
	if err != nil {
		return err
	}
	handle, err := s.Store.FactorHandle(ctx, v.Name, newHandle())
	if err != nil {
		return err
	}
	challenge, err := s.challenge(ctx, toMake, v.Token)
	if err != nil {
		return err
	}
	return c.JSON(s.party.Create(v.Name, handle, challenge, known(others)))
}

// newHandle makes what passkeys call an account: it tells nothing of it.
func newHandle() []byte {
	handle := make([]byte, 32)
	_, _ = rand.Read(handle) // never fails: see crypto/rand
	return handle
}

// addPasskey handles POST /account/passkeys.
func (s *Room) addPasskey(c *fiber.Ctx) error {
	if err := s.mayHaveFactors(c); err != nil {
		return err
	}
	v, ctx := site.ViewerOf(c), c.UserContext()
	label := strings.TrimSpace(c.FormValue("label"))
	again := func(err error) error {
		f := s.Explain(ctx, err)
		return s.Page(c, f.Status, "passkey", "Add a passkey", passkeyView{Site: s.party.ID, Label: label, Fault: f})
	}
	if e := people.CheckPasskeyLabel(label); e != nil {
		return again(e)
	}
	challenge, err := s.takeChallenge(ctx, toMake, v.Token)
	if err != nil && !errors.Is(err, sql.ErrNotFound) {
		return err
	}
	made, wrong := s.party.Register([]byte(c.FormValue("passkey")), challenge) // without a challenge nothing is right
	if wrong != nil {
		s.logPasskey(c, wrong)
		return again(site.WrongField("passkey", "wrong_passkey", "The browser's answer makes no passkey. Try again."))
	}
	err = s.Store.AddPasskey(ctx, judge.Passkey{Credential: made.ID, User: v.Name, Label: label, PublicKey: made.PublicKey, Transports: made.Transports, SignCount: made.Counter}, people.MaxPasskeys)
	if errors.Is(err, sql.ErrExists) {
		return again(site.WrongField("passkey", "duplicate", "The passkey is here already, or you have %d, which is as many as you may.", people.MaxPasskeys))
	}
	if err != nil {
		return err
	}
	return s.firstFactor(c, locale.Sentence{Key: "The passkey %s is set up.", Args: []any{label}})
}

// removePasskey handles POST /account/passkeys/:id/remove.
func (s *Room) removePasskey(c *fiber.Ctx) error {
	id, err := site.IDOf(c)
	if err != nil {
		return err
	}
	if err := s.Store.RemovePasskey(c.UserContext(), id, site.ViewerOf(c).Name); err != nil {
		return err
	}
	return site.SeeDone(c, site.DoneRemoved, "/account#factors")
}
