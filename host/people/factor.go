package people

import (
	"crypto/rand"
	"encoding/base32"
	"fmt"
	"strings"
	"time"

	"github.com/pquerna/otp"
	"github.com/pquerna/otp/hotp"
	"github.com/pquerna/otp/totp"

	"deepoj/host/judge"
)

const (
	totpPeriod = 30 // seconds: one step of an authenticator app
	totpSecret = 20 // bytes

	// MaxPasskeys is how many passkeys a user has at most.
	MaxPasskeys = 20

	// RecoveryCodes is how many recovery codes are made at once.
	RecoveryCodes = 10

	recoveryLength = 16 // characters of a recovery code, 80 random bits
)

// NewTOTPSecret makes what an authenticator app and the server share.
func NewTOTPSecret() []byte {
	secret := make([]byte, totpSecret)
	_, _ = rand.Read(secret) // never fails: see crypto/rand
	return secret
}

// TOTPText is a secret as people type it into an authenticator app.
func TOTPText(secret []byte) string {
	return base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(secret)
}

// TOTPAddress is a secret as authenticator apps read it from a picture.
func TOTPAddress(secret []byte, site, user string) (string, error) {
	key, err := totp.Generate(totp.GenerateOpts{Issuer: strings.ReplaceAll(site, ":", " "), AccountName: user, Secret: secret, Period: totpPeriod})
	if err != nil {
		return "", fmt.Errorf("address of an authenticator app: %w", err)
	}
	return key.URL(), nil
}

// TOTPStep returns the step whose code somebody gave: that of now, or the one before or behind, as clocks differ. Each
// is compared in constant time.
func TOTPStep(secret []byte, code string, now time.Time) (step int64, ok bool) {
	code = squeezed(code)
	for at := now.Unix()/totpPeriod - 1; at <= now.Unix()/totpPeriod+1; at++ {
		right, err := hotp.ValidateCustom(code, uint64(at), TOTPText(secret), hotp.ValidateOpts{Digits: otp.DigitsSix})
		if right && err == nil {
			step, ok = at, true
		}
	}
	return step, ok
}

// LooksLikeTOTP reports whether a code is one of an authenticator app, by its form, and not a recovery code.
func LooksLikeTOTP(code string) bool {
	code = squeezed(code)
	return len(code) <= 8 && !strings.ContainsFunc(code, func(r rune) bool { return r < '0' || r > '9' })
}

// NewRecoveryCodes makes codes of a user, and the hashes that the database keeps.
func NewRecoveryCodes(user string) (codes, hashes []string) {
	for range RecoveryCodes {
		random := make([]byte, recoveryLength)
		_, _ = rand.Read(random) // never fails: see crypto/rand
		var text strings.Builder
		for i, b := range random {
			if i > 0 && i%4 == 0 {
				text.WriteByte('-')
			}
			text.WriteByte(readable[int(b)%len(readable)])
		}
		codes, hashes = append(codes, text.String()), append(hashes, RecoveryHash(user, text.String()))
	}
	return codes, hashes
}

// RecoveryHash is what the database knows of a recovery code, however it was typed.
func RecoveryHash(user, code string) string {
	return HashToken("recovery code of " + user + "\x00" + squeezed(code))
}

// squeezed is a code without the gaps that people read it by.
func squeezed(code string) string {
	if len(code) > 100 {
		return ""
	}
	return strings.ToLower(strings.NewReplacer(" ", "", "-", "", "\t", "").Replace(code))
}

// CheckPasskeyLabel reports why a passkey may not be called so, or nil.
func CheckPasskeyLabel(label string) *judge.FieldError {
	switch {
	case label == "":
		return wrong("label", reasonEmpty, "Name the passkey, so that you know it again.")
	case !oneLine(label):
		return wrong("label", reasonInvalid, "The name is one line of up to %d bytes.", maxLabel)
	}
	return nil
}
