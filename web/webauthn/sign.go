package webauthn

import (
	"github.com/go-webauthn/webauthn/protocol"
)

// Ask asks a browser for a signature with one of some passkeys, or where there are none with any that it knows. What it
// returns is JSON as the standard has it.
func (p Party) Ask(challenge []byte, with []Made) any {
	return protocol.PublicKeyCredentialRequestOptions{
		Challenge: challenge, Timeout: patience, RelyingPartyID: p.ID, AllowedCredentials: named(with), UserVerification: protocol.VerificationRequired,
	}
}

// Signed is an answer to [Party.Ask] that nobody has checked yet.
type Signed struct {
	ID     []byte // of the passkey that it claims
	Handle []byte // of the user that it claims; empty = the authenticator does not say

	whole *protocol.ParsedCredentialAssertionData
}

// ReadSigned reads an answer.
func ReadSigned(text []byte) (Signed, error) {
	if err := size(text); err != nil {
		return Signed{}, err
	}
	a, err := protocol.ParseCredentialRequestResponseBytes(text)
	if err != nil {
		return Signed{}, detailed(err)
	}
	return Signed{a.RawID, a.Response.UserHandle, a}, checkID(a.RawID)
}

// Check reports why an answer does not prove that its user has the private half of a key, as X.509 has it, and signed
// the challenge on a page of the site. It returns the authenticator's counter of signatures, which has to grow unless it
// is always 0.
func (p Party) Check(s Signed, challenge, key []byte) (counter uint32, err error) {
	wanted, err := asked(challenge)
	if err != nil {
		return 0, err
	}
	if err := checkBrowser(s.whole.Response.CollectedClientData); err != nil {
		return 0, err
	}
	public, err := taken(key)
	if err != nil {
		return 0, err
	}
	if err := s.whole.Verify(wanted, p.ID, "", p.Origins, nil, nil, protocol.TopOriginExplicitVerificationMode, false, true, true, public,
		protocol.SignaturePolicy{}); err != nil {
		return 0, detailed(err)
	}
	said := s.whole.Response.AuthenticatorData
	return said.Counter, checkCopies(said.Flags)
}
