package web

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strings"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"deepoj/web/locale"
	"deepoj/web/site"
)

// colons takes the colon of a digest in an address as it is, also where a client escaped it, as generated ones do.
func colons(c *fiber.Ctx) error {
	if path := c.Path(); strings.Contains(path, "%3") {
		c.Path(strings.NewReplacer("%3A", ":", "%3a", ":").Replace(path))
	}
	return c.Next()
}

// receive reads the body of a request, as far as its sender may fill the server's memory. A package is left to its
// handler, which streams it into the blob store; what the handler leaves unread ends the connection.
func (s *Server) receive(c *fiber.Ctx) error {
	req := c.Request()
	if why := ambiguous(req.Header.RawHeaders()); why != "" {
		site.HangUp(c)
		return site.Refuse(fiber.StatusBadRequest, "ambiguous_request", "Where the request ends is not clear: %s.",
			"Send one Content-Length, or else Transfer-Encoding: chunked.", why)
	}
	if !req.IsBodyStream() {
		return c.Next()
	}
	upload := s.upload(c.Method(), c.OriginalURL())
	if upload == site.PackageUpload {
		err := c.Next()
		if n, _ := io.ReadFull(c.Context().RequestBodyStream(), make([]byte, 1)); n > 0 || err != nil {
			site.HangUp(c)
		}
		return err
	}
	limit, size := s.Config.MaxBody, req.Header.ContentLength()
	if (size > limit || size < 0) && upload == site.PluginUpload && s.mayUpload(&req.Header) {
		limit = max(limit, site.MaxUpload)
	}
	if size > limit {
		site.HangUp(c)
		return fiber.ErrRequestEntityTooLarge
	}
	body, err := readBody(c.Context().RequestBodyStream(), size, limit)
	if err != nil {
		site.HangUp(c)
		return err
	}
	req.SetBodyRaw(body)
	return c.Next()
}

// ambiguous says why a proxy before this server might see the end of a request, and
// so the begin of the next one, elsewhere (RFC 9112, sections 2.2, 5.2 and 6.3).
func ambiguous(headers []byte) locale.Word {
	lengths, encodings, hosts := 0, 0, 0
	for line := range bytes.SplitSeq(headers, []byte("\n")) {
		line = bytes.TrimSuffix(line, []byte("\r"))
		name, value, _ := bytes.Cut(line, []byte(":"))
		switch {
		case bytes.ContainsAny(line, "\r\x00"):
			return "a header holds a control character"
		case len(line) > 0 && (line[0] == ' ' || line[0] == '\t'):
			return "a header is folded"
		case bytes.EqualFold(name, []byte(fiber.HeaderHost)):
			hosts++
		case bytes.EqualFold(name, []byte(fiber.HeaderContentLength)):
			lengths++
		case bytes.EqualFold(name, []byte(fiber.HeaderTransferEncoding)):
			if encodings++; !bytes.EqualFold(bytes.TrimSpace(value), []byte("chunked")) {
				return "the transfer encoding is not chunked"
			}
		}
	}
	switch {
	case lengths+encodings > 1:
		return "its length is told more than once"
	case hosts > 1:
		return "there are several hosts"
	}
	return ""
}

// readBody reads a body of a size, or of one that is not known (-1).
func readBody(r io.Reader, size, limit int) ([]byte, error) {
	var body []byte
	var err error
	if size >= 0 {
		body = make([]byte, size)
		_, err = io.ReadFull(r, body)
	} else if body, err = io.ReadAll(io.LimitReader(r, int64(limit)+1)); len(body) > limit {
		return nil, fiber.ErrRequestEntityTooLarge
	}
	switch {
	case err == nil:
		return body, nil
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, fiber.ErrRequestTimeout
	case errors.Is(err, fasthttp.ErrBodyTooLarge):
		return nil, fiber.ErrRequestEntityTooLarge
	}
	return nil, fiber.NewError(fiber.StatusBadRequest, "its body is cut or malformed")
}
