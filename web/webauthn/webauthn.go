// Package webauthn is the home of the library for passkeys (W3C Web Authentication, level 3): it says what browsers are
// asked for, and checks what they answer.
//
// It asks for no attestation, and takes none that somebody else would have to vouch for: only an authenticator's own
// signature. Every answer has to prove that its user was verified, so a passkey stands for something that one has and
// something that one knows or is.
//
//	key.go       public keys, as they are kept and as the library has them
//	party.go     the site, as authenticators know it
//	register.go  making a passkey
//	sign.go      signing with one
//	webauthn.go  what both have in common
package webauthn

import (
	"encoding/base64"
	"errors"
	"fmt"

	"github.com/go-webauthn/webauthn/protocol"
)

const (
	maxAnswer     = 64 << 10 // bytes
	maxCredential = 1023     // bytes of a credential's id, as the standard has it
	minChallenge  = 16       // bytes
	patience      = 300_000  // milliseconds that a browser waits for its user
)

// named are passkeys as browsers are told of them.
func named(passkeys []Made) (out []protocol.CredentialDescriptor) {
	for _, p := range passkeys {
		d := protocol.CredentialDescriptor{Type: protocol.PublicKeyCredentialType, CredentialID: p.ID}
		for _, t := range p.Transports {
			d.Transport = append(d.Transport, protocol.AuthenticatorTransport(t))
		}
		out = append(out, d)
	}
	return out
}

// asked returns a challenge as the answer has to have it.
func asked(challenge []byte) (string, error) {
	if len(challenge) < minChallenge {
		return "", errors.New("nothing was asked")
	}
	return base64.RawURLEncoding.EncodeToString(challenge), nil
}

// size reports why an answer is too long to be read.
func size(text []byte) error {
	if len(text) > maxAnswer {
		return fmt.Errorf("the answer has %d bytes", len(text))
	}
	return nil
}

// checkID reports why an answer names no passkey.
func checkID(id []byte) error {
	if len(id) == 0 || len(id) > maxCredential {
		return errors.New("the answer names no passkey")
	}
	return nil
}

// checkBrowser reports why what a browser says of itself is not said on a page of the site itself. The rest of it is
// the library's to check.
func checkBrowser(said protocol.CollectedClientData) error {
	if said.CrossOrigin || said.TopOrigin != "" {
		return errors.New("the answer comes from a frame in another site's page")
	}
	return nil
}

// checkCopies reports why an authenticator cannot be right about copies of its passkey.
func checkCopies(flags protocol.AuthenticatorFlags) error {
	if flags.HasBackupState() && !flags.HasBackupEligible() {
		return errors.New("the passkey is backed up, which it cannot be")
	}
	return nil
}

// detailed says what the library keeps to itself of an error.
func detailed(err error) error {
	var e *protocol.Error
	if errors.As(err, &e) && e.DevInfo != "" {
		return fmt.Errorf("%w: %.200s", err, e.DevInfo)
	}
	return err
}
