package webauthn

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/x509"
	"fmt"
	"math/big"

	"github.com/go-webauthn/webauthn/protocol/webauthncbor"
	"github.com/go-webauthn/webauthn/protocol/webauthncose"
)

// kept returns a key of COSE as X.509 has it, which is how passkeys are kept.
func kept(cose []byte) ([]byte, error) {
	read, err := webauthncose.ParsePublicKey(cose)
	if err != nil {
		return nil, fmt.Errorf("read the passkey's public key: %w", err)
	}
	var key any
	switch k := read.(type) {
	case webauthncose.EC2PublicKeyData:
		if key, err = k.ToECDSA(); err != nil {
			return nil, fmt.Errorf("read the passkey's public key: %w", err)
		}
	case webauthncose.OKPPublicKeyData:
		key = ed25519.PublicKey(k.XCoord)
	case webauthncose.RSAPublicKeyData:
		e, err := webauthncose.ParseRSAPublicKeyDataExponent(&k)
		if err != nil {
			return nil, fmt.Errorf("read the passkey's public key: %w", err)
		}
		key = &rsa.PublicKey{N: new(big.Int).SetBytes(k.Modulus), E: e}
	}
	if err := checkKey(key); err != nil {
		return nil, err
	}
	return x509.MarshalPKIXPublicKey(key)
}

// checkKey reports why a key is of no kind that was asked for.
func checkKey(key any) error {
	switch k := key.(type) {
	case *ecdsa.PublicKey:
		if k.Curve == elliptic.P256() {
			return nil
		}
	case ed25519.PublicKey:
		return nil
	case *rsa.PublicKey:
		if bits := k.N.BitLen(); bits >= 2048 && bits <= 4096 {
			return nil
		}
	}
	return fmt.Errorf("a key of the kind %T was not asked for", key)
}

// taken returns a key that was kept as COSE has it (RFC 9053, RFC 8230), which is how the library takes it.
func taken(der []byte) ([]byte, error) {
	key, err := x509.ParsePKIXPublicKey(der)
	if err != nil {
		return nil, fmt.Errorf("read the passkey's public key: %w", err)
	}
	if err := checkKey(key); err != nil {
		return nil, err
	}
	var cose any
	switch k := key.(type) {
	case *ecdsa.PublicKey:
		point, err := k.Bytes()
		if err != nil {
			return nil, fmt.Errorf("read the passkey's public key: %w", err)
		}
		half := len(point) / 2
		cose = webauthncose.EC2PublicKeyData{
			PublicKeyData: webauthncose.PublicKeyData{KeyType: int64(webauthncose.EllipticKey), Algorithm: int64(webauthncose.AlgES256)},
			Curve:         int64(webauthncose.P256), XCoord: point[1 : 1+half], YCoord: point[1+half:],
		}
	case ed25519.PublicKey:
		cose = webauthncose.OKPPublicKeyData{
			PublicKeyData: webauthncose.PublicKeyData{KeyType: int64(webauthncose.OctetKey), Algorithm: int64(webauthncose.AlgEdDSA)},
			Curve:         int64(webauthncose.Ed25519), XCoord: k,
		}
	case *rsa.PublicKey:
		cose = webauthncose.RSAPublicKeyData{
			PublicKeyData: webauthncose.PublicKeyData{KeyType: int64(webauthncose.RSAKey), Algorithm: int64(webauthncose.AlgRS256)},
			Modulus:       k.N.Bytes(), Exponent: big.NewInt(int64(k.E)).Bytes(),
		}
	}
	return webauthncbor.Marshal(cose)
}
