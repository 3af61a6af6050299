package people

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/gofiber/fiber/v2"
	"golang.org/x/oauth2"

	"deepoj/host/judge"
	"deepoj/host/people"
	"deepoj/sql"
	"deepoj/web/locale"
	"deepoj/web/site"
)

const (
	oidcCookie = "deepoj_oidc"    // binds a login to the browser that began it
	oidcTime   = 10 * time.Minute // for a login at the provider
	oidcWait   = 5 * time.Second  // for an answer of the provider
	oidcPause  = 3 * time.Second  // in which a provider that did not answer is not asked again
	oidcMaxAge = 5 * time.Minute  // since a login at the provider that proves again who somebody is
	oidcSkew   = time.Minute      // by which its clock may differ
	maxNames   = 50               // tries to find a free name
)

// provider finds out where a provider has what, when somebody needs it.
type provider struct {
	site.OIDC
	client *http.Client
	mu     sync.Mutex
	found  *oidc.Provider
	asked  time.Time // last, in vain
	err    error     // why
}

func newProvider(o site.OIDC) *provider {
	if (o == site.OIDC{}) {
		return nil
	}
	return &provider{OIDC: o, client: &http.Client{Timeout: oidcWait}}
}

// host is the provider's, for people; "" if there is no provider.
func (p *provider) host() string {
	if p == nil {
		return ""
	}
	u, err := url.Parse(p.Issuer)
	if err != nil {
		return p.Issuer
	}
	return u.Hostname()
}

// describe returns the provider's own description, which is asked for once.
func (p *provider) describe(ctx context.Context) (*oidc.Provider, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.found == nil && (p.err == nil || time.Since(p.asked) > oidcPause) {
		p.found, p.err = oidc.NewProvider(oidc.ClientContext(ctx, p.client), p.Issuer)
		p.asked = time.Now()
	}
	return p.found, p.err
}

// settings are those of the exchange with a provider, for the browser that asks.
func (p *provider) settings(c *fiber.Ctx, found *oidc.Provider) *oauth2.Config {
	back := p.RedirectURL
	if back == "" {
		back = c.Protocol() + "://" + c.Get(fiber.HeaderHost) + site.OIDCPath + "/callback"
	}
	return &oauth2.Config{
		ClientID: p.ClientID, ClientSecret: p.ClientSecret, Endpoint: found.Endpoint(), RedirectURL: back, Scopes: []string{oidc.ScopeOpenID, "profile"},
	}
}

// beginOIDC handles GET /login/oidc?next=: it sends the browser to the provider.
func (s *Room) beginOIDC(c *fiber.Ctx) error {
	next := site.LocalPath(c.Query("next"))
	if s.provider == nil {
		return sql.ErrNotFound
	}
	if v := site.ViewerOf(c); v.Known() && !v.Guest() {
		return c.Redirect(next, fiber.StatusSeeOther)
	}
	found, err := s.provider.describe(c.UserContext())
	if err != nil {
		return s.providerAway(c, next, err)
	}
	leads, err := s.leadAway(c, found, sql.BegunLogin{Next: next})
	if err != nil {
		return err
	}
	return c.Redirect(leads, fiber.StatusSeeOther)
}

// leadAway begins a login and returns the address at the provider where it goes on. A login that proves again who
// somebody is asks the provider not to rely on what it knows of the browser (OpenID Connect Core, section 3.1.2.1).
func (s *Room) leadAway(c *fiber.Ctx, found *oidc.Provider, l sql.BegunLogin) (string, error) {
	state, browser := rand.Text(), rand.Text()
	l.Nonce, l.Verifier = rand.Text(), oauth2.GenerateVerifier()
	if err := s.Store.BeginLogin(c.UserContext(), people.HashToken(state), people.HashToken(browser), l, time.Now().Add(oidcTime)); err != nil {
		return "", err
	}
	c.Cookie(&fiber.Cookie{
		Name: oidcCookie, Value: browser, Path: site.OIDCPath, Expires: time.Now().Add(oidcTime),
		HTTPOnly: true, SameSite: fiber.CookieSameSiteLaxMode, Secure: c.Secure(), // Lax: the provider leads here
	})
	options := []oauth2.AuthCodeOption{oidc.Nonce(l.Nonce), oauth2.S256ChallengeOption(l.Verifier)}
	if l.Proves != "" {
		options = append(options, oauth2.SetAuthURLParam("prompt", "login"), oauth2.SetAuthURLParam("max_age", strconv.Itoa(int(oidcMaxAge.Seconds()))))
	}
	return s.provider.settings(c, found).AuthCodeURL(state, options...), nil
}

// endOIDC handles GET /login/oidc/callback: the browser comes back with a code.
func (s *Room) endOIDC(c *fiber.Ctx) error {
	if s.provider == nil {
		return sql.ErrNotFound
	}
	c.Cookie(&fiber.Cookie{Name: oidcCookie, Path: site.OIDCPath, Expires: time.Unix(1, 0), HTTPOnly: true, SameSite: fiber.CookieSameSiteLaxMode})
	l, err := s.Store.TakeLogin(c.UserContext(), people.HashToken(c.Query("state")), people.HashToken(c.Cookies(oidcCookie)))
	if errors.Is(err, sql.ErrNotFound) {
		return s.refuseOIDC(c, fiber.StatusBadRequest, "/", nil, "This login was begun in another browser, or too long ago. Try again.")
	}
	if err != nil {
		return err
	}
	if why := c.Query("error"); why != "" {
		return s.refuseOIDC(c, fiber.StatusUnauthorized, l.Next, errors.New(site.Shorten(why)), "%s did not let you in.", s.provider.host())
	}
	found, err := s.provider.describe(c.UserContext())
	if err != nil {
		return s.providerAway(c, l.Next, err)
	}
	who, err := s.provider.identify(c, found, l)
	if err == nil && l.Proves != "" {
		return s.returned(c, l, who)
	}
	if err != nil {
		return s.refuseOIDC(c, fiber.StatusUnauthorized, l.Next, err, "%s could not prove who you are. Try again.", s.provider.host())
	}
	u, err := s.userOfIdentity(c.UserContext(), who.Identity, who.called)
	if err != nil {
		return err
	}
	if u.Disabled != nil {
		return s.refuseOIDC(c, fiber.StatusForbidden, l.Next, nil, "Your account here is disabled.")
	}
	token, expires, err := s.newSession(c.UserContext(), u, s.Store.SaveVouchedSession)
	if err != nil {
		return err
	}
	return s.enter(c, token, expires, l.Next)
}

