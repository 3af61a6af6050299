package statement

import (
	"errors"
	"fmt"
	"net/url"
	"path"
	"regexp"
	"slices"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/blob"
	"deepoj/host/judge"
	"deepoj/sql"
	"deepoj/web/locale"
	"deepoj/web/site"
)

// Pictures and documents come from packages, so a browser must run nothing of them,
// also when one is opened by itself: an SVG can hold scripts. The document may be shown
// in pages of this site, by the browser's own viewer, which does not work in a sandbox.
const (
	PictureCSP  = "default-src 'none'; style-src 'unsafe-inline'; sandbox"
	documentCSP = "default-src 'none'; object-src 'self'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'"
)

// pageFileAge is for how long a browser keeps a picture: its name says its content.
const pageFileAge = "private, max-age=31536000, immutable"

var (
	pictureName  = regexp.MustCompile(`^[0-9a-f]{64}\.(png|jpg|gif|svg)$`)
	documentName = regexp.MustCompile(`^[0-9a-f]{64}\.pdf$`)
)

// VersionOf says which version of which problem an address is about, if the viewer may see it.
type VersionOf func(*fiber.Ctx) (slug, version string, err error)

// Pictures handles GET …/pictures/:name: a picture of a version, for whoever sees its page.
func Pictures(s *site.Site, of VersionOf) fiber.Handler {
	return func(c *fiber.Ctx) error {
		f, err := pageFile(s, c, of, pictureName, "There is no such picture of this problem.")
		if err != nil {
			return err
		}
		c.Set("Content-Security-Policy", PictureCSP)
		return sendPageFile(s, c, f)
	}
}

// Documents handles GET …/documents/:name: a statement that is a PDF.
func Documents(s *site.Site, of VersionOf) fiber.Handler {
	return func(c *fiber.Ctx) error {
		f, err := pageFile(s, c, of, documentName, "There is no such document of this problem.")
		if err != nil {
			return err
		}
		return SendDocument(s, c, f)
	}
}

// SendDocument sends a statement that is a PDF.
func SendDocument(s *site.Site, c *fiber.Ctx, f *judge.PageFile) error {
	c.Set("Content-Security-Policy", documentCSP)
	c.Set(fiber.HeaderXFrameOptions, "SAMEORIGIN")
	c.Set(fiber.HeaderContentDisposition, `inline; filename="problem.pdf"`)
	return sendPageFile(s, c, f)
}

// pageFile returns the file that the address names, if the pages of the version show it.
func pageFile(s *site.Site, c *fiber.Ctx, of VersionOf, names *regexp.Regexp, none locale.Word) (*judge.PageFile, error) {
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
		return nil, site.Refuse(fiber.StatusNotFound, "not_found", none, "")
	}
	if err != nil {
		return nil, fmt.Errorf("look up a file of a statement: %w", err)
	}
	return f, nil
}

// sendPageFile sends a file that pages show, unless the browser has it.
func sendPageFile(s *site.Site, c *fiber.Ctx, f *judge.PageFile) error {
	c.Set(fiber.HeaderCacheControl, pageFileAge)
	if site.Unchanged(c, `"`+f.Digest[len("sha256:"):]+`"`) {
		return nil
	}
	if s.Config.Blobs == nil {
		c.Set(fiber.HeaderCacheControl, "no-store")
		return site.NoBlobs()
	}
	file, err := s.Config.Blobs.File(c.UserContext(), blob.Digest(f.Digest))
	if err != nil {
		c.Set(fiber.HeaderCacheControl, "no-store")
		return fmt.Errorf("open a file of a statement: %w", err)
	}
	c.Set(fiber.HeaderContentType, f.Type)
	return c.SendStream(file, int(f.Bytes)) // closes it
}

// SendFile sends the file of a version that the address names.
func SendFile(s *site.Site, c *fiber.Ctx, p *judge.Problem) error {
	name, err := url.PathUnescape(c.Params("*"))
	i := slices.IndexFunc(p.Files, func(f judge.ProblemFile) bool { return f.Name == name })
	if err != nil || i < 0 {
		return site.Refuse(fiber.StatusNotFound, "not_found", "There is no file %q of this problem.", "", site.Shorten(name))
	}
	return SendAttachment(s, c, p.Files[i], path.Base(name))
}

// SendAttachment sends a file of a problem that the browser is to save.
func SendAttachment(s *site.Site, c *fiber.Ctx, is judge.ProblemFile, name string) error {
	if s.Config.Blobs == nil {
		return site.NoBlobs()
	}
	f, err := s.Config.Blobs.File(c.UserContext(), blob.Digest(is.Digest))
	if err != nil {
		return fmt.Errorf("open a file of a problem: %w", err)
	}
	c.Attachment(name)
	c.Set(fiber.HeaderContentType, fiber.MIMEOctetStream)
	return c.SendStream(f, int(is.Bytes)) // closes it
}
