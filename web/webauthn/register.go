package webauthn

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/x509"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

// algorithms are the kinds of signatures that are taken, as COSE numbers them, the best first: ES256, EdDSA, RS256.
var algorithms = []int{-7, -8, -257}

// Creation asks a browser to make a passkey.
type Creation struct {
	Party     party        `json:"rp"`
	User      account      `json:"user"`
	Challenge Base64       `json:"challenge"`
	Kinds     []kind       `json:"pubKeyCredParams"`
	Timeout   int          `json:"timeout"`
	Exclude   []Credential `json:"excludeCredentials"`
	Selection selection    `json:"authenticatorSelection"`
	Attest    string       `json:"attestation"`
}

type party struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

type account struct {
	ID      Base64 `json:"id"`
	Name    string `json:"name"`
	Display string `json:"displayName"`
}

type kind struct {
	Type      string `json:"type"`
	Algorithm int    `json:"alg"`
}

type selection struct {
	Resident     string `json:"residentKey"`
	Verification string `json:"userVerification"`
}

// Create asks for a passkey of a user whom authenticators call handle, where there is none of others that they have.
func (p Party) Create(user string, handle, challenge []byte, others []Made) Creation {
	c := Creation{
		Party: party{p.ID, p.Name}, User: account{handle, user, user}, Challenge: challenge, Timeout: patience,
		Exclude: []Credential{}, Selection: selection{"preferred", "required"}, Attest: "none",
	}
	for _, a := range algorithms {
		c.Kinds = append(c.Kinds, kind{"public-key", a})
	}
	for _, o := range others {
		c.Exclude = append(c.Exclude, named(o.ID, o.Transports))
	}
	return c
}

// Made is a passkey.
type Made struct {
	ID         []byte
	PublicKey  []byte // as X.509 has it
	Transports []string
	Counter    uint32
}

// Register reads the answer to [Party.Create]. Nothing vouches for its key but the browser, which is all there is
// without attestation: who hands over another one shuts themselves out.
func (p Party) Register(text, challenge []byte) (Made, error) {
	var a struct {
		answer
		Response struct {
			Browser       Base64   `json:"clientDataJSON"`
			Authenticator Base64   `json:"authenticatorData"`
			PublicKey     Base64   `json:"publicKey"`
			Transports    []string `json:"transports"`
		} `json:"response"`
	}
	if err := read(text, &a); err != nil {
		return Made{}, err
	}
	if err := a.check(); err != nil {
		return Made{}, err
	}
	if err := p.checkBrowser(a.Response.Browser, "webauthn.create", challenge); err != nil {
		return Made{}, err
	}
	said, err := p.checkAuthenticator(a.Response.Authenticator)
	if err != nil {
		return Made{}, err
	}
	const model = 16 // bytes
	if said.flags&attested == 0 || len(said.rest) < model+2 {
		return Made{}, errors.New("the authenticator made no passkey")
	}
	id := said.rest[model+2:]
	if n := int(binary.BigEndian.Uint16(said.rest[model:])); n > len(id) || !bytes.Equal(id[:n], a.RawID) {
		return Made{}, errors.New("the authenticator made another passkey")
	}
	if _, err := publicKey(a.Response.PublicKey); err != nil {
		return Made{}, err
	}
	return Made{a.RawID, a.Response.PublicKey, transports(a.Response.Transports), said.counter}, nil
}

// publicKey reads a key of a kind that was asked for.
func publicKey(der []byte) (any, error) {
	key, err := x509.ParsePKIXPublicKey(der)
	if err != nil {
		return nil, fmt.Errorf("read the passkey's public key: %w", err)
	}
	switch k := key.(type) {
	case *ecdsa.PublicKey:
		if k.Curve == elliptic.P256() {
			return k, nil
		}
	case ed25519.PublicKey:
		return k, nil
	case *rsa.PublicKey:
		if bits := k.N.BitLen(); bits >= 2048 && bits <= 4096 {
			return k, nil
		}
	}
	return nil, fmt.Errorf("a key of the kind %T was not asked for", key)
}

// transports are those that the standard names, which browsers are told again.
func transports(said []string) []string {
	out := []string{}
	for _, t := range []string{"ble", "hybrid", "internal", "nfc", "smart-card", "usb"} {
		if slices.Contains(said, t) {
			out = append(out, t)
		}
	}
	return out
}