// proved is who somebody proved to be.
type proved struct {
	judge.Identity
	called string    // at the provider
	at     time.Time // when they logged in there; zero if it does not say
}

// justNow returns nil if they logged in at the provider within oidcMaxAge.
func (who proved) justNow(now time.Time) error {
	switch age := now.Sub(who.at); {
	case who.at.IsZero():
		return errors.New("the token has no auth_time")
	case age > oidcMaxAge+oidcSkew || age < -oidcSkew:
		return fmt.Errorf("the token's auth_time is %s ago", age.Round(time.Second))
	}
	return nil
}

// identify exchanges the code for a proof of who somebody is, and checks it.
func (p *provider) identify(c *fiber.Ctx, found *oidc.Provider, l sql.BegunLogin) (who proved, err error) {
	if iss := c.Query("iss"); iss != "" && iss != p.Issuer { // RFC 9207
		return who, fmt.Errorf("the answer is from %s", site.Shorten(iss))
	}
	ctx, cancel := context.WithTimeout(oidc.ClientContext(c.UserContext(), p.client), 2*oidcWait)
	defer cancel()
	tokens, err := p.settings(c, found).Exchange(ctx, c.Query("code"), oauth2.VerifierOption(l.Verifier))
	if err != nil {
		return who, fmt.Errorf("exchange the code: %w", err)
	}
	raw, _ := tokens.Extra("id_token").(string)
	proof, err := found.VerifierContext(ctx, &oidc.Config{ClientID: p.ClientID}).Verify(ctx, raw)
	if err != nil {
		return who, fmt.Errorf("check the token: %w", err)
	}
	var claims struct {
		Name  string  `json:"preferred_username"`
		Party string  `json:"azp"`
		At    float64 `json:"auth_time"` // seconds since 1970
	}
	if err := proof.Claims(&claims); err != nil {
		return who, fmt.Errorf("read the token: %w", err)
	}
	switch {
	case subtle.ConstantTimeCompare([]byte(proof.Nonce), []byte(l.Nonce)) != 1:
		return who, errors.New("the token is of another login")
	case claims.Party != "" && claims.Party != p.ClientID || claims.Party == "" && len(proof.Audience) > 1:
		return who, errors.New("the token was made for another client")
	case proof.Subject == "" || !plainText(proof.Subject):
		return who, errors.New("the token has no subject")
	}
	who = proved{Identity: judge.Identity{Issuer: proof.Issuer, Subject: proof.Subject}, called: claims.Name}
	if claims.At > 0 {
		who.at = time.Unix(int64(claims.At), 0)
	}
	return who, nil
}

// plainText reports whether the database takes a text.
func plainText(text string) bool {
	return len(text) <= 255 && strings.ToValidUTF8(text, "") == text && !strings.ContainsRune(text, 0)
}

// userOfIdentity returns the account of somebody; who comes for the first time gets
// one. An account that is there already is never taken over, whatever its name.
func (s *Room) userOfIdentity(ctx context.Context, id judge.Identity, called string) (*judge.User, error) {
	for i := range maxNames {
		u, err := s.Store.IdentityUser(ctx, id)
		if !errors.Is(err, sql.ErrNotFound) {
			return u, err
		}
		err = s.Store.CreateIdentity(ctx, id, nameFor(called, i), people.AbsentPassword)
		if err != nil && !errors.Is(err, sql.ErrExists) {
			return nil, err
		}
	}
	return nil, fmt.Errorf("every name like %s is taken", nameFor(called, 0))
}

// nameFor makes the nth name, from 0 on, for somebody who is called something elsewhere.
func nameFor(called string, n int) string {
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || strings.ContainsRune("._@-", r) {
			return r
		}
		return '-'
	}, strings.ToLower(called))
	name = strings.TrimLeft(name, "._@-")
	name = strings.TrimRight(name[:min(len(name), 48)], "-")
	if name == "" || name == people.Guest {
		name = "user"
	}
	switch {
	case n == 0:
		return name
	case n > maxNames/2:
		return name + "-" + people.NewToken(4)
	}
	return name + "-" + strconv.Itoa(n+1)
}

// providerAway answers somebody whose provider does not.
func (s *Room) providerAway(c *fiber.Ctx, next string, err error) error {
	return s.refuseOIDC(c, fiber.StatusServiceUnavailable, next,
		err, "%s does not answer. Try again in a minute, or log in with a name and password of this site.", s.provider.host())
}

// refuseOIDC shows the login page again, and logs why.
func (s *Room) refuseOIDC(c *fiber.Ctx, status int, next string, err error, why locale.Word, args ...any) error {
	s.Log.WarnContext(c.UserContext(), "login at the provider refused", slog.Int("status", status), slog.String("client", s.ClientAddress(c)),
		slog.String("trace_id", site.TraceOf(c.UserContext())), slog.Any("err", err))
	return s.showLogin(c, status, loginView{Next: next, Error: locale.Sentence{Key: why, Args: args}})
}
