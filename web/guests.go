package web

import (
	"bytes"

	"github.com/gofiber/fiber/v2"
)

// guests decides whether somebody without an account may use the site, and says why
// in a few words, for the log. A setting that only a site for other machines needs
// says that the loopback address is not what people come from.
func (c Config) guests() (may bool, why string) {
	switch {
	case c.AuthRequired:
		return false, "accounts are required"
	case !isLoopback(c.Listen):
		return false, "other machines reach the address"
	case c.AuthGuest:
		return true, "they were asked for"
	case len(c.Hosts) > 0:
		return false, "there are public host names"
	case len(c.Proxies) > 0:
		return false, "there are trusted proxies"
	case c.OIDC != OIDC{}:
		return false, "people log in at a provider of OpenID Connect"
	}
	return true, "only this machine reaches the address"
}

// Guests reports whether somebody without an account may use the site, and why.
func (s *Server) Guests() (may bool, why string) { return s.guests, s.whyGuests }

// proxied reports whether a request came through a proxy, as far as that says so: it
// may then be from anywhere, whatever address the connection is from.
func proxied(c *fiber.Ctx) (is bool) {
	c.Request().Header.VisitAll(func(name, _ []byte) {
		name = bytes.ToLower(name)
		switch string(name) {
		case "forwarded", "via", "x-real-ip":
			is = true
		default:
			is = is || bytes.HasPrefix(name, []byte("x-forwarded-"))
		}
	})
	return is
}
