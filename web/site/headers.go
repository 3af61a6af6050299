package site

import (
	"github.com/gofiber/fiber/v2"
)

// Safe reports whether a request with this method changes nothing.
func Safe(method string) bool {
	return method == fiber.MethodGet || method == fiber.MethodHead || method == fiber.MethodOptions
}

// csp allows what our own files do and nothing else; a nonce lets the source
// editor add its style sheet.
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
