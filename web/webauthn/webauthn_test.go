package webauthn

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/go-webauthn/webauthn/protocol/webauthncbor"
)

var site = Party{ID: "judge.example.org", Name: "Deep-OJ", Origins: []string{"https://judge.example.org", "https://www.judge.example.org:8443"}}

// device is an authenticator with one passkey, and the browser before it. A test makes it lie.
type device struct {
	key     crypto.Signer
	id      []byte
	site    string
	flags   byte
	counter uint32
	said    map[string]any // by the browser
	vouches bool           // signs its key with itself
	attests map[string]any // in the place of nothing
}

// Flags of an authenticator, by their bits in the standard.
const (
	userPresent  = 1 << 0
	userVerified = 1 << 2
	backedUp     = 1 << 4
	attested     = 1 << 6
)

func newDevice(key crypto.Signer, challenge []byte) *device {
	return &device{
		key: key, id: []byte("a passkey"), site: site.ID, flags: userPresent | userVerified, counter: 7,
		said: map[string]any{"challenge": text(challenge), "origin": site.Origins[0], "crossOrigin": false},
	}
}

func text(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

func (d *device) speak(kind string, flags byte, rest []byte) (browser, authenticator []byte) {
	if d.said["type"] == nil {
		d.said["type"] = kind
	}
	browser, _ = json.Marshal(d.said)
	party := sha256.Sum256([]byte(d.site))
	return browser, slices.Concat(party[:], []byte{d.flags | flags}, binary.BigEndian.AppendUint32(nil, d.counter), rest)
}

func encoded(id []byte, response map[string]any) []byte {
	out, _ := json.Marshal(map[string]any{"type": "public-key", "id": text(id), "rawId": text(id), "response": response})
	return out
}

func (d *device) register(t *testing.T) []byte {
	t.Helper()
	rest := slices.Concat(make([]byte, 16), binary.BigEndian.AppendUint16(nil, uint16(len(d.id))), d.id, d.cose(t))
	browser, authenticator := d.speak("webauthn.create", attested, rest)
	object := map[string]any{"fmt": "none", "attStmt": map[string]any{}, "authData": authenticator}
	if d.vouches {
		object["fmt"], object["attStmt"] = "packed", map[string]any{"alg": -7, "sig": d.signature(t, browser, authenticator)}
	}
	maps.Copy(object, d.attests)
	return encoded(d.id, map[string]any{"clientDataJSON": text(browser), "attestationObject": text(cbor(t, object)), "transports": []string{"usb", "<script>"}})
}

// cose writes the device's key as RFC 9053 and RFC 8230 have it, without the help of the package.
func (d *device) cose(t *testing.T) []byte {
	t.Helper()
	switch k := d.key.Public().(type) {
	case *ecdsa.PublicKey:
		point, err := k.Bytes()
		if err != nil {
			t.Fatal(err)
		}
		half := len(point) / 2
		curve := map[elliptic.Curve][2]int{elliptic.P256(): {-7, 1}, elliptic.P384(): {-35, 2}}[k.Curve]
		return cbor(t, map[int]any{1: 2, 3: curve[0], -1: curve[1], -2: point[1 : 1+half], -3: point[1+half:]})
	case ed25519.PublicKey:
		return cbor(t, map[int]any{1: 1, 3: -8, -1: 6, -2: []byte(k)})
	case *rsa.PublicKey:
		return cbor(t, map[int]any{1: 3, 3: -257, -1: k.N.Bytes(), -2: []byte{1, 0, 1}})
	}
	t.Fatalf("a key of the kind %T", d.key)
	return nil
}

func cbor(t *testing.T, v any) []byte {
	t.Helper()
	out, err := webauthncbor.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func (d *device) sign(t *testing.T) []byte {
	t.Helper()
	browser, authenticator := d.speak("webauthn.get", 0, nil)
	return encoded(d.id, map[string]any{"clientDataJSON": text(browser), "authenticatorData": text(authenticator), "signature": text(d.signature(t, browser, authenticator)), "userHandle": nil})
}

// signature signs what both say.
func (d *device) signature(t *testing.T, browser, authenticator []byte) []byte {
	t.Helper()
	digest := sha256.Sum256(browser)
	signed := slices.Concat(authenticator, digest[:])
	var signature []byte
	var err error
	if _, whole := d.key.(ed25519.PrivateKey); whole {
		signature, err = d.key.Sign(rand.Reader, signed, crypto.Hash(0))
	} else {
		digest := sha256.Sum256(signed)
		signature, err = d.key.Sign(rand.Reader, digest[:], crypto.SHA256)
	}
	if err != nil {
		t.Fatal(err)
	}
	return signature
}

// fields are the fields of an answer's response.
func fields(t *testing.T, answer []byte) map[string]any {
	t.Helper()
	var whole struct{ Response map[string]any }
	if err := json.Unmarshal(answer, &whole); err != nil {
		t.Fatal(err)
	}
	return whole.Response
}

func check(answer, challenge, key []byte) error {
	s, err := ReadSigned(answer)
	if err == nil {
		_, err = site.Check(s, challenge, key)
	}
	return err
}

func TestAPasskeyOfEachKindIsMadeAndSigns(t *testing.T) {
	curve, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	_, edwards, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	prime, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	challenge := []byte("0123456789abcdef0123456789abcdef")
	for name, key := range map[string]crypto.Signer{"ES256": curve, "EdDSA": edwards, "RS256": prime} {
		d := newDevice(key, challenge)
		made, err := site.Register(d.register(t), challenge)
		if err != nil || string(made.ID) != "a passkey" || made.Counter != 7 || !slices.Equal(made.Transports, []string{"usb"}) {
			t.Fatalf("%s: %+v, %v", name, made, err)
		}
		d = newDevice(key, challenge)
		answer := d.sign(t)
		if err := check(answer, challenge, made.PublicKey); err != nil {
			t.Errorf("%s: a signature: %v", name, err)
		}
		other, _ := x509.MarshalPKIXPublicKey(map[string]crypto.Signer{"ES256": prime, "EdDSA": curve, "RS256": edwards}[name].Public())
		if check(answer, challenge, other) == nil {
			t.Errorf("%s: a signature by another key is taken", name)
		}
	}
	vouching := newDevice(curve, challenge)
	vouching.vouches = true
	if _, err := site.Register(vouching.register(t), challenge); err != nil {
		t.Errorf("a passkey that vouches for itself: %v", err)
	}
	other, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	long, err := rsa.GenerateKey(rand.Reader, 4104)
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []crypto.Signer{other, long} {
		if _, err := site.Register(newDevice(key, challenge).register(t), challenge); err == nil {
			t.Errorf("a key that was not asked for is taken: %T", key)
		}
	}
}

func TestWhatProvesNothingIsRefused(t *testing.T) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	challenge := []byte("0123456789abcdef0123456789abcdef")
	public, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		t.Fatal(err)
	}
	lies := map[string]func(*device){
		"the other kind of answer":     func(d *device) { d.said["type"] = "webauthn.other" },
		"a payment":                    func(d *device) { d.said["type"] = "payment.get" },
		"another challenge":            func(d *device) { d.said["challenge"] = text([]byte("another 6789abcdef0123456789abcd")) },
		"no challenge":                 func(d *device) { delete(d.said, "challenge") },
		"another site":                 func(d *device) { d.said["origin"] = "https://evil.example" },
		"a site with a name that fits": func(d *device) { d.said["origin"] = "https://judge.example.org.evil.example" },
		"a part of the site":           func(d *device) { d.said["origin"] = "https://evil.judge.example.org" },
		"the site without safety":      func(d *device) { d.said["origin"] = "http://judge.example.org" },
		"another port":                 func(d *device) { d.said["origin"] = "https://judge.example.org:444" },
		"a frame of another site":      func(d *device) { d.said["crossOrigin"] = true },
		"a frame, by its top":          func(d *device) { d.said["topOrigin"] = "https://evil.example" },
		"an authenticator's site":      func(d *device) { d.site = "evil.example" },
		"a user who was not there":     func(d *device) { d.flags &^= userPresent },
		"a user who was not verified":  func(d *device) { d.flags &^= userVerified },
		"a copy that cannot be":        func(d *device) { d.flags |= backedUp },
	}
	for name, lie := range lies {
		d := newDevice(key, challenge)
		lie(d)
		if check(d.sign(t), challenge, public) == nil {
			t.Errorf("%s: a signature is taken", name)
		}
		d = newDevice(key, challenge)
		lie(d)
		if _, err := site.Register(d.register(t), challenge); err == nil {
			t.Errorf("%s: a passkey is made", name)
		}
	}
	d := newDevice(key, challenge)
	for name, answer := range map[string][]byte{"what makes a passkey": d.register(t), "nothing": nil, "an empty object": []byte("{}"), "a huge one": []byte(`{"type": "` + strings.Repeat("x", maxAnswer) + `"}`)} {
		if check(answer, challenge, public) == nil {
			t.Errorf("%s is taken as a signature", name)
		}
	}
	if _, err := site.Register(newDevice(key, challenge).sign(t), challenge); err == nil {
		t.Error("a signature makes a passkey")
	}
	for name, attests := range map[string]map[string]any{
		"of a maker":        {"fmt": "packed", "attStmt": map[string]any{"alg": -7, "sig": []byte("signed"), "x5c": [][]byte{[]byte("a certificate")}}},
		"of a TPM":          {"fmt": "tpm", "attStmt": map[string]any{"ver": "2.0"}},
		"of its own, a lie": {"fmt": "packed", "attStmt": map[string]any{"alg": -7, "sig": []byte("signed")}},
		"that is not there": {"fmt": "none", "attStmt": map[string]any{"alg": -7}},
	} {
		d := newDevice(key, challenge)
		d.attests = attests
		if _, err := site.Register(d.register(t), challenge); err == nil {
			t.Errorf("an attestation %s is taken", name)
		}
	}
	if _, err := site.Register(encoded([]byte("another"), fields(t, newDevice(key, challenge).register(t))), challenge); err == nil {
		t.Error("another id than the authenticator's is taken")
	}
	if check(newDevice(key, nil).sign(t), nil, public) == nil {
		t.Error("without a challenge a signature is taken")
	}
	// Each byte that was signed counts.
	response := fields(t, newDevice(key, challenge).sign(t))
	for _, field := range []string{"clientDataJSON", "authenticatorData", "signature"} {
		good, _ := response[field].(string)
		raw, err := base64.RawURLEncoding.DecodeString(good)
		if err != nil {
			t.Fatal(err)
		}
		for at := range raw {
			changed := maps.Clone(response)
			turned := slices.Clone(raw)
			turned[at] ^= 1
			changed[field] = text(turned)
			if check(encoded([]byte("a passkey"), changed), challenge, public) == nil {
				t.Errorf("%s with byte %d changed is taken", field, at)
			}
		}
	}
	// What a device says of its passkey is looked at, too.
	long := newDevice(key, challenge)
	long.id = make([]byte, maxCredential+1)
	if _, err := site.Register(long.register(t), challenge); err == nil {
		t.Error("an id that is longer than any is taken")
	}
}

