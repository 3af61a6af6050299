// Package factors answers for second factors, which a login asks for after the password: authenticator apps, passkeys
// and recovery codes. The rules are those of host/people, and what passkeys sign is read by web/webauthn.
package factors

import (
	"time"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/judge"
	"deepoj/web/locale"
	"deepoj/web/site"
	"deepoj/web/throttle"
	"deepoj/web/webauthn"
)

// Login is what the second step of a login needs of the first.
type Login interface {
	// LogIn gives a browser the session of somebody who has proved all that is asked for.
	LogIn(c *fiber.Ctx, u *judge.User, next string) error

	// Again shows the login page to somebody who has to begin again, and why.
	Again(c *fiber.Ctx, next string, why locale.Word) error

	// Place is where somebody tries from, and whether that is a browser that has logged in to the account before.
	Place(c *fiber.Ctx, u *judge.User) (place string, known bool)
}

// Room answers for second factors.
type Room struct {
	*site.Site
	login Login
	tries *throttle.Throttle // of codes
	party webauthn.Party     // the site, as passkeys know it
	now   func() time.Time   // by which codes of authenticator apps count
}

// New makes the room.
func New(shared *site.Site, login Login, tries *throttle.Throttle) *Room {
	party := webauthn.PartyOf("Deep-OJ", shared.Config.PublicURL, shared.Bound, shared.Config.Hosts)
	return &Room{Site: shared, login: login, tries: tries, party: party, now: time.Now}
}

// Passkeys is what passkeys know the site by; "" = there are none.
func (s *Room) Passkeys() string { return s.party.ID }
