package site

import (
	"github.com/gofiber/fiber/v2"

	"deepoj/web/locale"
)

// Gate lets those through whom a check does not refuse.
func Gate(check func(Viewer) error) fiber.Handler {
	return func(c *fiber.Ctx) error {
		if err := check(ViewerOf(c)); err != nil {
			return err
		}
		return c.Next()
	}
}

// AccountOnly refuses the guest.
func AccountOnly(v Viewer) error {
	if v.Guest() {
		return Refuse(fiber.StatusUnauthorized, "login_required", "The guest has no account.", "Log in.")
	}
	return nil
}

// LoginOnly lets only people in who have logged in: neither the guest nor a program
// with a key, which could make itself keys that last longer.
func LoginOnly(v Viewer) error {
	if v.Key != 0 {
		return Refuse(fiber.StatusForbidden, "login_required", "A key cannot do this.", "Log in, or send the token of a session.")
	}
	return AccountOnly(v)
}

// SettersOnly refuses whoever may not manage packages and plugins.
func SettersOnly(v Viewer) error {
	if v.Setter() {
		return nil
	}
	remedy := locale.Word("Ask an administrator for the role setter.")
	if v.Guest() {
		remedy = "Log in with an account that has the role setter, staff or admin."
	}
	return Refuse(fiber.StatusForbidden, "forbidden", "Only setters and staff may see and change packages and checkers.", remedy)
}

// StaffOnly refuses everybody else.
func StaffOnly(v Viewer) error {
	if !v.Staff() {
		return Refuse(fiber.StatusForbidden, "forbidden", "Only staff may do this.", "Log in with a staff account.")
	}
	return nil
}

// AdminsOnly refuses everybody but administrators.
func AdminsOnly(v Viewer) error {
	if !v.Admin() {
		return Refuse(fiber.StatusForbidden, "forbidden", "Only administrators may do this.", "Log in with an account that has the role admin.")
	}
	return nil
}

// Safe reports whether a request with this method changes nothing.
func Safe(method string) bool {
	return method == fiber.MethodGet || method == fiber.MethodHead || method == fiber.MethodOptions
}

// csp allows what our own files do and nothing else; a nonce lets the source editor add its style sheet.
func csp(nonce string) string {
	style := "style-src 'self'"
	if nonce != "" {
		style += " 'nonce-" + nonce + "'"
	}
	return "default-src 'none'; script-src 'self'; " + style +
		"; img-src 'self' data:; font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
}

// SetHeaders says what a browser may do with an answer, where a handler has not said it.
func SetHeaders(c *fiber.Ctx) {
	if len(c.Response().Header.Peek("Content-Security-Policy")) == 0 {
		c.Set("Content-Security-Policy", csp(""))
	}
	c.Set(fiber.HeaderXContentTypeOptions, "nosniff")
	c.Set(fiber.HeaderXFrameOptions, "DENY")
	c.Set(fiber.HeaderReferrerPolicy, "same-origin")
	c.Set("Cross-Origin-Opener-Policy", "same-origin")
	c.Set("Cross-Origin-Resource-Policy", "same-origin")
	c.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
	if len(c.Response().Header.Peek(fiber.HeaderCacheControl)) == 0 {
		c.Set(fiber.HeaderCacheControl, "no-store")
	}
}
