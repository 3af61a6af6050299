package web

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/blob"
	"deepoj/host/judge"
	"deepoj/sql"
	"deepoj/web/site"
)

// Pictures and documents come from packages, so a browser must run nothing of them,
// also when one is opened by itself: an SVG can hold scripts. The document may be shown
// in pages of this site, by the browser's own viewer, which does not work in a sandbox.
const (
	pictureCSP  = "default-src 'none'; style-src 'unsafe-inline'; sandbox"
	documentCSP = "default-src 'none'; object-src 'self'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'"
)

// pageFileAge is for how long a browser keeps a picture: its name says its content.
const pageFileAge = "private, max-age=31536000, immutable"

var (
	pictureName  = regexp.MustCompile(`^[0-9a-f]{64}\.(png|jpg|gif|svg)$`)
	documentName = regexp.MustCompile(`^[0-9a-f]{64}\.pdf$`)
)

// versionOf says which version of which problem an address is about, if the viewer may
// see it.
type versionOf func(*fiber.Ctx) (slug, version string, err error)

// liveVersion is the live version of the problem that the address names, perhaps in a
// space.
func (s *Server) liveVersion(c *fiber.Ctx) (slug, version string, err error) {
	p, _, err := s.problemHere(c)
	if err != nil {
		return "", "", err
	}
	return p.Slug, p.Version, nil
}

// keptVersion is the version that the address names, for setters.
func (s *Server) keptVersion(c *fiber.Ctx) (slug, version string, err error) {
	v, err := s.packageVersion(c.UserContext(), c.Params("slug"), c.Params("version"))
	if err != nil {
		return "", "", err
	}
	return v.Problem, v.Version, nil
}

// pictures handles GET …/pictures/:name: a picture of a version, for whoever sees its
// page.
func (s *Server) pictures(of versionOf) fiber.Handler {
	return func(c *fiber.Ctx) error {
		f, err := s.pageFile(c, of, pictureName, "picture")
		if err != nil {
			return err
		}
		c.Set("Content-Security-Policy", pictureCSP)
		return s.sendPageFile(c, f)
	}
}

// documents handles GET …/documents/:name: a statement that is a PDF.
func (s *Server) documents(of versionOf) fiber.Handler {
	return func(c *fiber.Ctx) error {
		f, err := s.pageFile(c, of, documentName, "document")
		if err != nil {
			return err
		}
		c.Set("Content-Security-Policy", documentCSP)
		c.Set(fiber.HeaderXFrameOptions, "SAMEORIGIN")
		c.Set(fiber.HeaderContentDisposition, `inline; filename="problem.pdf"`)
		return s.sendPageFile(c, f)
	}
}

// pageFile returns the file that the address names, if the pages of the version show
// it.
func (s *Server) pageFile(c *fiber.Ctx, of versionOf, names *regexp.Regexp, what string) (*judge.PageFile, error) {
	slug, version, err := of(c)
	if err != nil {
		return nil, err
	}
	err = sql.ErrNotFound
	var f *judge.PageFile
	if name := c.Params("name"); names.MatchString(name) {
		f, err = s.Store.PageFile(c.UserContext(), slug, version, name)
	}
	if errors.Is(err, sql.ErrNotFound) {
		return nil, site.Refuse(fiber.StatusNotFound, "not_found", "There is no such "+what+" of this problem.", "")
	}
	if err != nil {
		return nil, fmt.Errorf("look up a %s: %w", what, err)
	}
	return f, nil
}

// sendPageFile sends a file that pages show, unless the browser has it.
func (s *Server) sendPageFile(c *fiber.Ctx, f *judge.PageFile) error {
	tag := `"` + f.Digest[len("sha256:"):] + `"`
	c.Set(fiber.HeaderETag, tag)
	c.Set(fiber.HeaderCacheControl, pageFileAge)
	if hasTag(c.Get(fiber.HeaderIfNoneMatch), tag) {
		return c.SendStatus(fiber.StatusNotModified)
	}
	if s.Config.Blobs == nil {
		c.Set(fiber.HeaderCacheControl, "no-store")
		return noBlobs()
	}
	file, err := s.Config.Blobs.File(c.UserContext(), blob.Digest(f.Digest))
	if err != nil {
		c.Set(fiber.HeaderCacheControl, "no-store")
		return fmt.Errorf("open a file of a statement: %w", err)
	}
	c.Set(fiber.HeaderContentType, f.Type)
	return c.SendStream(file, int(f.Bytes)) // closes it
}

// hasTag reports whether a header If-None-Match names a content.
func hasTag(header, tag string) bool {
	for one := range strings.SplitSeq(header, ",") {
		if one = strings.TrimPrefix(strings.TrimSpace(one), "W/"); one == tag || one == "*" {
			return true
		}
	}
	return false
}
