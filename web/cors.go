package web

import (
	"regexp"
	"strings"

	"github.com/gofiber/fiber/v2"

	clicsroom "deepoj/web/clics"
	judge0api "deepoj/web/judge0/api"
	"deepoj/web/site"
)

// What pages of other sites are told. They may send any header: none but a key or a token says who somebody is.
const (
	corsMethods = "GET, HEAD, POST, PUT, PATCH, DELETE"
	corsExposed = "ETag, Location, RateLimit-Limit, RateLimit-Policy, RateLimit-Remaining, RateLimit-Reset, Retry-After, Trace-Id"
	corsAge     = "7200" // seconds for which a browser need not ask again
)

// corsHeaders are names of headers with commas between them.
var corsHeaders = regexp.MustCompile(`^[A-Za-z0-9-]+( ?, ?[A-Za-z0-9-]+){0,99}$`)

// subdomains are what * stands for in an origin: one name or several.
var subdomains = regexp.MustCompile(`^[a-z0-9-]+(\.[a-z0-9-]+)*$`)

// originPolicy says of which origins pages may use the API.
type originPolicy []string

// any reports whether every origin may.
func (p originPolicy) any() bool { return len(p) == 1 && p[0] == "*" }

// allows reports whether pages of an origin may use the API.
func (p originPolicy) allows(origin string) bool {
	origin = strings.ToLower(origin)
	for _, pattern := range p {
		before, after, some := strings.Cut(pattern, "*")
		if pattern == "*" || !some && origin == pattern {
			return true
		}
		if name, ok := strings.CutPrefix(origin, before); some && ok {
			if name, ok = strings.CutSuffix(name, after); ok && subdomains.MatchString(name) {
				return true
			}
		}
	}
	return false
}

// forPrograms reports whether an address is one of the API.
func forPrograms(path string) bool {
	return judge0api.Speaks(path) || clicsroom.Speaks(path) || strings.HasPrefix(path, "/api/v1/")
}

// allowedOrigin is the key, in the locals of a request, that says that pages of its origin may use the API.
type allowedOrigin struct{}

// crossOrigin takes the cookies off a request that a page of another origin made a browser send, unless the browser goes
// to a page of ours, and answers the question whether pages of that origin may use the API. It stands before the limits
// of requests, so that a page learns of them.
func (s *Server) crossOrigin(c *fiber.Ctx) error {
	origin, host := c.Get(fiber.HeaderOrigin), c.Get(fiber.HeaderHost)
	several := len(c.Request().Header.PeekAll(fiber.HeaderOrigin)) > 1 // which no browser sends
	program := forPrograms(c.Path())
	if program && len(s.Config.CORSOrigins) > 0 && !s.origins.any() {
		c.Vary(fiber.HeaderOrigin)
	}
	if !several && sameOrigin(host, origin, c.Get("Sec-Fetch-Site")) {
		return c.Next()
	}
	asks := c.Method() == fiber.MethodOptions && c.Get(fiber.HeaderAccessControlRequestMethod) != ""
	if !program && site.Safe(c.Method()) && c.Get("Sec-Fetch-Mode") == "navigate" {
		return c.Next()
	}
	c.Request().Header.DelAllCookies()
	switch {
	case !program:
		return c.Next()
	case several || origin == "" || !s.origins.allows(origin):
		if asks {
			return foreignOrigin()
		}
		return c.Next()
	case !s.hosts.mayRead(host):
		return s.foreignHost("This server does not answer to that host name.")
	}
	if s.origins.any() {
		origin = "*"
	}
	c.Set(fiber.HeaderAccessControlAllowOrigin, origin)
	c.Set(fiber.HeaderAccessControlExposeHeaders, corsExposed)
	if asks {
		c.Set(fiber.HeaderAccessControlAllowMethods, corsMethods)
		c.Set(fiber.HeaderAccessControlMaxAge, corsAge)
		if headers := c.Get(fiber.HeaderAccessControlRequestHeaders); corsHeaders.MatchString(headers) {
			c.Set(fiber.HeaderAccessControlAllowHeaders, headers)
		}
		return c.SendStatus(fiber.StatusNoContent)
	}
	c.Locals(allowedOrigin{}, true)
	err := c.Next()
	c.Response().Header.DelAllCookies()
	return err
}

// foreignOrigin refuses what a page of another site made a browser send.
func foreignOrigin() error {
	return site.Refuse(fiber.StatusForbidden, "foreign_origin", "A page of another site sent this request.",
		"Use this server's own pages, or a program that sends no Origin header; or have the server configured for that site with CORS_ORIGINS.")
}
