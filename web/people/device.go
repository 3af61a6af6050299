package people

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/judge"
	"deepoj/host/people"
	"deepoj/web/site"
)

// A browser keeps proofs that somebody logged in with it before, each of one account, so that it does not wait for
// others who guess that account's password. What signs a proof is made from the password's hash: any server process
// that shares the database can check it, and a change of the password ends it.
const (
	deviceCookie = "deepoj_device"
	deviceLife   = 365 * 24 * time.Hour
	maxDevices   = 4 // accounts that a browser is known for: who logged in last

	deviceID    = 12 // bytes, random
	deviceUntil = 8  // bytes: seconds since 1970
	deviceMAC   = 16 // bytes
)

// signDevice makes the signature of a device of an account.
func signDevice(u *judge.User, signed []byte) []byte {
	mac := hmac.New(sha256.New, []byte(u.PasswordHash))
	_, _ = mac.Write([]byte("device of " + u.Name + "\x00")) // never fails: see hash.Hash
	_, _ = mac.Write(signed)
	return mac.Sum(nil)[:deviceMAC]
}

// knownDevice returns the name of the device that a cookie proves to have logged in to the account before, "" if it
// proves none. An account without a password of its own has none.
func knownDevice(cookie string, u *judge.User, now time.Time) string {
	if u.PasswordHash == people.AbsentPassword {
		return ""
	}
	for _, text := range strings.SplitN(cookie, ".", maxDevices+1) {
		raw, err := base64.RawURLEncoding.DecodeString(text)
		if err != nil || len(raw) != deviceID+deviceUntil+deviceMAC {
			continue
		}
		signed, mac := raw[:deviceID+deviceUntil], raw[deviceID+deviceUntil:]
		until := time.Unix(int64(binary.BigEndian.Uint64(signed[deviceID:])), 0)
		if hmac.Equal(mac, signDevice(u, signed)) && now.Before(until) {
			return hex.EncodeToString(signed[:deviceID])
		}
	}
	return ""
}

// withDevice returns a cookie that also proves that the device has logged in to the
// account. One that did before keeps its name.
func withDevice(cookie string, u *judge.User, now time.Time) string {
	id, err := hex.DecodeString(knownDevice(cookie, u, now))
	if err != nil || len(id) == 0 {
		id = make([]byte, deviceID)
		_, _ = rand.Read(id) // never fails: see crypto/rand
	}
	signed := binary.BigEndian.AppendUint64(id[:deviceID:deviceID], uint64(now.Add(deviceLife).Unix()))
	proofs := []string{base64.RawURLEncoding.EncodeToString(append(signed, signDevice(u, signed)...))}
	for other := range strings.SplitSeq(cookie, ".") {
		raw, err := base64.RawURLEncoding.DecodeString(other)
		if len(proofs) < maxDevices && err == nil && len(raw) == deviceID+deviceUntil+deviceMAC && string(raw[:deviceID]) != string(id) {
			proofs = append(proofs, other)
		}
	}
	return strings.Join(proofs, ".")
}

// rememberDevice has the browser keep that somebody has logged in with it.
func (s *Room) rememberDevice(c *fiber.Ctx, value string) {
	c.Cookie(&fiber.Cookie{
		Name: deviceCookie, Value: value, Path: "/", Expires: time.Now().Add(deviceLife),
		HTTPOnly: true, SameSite: fiber.CookieSameSiteStrictMode, Secure: c.Secure(),
	})
}

// knownPlace is how the place of a known device begins.
const knownPlace = "device "

// loginPlace is where somebody tries the password of an account from: a device that is
// known, or a network. u is nil where there is no such account.
func (s *Room) loginPlace(c *fiber.Ctx, u *judge.User) string {
	if u != nil {
		if id := knownDevice(c.Cookies(deviceCookie), u, time.Now()); id != "" {
			return knownPlace + id
		}
	}
	if address, limited := site.LimitedAddress(s.ClientAddress(c)); limited {
		return address
	}
	return "this machine"
}

// Place is where somebody tries a code of an account from, and whether that is a browser that has logged in to it before.
func (s *Room) Place(c *fiber.Ctx, u *judge.User) (place string, known bool) {
	place = s.loginPlace(c, u)
	return place, strings.HasPrefix(place, knownPlace)
}
