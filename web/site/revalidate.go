package site

import (
	"crypto/sha256"
	"encoding/base64"
	"strings"

	"github.com/gofiber/fiber/v2"
)

// TagOf is an ETag of an answer: another when the answer is another. It is weak, since an answer may come packed.
func TagOf(parts ...[]byte) string {
	sum := sha256.New()
	for _, part := range parts {
		sum.Write(part)
		sum.Write([]byte{0})
	}
	return `W/"` + base64.RawURLEncoding.EncodeToString(sum.Sum(nil)[:15]) + `"`
}

// Unchanged gives an answer its ETag and reports whether the caller has it, by If-None-Match: then nothing but the
// status 304 is sent.
func Unchanged(c *fiber.Ctx, tag string) bool {
	c.Set(fiber.HeaderETag, tag)
	if !hasTag(c.Get(fiber.HeaderIfNoneMatch), tag) {
		return false
	}
	c.Context().Response.ResetBody()
	c.Status(fiber.StatusNotModified)
	return true
}

// hasTag reports whether a header If-None-Match names a content. It compares weakly (RFC 9110, section 13.1.2).
func hasTag(header, tag string) bool {
	tag = strings.TrimPrefix(tag, "W/")
	for one := range strings.SplitSeq(header, ",") {
		if one = strings.TrimPrefix(strings.TrimSpace(one), "W/"); one == tag || one == "*" {
			return true
		}
	}
	return false
}
