// Package webauthn says what browsers and authenticators are asked for about passkeys, and checks what they answer
// (W3C Web Authentication, level 3).
//
// It asks for no attestation, so it needs none of the formats, certificates and registers of attestation: what is left
// is a signature by a key that the browser hands over as X.509 has it. Every answer has to prove that its user was
// verified, so a passkey stands for something that one has and something that one knows or is.
//
//	party.go     the site, as authenticators know it
//	register.go  making a passkey
//	sign.go      signing with one
//	webauthn.go  what both have in common
package webauthn

import (
	"bytes"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

const (
	maxAnswer     = 64 << 10 // bytes
	maxCredential = 1023     // bytes of a credential's id, as the standard has it
	patience      = 300_000  // milliseconds that a browser waits for its user
)

// Base64 is bytes as the standard's JSON has them.
type Base64 []byte

// MarshalText writes base64url without padding.
func (b Base64) MarshalText() ([]byte, error) {
	return base64.RawURLEncoding.AppendEncode(nil, b), nil
}

// UnmarshalText reads base64url without padding.
func (b *Base64) UnmarshalText(text []byte) (err error) {
	*b, err = base64.RawURLEncoding.Strict().AppendDecode(nil, text)
	return err
}

// Credential names a passkey to browsers.
type Credential struct {
	Type       string   `json:"type"`
	ID         Base64   `json:"id"`
	Transports []string `json:"transports,omitempty"`
}

// named makes the name of a passkey.
func named(id []byte, transports []string) Credential {
	return Credential{"public-key", id, transports}
}

// answer is what both kinds of answers have.
type answer struct {
	Type  string `json:"type"`
	RawID Base64 `json:"rawId"`
}

// read reads the JSON of an answer.
func read(text []byte, into any) error {
	if len(text) > maxAnswer {
		return fmt.Errorf("the answer has %d bytes", len(text))
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("read the answer: %w", err)
	}
	return nil
}

// check reports why an answer names no passkey.
func (a answer) check() error {
	if a.Type != "public-key" || len(a.RawID) == 0 || len(a.RawID) > maxCredential {
		return errors.New("the answer names no passkey")
	}
	return nil
}

// collected is what the browser says of itself; the authenticator signs its digest.
type collected struct {
	Type        string  `json:"type"`
	Challenge   Base64  `json:"challenge"`
	Origin      string  `json:"origin"`
	CrossOrigin bool    `json:"crossOrigin"`
	TopOrigin   *string `json:"topOrigin"`
}

// checkBrowser reports why what a browser says of itself does not answer the challenge on a page of the site.
func (p Party) checkBrowser(text []byte, kind string, challenge []byte) error {
	var said collected
	if err := json.Unmarshal(text, &said); err != nil {
		return fmt.Errorf("read what the browser says: %w", err)
	}
	switch {
	case said.Type != kind:
		return fmt.Errorf("the answer is of %.40q, not %q", said.Type, kind)
	case len(challenge) < 16 || subtle.ConstantTimeCompare(said.Challenge, challenge) != 1:
		return errors.New("the answer is to another challenge")
	case !slices.Contains(p.Origins, said.Origin):
		return fmt.Errorf("the answer comes from %.100q, not from %q", said.Origin, p.Origins)
	case said.CrossOrigin || said.TopOrigin != nil:
		return errors.New("the answer comes from a frame in another site's page")
	}
	return nil
}

// Flags of an authenticator.
const (
	userPresent    = 1 << 0
	userVerified   = 1 << 2
	backupEligible = 1 << 3
	backedUp       = 1 << 4
	attested       = 1 << 6
)

// authenticator is what an authenticator says of itself, and signs.
type authenticator struct {
	flags   byte
	counter uint32
	rest    []byte
}

// checkAuthenticator reads what an authenticator says, and reports why it does not speak to the site, of a user whom it
// has verified.
func (p Party) checkAuthenticator(data []byte) (a authenticator, err error) {
	const head = sha256.Size + 1 + 4
	if len(data) < head {
		return a, fmt.Errorf("the authenticator says only %d bytes", len(data))
	}
	a = authenticator{data[sha256.Size], binary.BigEndian.Uint32(data[sha256.Size+1:]), data[head:]}
	site := sha256.Sum256([]byte(p.ID))
	switch {
	case !bytes.Equal(data[:sha256.Size], site[:]):
		return a, errors.New("the authenticator speaks to another site")
	case a.flags&userPresent == 0:
		return a, errors.New("nobody touched the authenticator")
	case a.flags&userVerified == 0:
		return a, errors.New("the authenticator did not verify its user")
	case a.flags&backupEligible == 0 && a.flags&backedUp != 0:
		return a, errors.New("the passkey is backed up, which it cannot be")
	}
	return a, nil
}