func TestThePartyIsWhatTheSettingsName(t *testing.T) {
	for name, tt := range map[string]struct {
		address, listen, hosts, id, origins string
	}{
		"one machine":                      {"", "127.0.0.1:8080", "", "localhost", "http://localhost:8080"},
		"one machine, by IPv6":             {"", "[::1]:80", "", "localhost", "http://localhost"},
		"all addresses without names":      {"", "0.0.0.0:8080", "", "", ""},
		"an address of a network":          {"", "192.0.2.1:8080", "", "", ""},
		"behind a proxy":                   {"", "127.0.0.1:8080", "Judge.Example.org", "judge.example.org", "https://judge.example.org"},
		"with a port":                      {"", "0.0.0.0:8080", "judge.example.org:8443", "judge.example.org", "https://judge.example.org:8443"},
		"names that end in the first":      {"", "0.0.0.0:8080", "example.org www.example.org evilexample.org example.net", "example.org", "https://example.org https://www.example.org"},
		"an address before the name":       {"", "0.0.0.0:8080", "192.0.2.1:8080 [2001:db8::1]:80 judge.example.org", "judge.example.org", "https://judge.example.org"},
		"addresses alone":                  {"", "127.0.0.1:8080", "192.0.2.1", "", ""},
		"a tunnel to the same machine":     {"", "0.0.0.0:8080", "localhost:9000", "localhost", "http://localhost:9000 https://localhost:9000"},
		"a public address":                 {"https://Judge.example.org", "0.0.0.0:8080", "judge.example.org www.judge.example.org other.example", "judge.example.org", "https://judge.example.org https://www.judge.example.org"},
		"a public address with a port":     {"https://judge.example.org:8443", "127.0.0.1:8080", "", "judge.example.org", "https://judge.example.org:8443"},
		"a public address of this machine": {"http://localhost:8080", "127.0.0.1:8080", "", "localhost", "http://localhost:8080"},
		"a public address of numbers":      {"http://192.0.2.1:8080", "192.0.2.1:8080", "", "", ""},
	} {
		p := PartyOf("Deep-OJ", tt.address, tt.listen, strings.Fields(tt.hosts))
		if p.ID != tt.id || strings.Join(p.Origins, " ") != tt.origins {
			t.Errorf("%s: %q at %q, want %q at %q", name, p.ID, p.Origins, tt.id, tt.origins)
		}
	}
}

func TestABrowserIsAskedToVerifyItsUserAndNotToMakeASecondPasskey(t *testing.T) {
	others := []Made{{ID: []byte{0xfb, 0xff}, Transports: []string{"internal"}}}
	create, err := json.Marshal(site.Create("ann", []byte("handle"), []byte("challenge"), others))
	if err != nil {
		t.Fatal(err)
	}
	ask, err := json.Marshal(site.Ask([]byte("challenge"), nil))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"rp":{"name":"Deep-OJ","id":"judge.example.org"}`, `"excludeCredentials":[{"type":"public-key","id":"-_8","transports":["internal"]}]`, `"userVerification":"required"`, `"attestation":"none"`, `"challenge":"Y2hhbGxlbmdl"`, `"alg":-7`} {
		if !strings.Contains(string(create), want) {
			t.Errorf("what makes a passkey lacks %s: %s", want, create)
		}
	}
	if strings.Contains(string(ask), "allowCredentials") {
		t.Errorf("what asks for any passkey names some: %s", ask)
	}
	for _, want := range []string{`"rpId":"judge.example.org"`, `"userVerification":"required"`} {
		if !strings.Contains(string(ask), want) {
			t.Errorf("what asks for a signature lacks %s: %s", want, ask)
		}
	}
}
