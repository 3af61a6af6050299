package web

import (
	"context"
	"errors"
	"strings"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"deepoj/sql"
	peopleroom "deepoj/web/people"
	"deepoj/web/site"
)

// upload is what the table of addresses says that a request sends.
func (s *Server) upload(method, uri string) site.Upload {
	path, _, _ := strings.Cut(uri, "?")
	return s.uploads[method+" "+strings.TrimSuffix(path, "/")]
}

// sizeLimit is asked when the headers of a request have come and its body has
// not. Only an upload of somebody who may upload gets more time and room, so that
// nobody else can hold connections or fill the server's memory; see also receive.
func (s *Server) sizeLimit(h *fasthttp.RequestHeader) fasthttp.RequestConfig {
	upload := s.upload(string(h.Method()), string(h.RequestURI()))
	if upload == site.PackageUpload && s.mayUpload(h) {
		return fasthttp.RequestConfig{ReadTimeout: site.PackageTime}
	}
	large := h.ContentLength() > s.Config.MaxBody || h.ContentLength() < 0 // of unknown length
	if upload != site.PluginUpload || !large || !s.mayUpload(h) {
		return fasthttp.RequestConfig{}
	}
	return fasthttp.RequestConfig{ReadTimeout: site.UploadTime, MaxRequestBodySize: max(site.MaxUpload, s.Config.MaxBody)}
}

// mayUpload reports whether the session or key that sends the request is that of a setter. While the database is away
// everybody with a token gets room: the handler then says what is wrong.
func (s *Server) mayUpload(h *fasthttp.RequestHeader) bool {
	v := credentials(string(h.Cookie(peopleroom.SessionCookie)), string(h.Peek(fiber.HeaderAuthorization)))
	if v.Token == "" {
		return false
	}
	ctx, cancel := context.WithTimeout(context.Background(), site.RequestTime)
	defer cancel()
	found, err := s.Bearer(ctx, v.Token)
	if err != nil {
		return !errors.Is(err, sql.ErrNotFound)
	}
	return found.Setter() && !found.OneTime
}
