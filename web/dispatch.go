package web

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"deepoj/web/site"
)

// packedFrom is the size in bytes from which packing an answer is worth it: less than this goes in one packet.
const packedFrom = 1400

// keptKey is the key of whether the answer of an address may be kept, in the locals of a request.
type keptKey struct{}

// keep lets the answer be kept, if it is one.
func keep(c *fiber.Ctx) error {
	c.Locals(keptKey{}, true)
	return c.Next()
}

// dispatch makes of a finished answer what is sent: nothing but 304 where the caller has it, and else packed where the
// caller can unpack it. Streams go as they are.
func dispatch(c *fiber.Ctx) {
	resp := c.Response()
	status := resp.StatusCode()
	if kept, _ := c.Locals(keptKey{}).(bool); kept && (status == fiber.StatusOK || status == fiber.StatusNotModified) {
		mayKeep(c)
	}
	if !site.Safe(c.Method()) || status != fiber.StatusOK || resp.IsBodyStream() {
		return
	}
	if path := c.Path(); (strings.HasPrefix(path, "/api/") || strings.HasPrefix(path, "/status/") || strings.HasPrefix(path, "/clics/")) && len(resp.Header.Peek(fiber.HeaderETag)) == 0 && site.Unchanged(c, site.TagOf(resp.Body())) {
		return
	}
	pack(c)
}

// mayKeep says how long an answer holds: until it is asked for again. What came for one key, session or language is
// not for another.
func mayKeep(c *fiber.Ctx) {
	c.Set(fiber.HeaderCacheControl, "private, no-cache")
	c.Vary(fiber.HeaderAuthorization, fiber.HeaderCookie, fiber.HeaderAcceptLanguage)
}

// pack compresses a page, or JSON. How long a packed answer is tells whether what a stranger chose is in it twice, and
// so may tell a secret letter by letter (BREACH). So the answers of changes, which give passwords and keys away, are
// never packed, nor is what another site's page made a browser ask for; tokens of forms are never twice the same.
func pack(c *fiber.Ctx) {
	resp := c.Response()
	body := resp.Body()
	media, _, _ := bytes.Cut(resp.Header.ContentType(), []byte(";"))
	if len(body) < packedFrom || len(resp.Header.ContentEncoding()) > 0 ||
		string(media) != fiber.MIMEApplicationJSON && string(media) != fiber.MIMETextHTML {
		return
	}
	c.Vary(fiber.HeaderAcceptEncoding)
	if from := c.Get("Sec-Fetch-Site"); !takesGzip(c.Get(fiber.HeaderAcceptEncoding)) || from != "" && from != "same-origin" && from != "none" {
		return
	}
	packed := fasthttp.AppendGzipBytesLevel(nil, body, fasthttp.CompressBestSpeed)
	if len(packed) < len(body) {
		resp.Header.Set(fiber.HeaderContentEncoding, "gzip")
		resp.SetBodyRaw(packed)
	}
}

// takesGzip reports whether a header Accept-Encoding allows gzip (RFC 9110, section 12.5.3).
func takesGzip(accept string) bool {
	takes := false
	for one := range strings.SplitSeq(strings.ToLower(accept), ",") {
		coding, weight, weighed := strings.Cut(strings.ReplaceAll(one, " ", ""), ";q=")
		q, err := strconv.ParseFloat(weight, 64)
		allowed := !weighed || err == nil && q > 0
		switch strings.TrimSpace(coding) {
		case "gzip", "x-gzip":
			return allowed
		case "*":
			takes = allowed
		}
	}
	return takes
}
