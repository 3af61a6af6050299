package people

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"strings"
	"sync"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/people"
	"deepoj/sql"
	"deepoj/web/site"
)

// maxBasic is how many pairs of names and passwords are remembered.
const maxBasic = 10_000

// basics remembers which session a name and a password have opened, so that a program that sends both with each request
// does not have them hashed each time. It keeps neither.
type basics struct {
	mu     sync.Mutex
	key    []byte
	tokens map[[32]byte]string
}

func newBasics() *basics {
	b := &basics{key: make([]byte, 32), tokens: map[[32]byte]string{}}
	_, _ = rand.Read(b.key) // which never fails
	return b
}

// of is what a name and a password are remembered by.
func (b *basics) of(name, password string) (sum [32]byte) {
	h := hmac.New(sha256.New, b.key)
	h.Write([]byte(name + "\x00" + password))
	copy(sum[:], h.Sum(nil))
	return sum
}

func (b *basics) get(sum [32]byte) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.tokens[sum]
}

func (b *basics) put(sum [32]byte, token string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.tokens) >= maxBasic {
		clear(b.tokens)
	}
	b.tokens[sum] = token
}

// Basic returns who sent a name with a key or a password (RFC 7617). Whoever has a second factor needs a key.
func (s *Room) Basic(c *fiber.Ctx, authorization string) (site.Viewer, error) {
	ctx := c.UserContext()
	raw, err := base64.StdEncoding.DecodeString(strings.TrimSpace(authorization))
	name, secret, ok := strings.Cut(string(raw), ":")
	if err != nil || !ok {
		return site.Viewer{}, site.Refuse(fiber.StatusUnauthorized, "session_unknown", "The header Authorization cannot be read.", "Send a name with a key or a password, as RFC 7617 has it.")
	}
	if strings.HasPrefix(secret, people.KeyPrefix) {
		v, err := s.Bearer(ctx, secret)
		if err != nil {
			return site.Viewer{}, site.UnknownToken(err)
		}
		if v.Name != name {
			return site.Viewer{}, wrongLogin()
		}
		return v, nil
	}
	sum := s.basics.of(name, secret)
	if token := s.basics.get(sum); token != "" {
		v, err := s.Bearer(ctx, token)
		if err == nil || !errors.Is(err, sql.ErrNotFound) {
			return v, err
		}
	}
	u, err := s.provePassword(c, name, secret)
	if err != nil {
		return site.Viewer{}, err
	}
	more, err := s.Store.Factors(ctx, u.Name)
	if err != nil {
		return site.Viewer{}, err
	}
	if more.Any() {
		return site.Viewer{}, site.Refuse(fiber.StatusUnauthorized, "login_required", "The account has a second factor, so its password is not enough.", "Send a key as the password.")
	}
	token, _, err := s.newSession(ctx, u, s.Store.SaveSession)
	if err != nil {
		return site.Viewer{}, err
	}
	s.basics.put(sum, token)
	return s.Bearer(ctx, token)
}
