package webauthn

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/sha256"
	"errors"
	"slices"
)

// Request asks a browser to sign with a passkey.
type Request struct {
	Challenge    Base64       `json:"challenge"`
	Party        string       `json:"rpId"`
	Allow        []Credential `json:"allowCredentials"`
	Verification string       `json:"userVerification"`
	Timeout      int          `json:"timeout"`
}

// Ask asks for a signature with one of some passkeys, or where there are none with any that the browser knows.
func (p Party) Ask(challenge []byte, with []Made) Request {
	r := Request{Challenge: challenge, Party: p.ID, Allow: []Credential{}, Verification: "required", Timeout: patience}
	for _, m := range with {
		r.Allow = append(r.Allow, named(m.ID, m.Transports))
	}
	return r
}

// Signed is an answer to [Party.Ask] that nobody has checked yet.
type Signed struct {
	ID     []byte // of the passkey that it claims
	Handle []byte // of the user that it claims; nil = the authenticator does not say

	browser, authenticator, signature []byte
}

// ReadSigned reads an answer.
func ReadSigned(text []byte) (Signed, error) {
	var a struct {
		answer
		Response struct {
			Browser       Base64 `json:"clientDataJSON"`
			Authenticator Base64 `json:"authenticatorData"`
			Signature     Base64 `json:"signature"`
			Handle        Base64 `json:"userHandle"`
		} `json:"response"`
	}
	if err := read(text, &a); err != nil {
		return Signed{}, err
	}
	if err := a.check(); err != nil {
		return Signed{}, err
	}
	return Signed{a.RawID, a.Response.Handle, a.Response.Browser, a.Response.Authenticator, a.Response.Signature}, nil
}

// Check reports why an answer does not prove that its user has the private half of a key, and signed the challenge on a
// page of the site. It returns the authenticator's counter of signatures, which has to grow unless it is always 0.
func (p Party) Check(s Signed, challenge, key []byte) (counter uint32, err error) {
	if err := p.checkBrowser(s.browser, "webauthn.get", challenge); err != nil {
		return 0, err
	}
	said, err := p.checkAuthenticator(s.authenticator)
	if err != nil {
		return 0, err
	}
	public, err := publicKey(key)
	if err != nil {
		return 0, err
	}
	browser := sha256.Sum256(s.browser)
	if !verifies(public, slices.Concat(s.authenticator, browser[:]), s.signature) {
		return 0, errors.New("the signature is not the passkey's")
	}
	return said.counter, nil
}

// verifies reports whether a signature of a text is by a key.
func verifies(key any, text, signature []byte) bool {
	digest := sha256.Sum256(text)
	switch k := key.(type) {
	case *ecdsa.PublicKey:
		return ecdsa.VerifyASN1(k, digest[:], signature)
	case ed25519.PublicKey:
		return ed25519.Verify(k, text, signature)
	case *rsa.PublicKey:
		return rsa.VerifyPKCS1v15(k, crypto.SHA256, digest[:], signature) == nil
	}
	return false
}
