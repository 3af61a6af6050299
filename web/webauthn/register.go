package webauthn

import (
	"fmt"
	"slices"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/protocol/webauthncose"
)

// kinds are the kinds of signatures that are taken, the best first.
var kinds = []protocol.CredentialParameter{
	{Type: protocol.PublicKeyCredentialType, Algorithm: webauthncose.AlgES256},
	{Type: protocol.PublicKeyCredentialType, Algorithm: webauthncose.AlgEdDSA},
	{Type: protocol.PublicKeyCredentialType, Algorithm: webauthncose.AlgRS256},
}

// Create asks a browser for a passkey of a user whom authenticators call handle, where there is none of others that
// they have. What it returns is JSON as the standard has it.
func (p Party) Create(user string, handle, challenge []byte, others []Made) any {
	return protocol.PublicKeyCredentialCreationOptions{
		RelyingParty: protocol.RelyingPartyEntity{ID: p.ID, CredentialEntity: protocol.CredentialEntity{Name: p.Name}},
		User: protocol.UserEntity{
			ID: protocol.URLEncodedBase64(handle), DisplayName: user, CredentialEntity: protocol.CredentialEntity{Name: user},
		},
		Challenge: challenge, Parameters: kinds, Timeout: patience, CredentialExcludeList: named(others),
		AuthenticatorSelection: protocol.AuthenticatorSelection{ResidentKey: protocol.ResidentKeyRequirementPreferred, UserVerification: protocol.VerificationRequired},
		Attestation:            protocol.PreferNoAttestation,
	}
}

// Made is a passkey.
type Made struct {
	ID         []byte
	PublicKey  []byte // as X.509 has it
	Transports []string
	Counter    uint32
}

// Register reads the answer to [Party.Create].
func (p Party) Register(text, challenge []byte) (Made, error) {
	if err := size(text); err != nil {
		return Made{}, err
	}
	wanted, err := asked(challenge)
	if err != nil {
		return Made{}, err
	}
	a, err := protocol.ParseCredentialCreationResponseBytes(text)
	if err != nil {
		return Made{}, detailed(err)
	}
	if err := checkID(a.RawID); err != nil {
		return Made{}, err
	}
	if err := checkBrowser(a.Response.CollectedClientData); err != nil {
		return Made{}, err
	}
	// Whatever comes with certificates was not asked for, and nobody here reads them.
	object := a.Response.AttestationObject
	if _, certified := object.AttStatement["x5c"]; certified || object.Format != "none" && object.Format != "packed" {
		return Made{}, fmt.Errorf("an attestation of the kind %.40q was not asked for", object.Format)
	}
	if _, err := a.Verify(wanted, p.ID, p.Origins, nil, nil, protocol.TopOriginExplicitVerificationMode, false, true, true, nil, kinds,
		protocol.AttestationPolicy{}, protocol.SignaturePolicy{}); err != nil {
		return Made{}, detailed(err)
	}
	if err := checkCopies(object.AuthData.Flags); err != nil {
		return Made{}, err
	}
	key, err := kept(object.AuthData.AttData.CredentialPublicKey)
	if err != nil {
		return Made{}, err
	}
	return Made{a.RawID, key, transports(a.Raw.AttestationResponse.Transports), object.AuthData.Counter}, nil
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
