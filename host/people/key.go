package people

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"time"

	"deepoj/host/judge"
)

const (
	// KeyPrefix is of every secret of a key, so that people and scanners know it.
	KeyPrefix = "doj_"

	// MaxKeys is how many keys of a user work at most.
	MaxKeys = 100

	maxLabel = 100 // bytes of what a key is for
)

// NewSecret makes the secret of a key, and the hash that the database keeps.
func NewSecret() (secret, hash string) {
	secret = KeyPrefix + NewToken(32)
	return secret, HashToken(secret)
}

// NewToken returns n random bytes in hexadecimal digits.
func NewToken(n int) string {
	random := make([]byte, n)
	_, _ = rand.Read(random) // never fails: see crypto/rand
	return hex.EncodeToString(random)
}

// HashToken is what the database knows of the token of a session, or of the secret of
// a key: they have so many random bits that nobody guesses one by its hash.
func HashToken(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

// CheckKey reports why a user with this role may not have the key at the time now, or nil.
func CheckKey(k judge.Key, owner judge.Role, now time.Time) *judge.FieldError {
	switch {
	case k.Label == "":
		return wrong("label", reasonEmpty, "Say what the key is for.")
	case !oneLine(k.Label):
		return wrong("label", reasonInvalid, "The label is one line of up to %d bytes.", maxLabel)
	case !slices.Contains(judge.Scopes, k.Scope):
		return wrong("scope", reasonUnknown, "There is no scope %.64q; the scopes are read, submit, setter, staff and admin.", string(k.Scope))
	case Least(k.Scope.Role(), owner) != k.Scope.Role():
		return wrong("scope", reasonDenied, "A key may do no more than its owner, whose role is %s.", owner)
	case k.Expires != nil && !k.Expires.After(now):
		return wrong("expires_at", reasonInvalid, "The time is over already.")
	}
	return nil
}

// oneLine reports whether a text can be a label.
func oneLine(text string) bool {
	return len(text) <= maxLabel && !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f }) && strings.ToValidUTF8(text, "") == text
}
