package setters

import (
	"fmt"
	"mime"
	"path"
	"slices"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/draft"
	"deepoj/host/problem"
	"deepoj/web/site"
)

// editFields are the members of a change as /api/v1 takes it.
var editFields = []string{"seen", "limits", "names", "languages", "statements", "tests", "submissions", "checker", "files"}

// editJSON is a change of a version as /api/v1 takes it.
type editJSON struct {
	Seen string `json:"seen,omitempty"` // the newest version that is known; the one that is changed when missing

	draft.Changes
}

// readEdit reads a change of the version that the address names.
func (s *Room) readEdit(c *fiber.Ctx) (save, error) {
	e := save{Slug: c.Params("slug"), Base: c.Params("version"), Key: site.HeaderKey(c)}
	f, err := site.ReadFields(c, editFields...)
	if err != nil {
		return e, err
	}
	if f.Has("seen") {
		e.Seen = f.Text("seen")
	}
	ch := &e.Changes
	for name, to := range map[string]any{
		"limits": &ch.Limits, "names": &ch.Names, "languages": &ch.Languages, "statements": &ch.Statements, "tests": &ch.Tests,
		"submissions": &ch.Submissions, "checker": &ch.Checker, "files": &ch.Files,
	} {
		f.Strict(name, to)
	}
	return e, f.Wrong.Err()
}

// apiEdit handles POST /api/v1/problems/:slug/versions/:version/edit.
func (s *Room) apiEdit(c *fiber.Ctx) error {
	e, err := s.readEdit(c)
	if err != nil {
		return err
	}
	receipt, err := s.saveChanges(c.UserContext(), site.ViewerOf(c), e)
	if err != nil {
		return err
	}
	return site.Accepted(c, receipt, site.ImportURL(receipt.JobID))
}

// fileJSON is a file of a version as /api/v1 shows it.
type fileJSON struct {
	Path   string `json:"path"`
	Bytes  int64  `json:"bytes"`
	Digest string `json:"digest"`
}

// apiVersionFiles handles GET /api/v1/problems/:slug/versions/:version/files.
func (s *Room) apiVersionFiles(c *fiber.Ctx) error {
	if _, err := site.LimitOf(c); err != nil {
		return err
	}
	pkg, err := s.loadVersion(c.UserContext(), c.Params("slug"), c.Params("version"))
	if err != nil {
		return err
	}
	files := make([]fileJSON, len(pkg.Files))
	for i, f := range pkg.Files {
		files[i] = fileJSON{f.Path, f.Size, string(f.Digest)}
	}
	page, next, err := site.PageOf(c, "after", files, func(f fileJSON) string { return f.Path })
	if err != nil {
		return err
	}
	return c.JSON(fiber.Map{"files": page, "next": next})
}

// apiVersionFile handles GET /api/v1/problems/:slug/versions/:version/file?path=: one file of a version, for
// saving, whatever is in it.
func (s *Room) apiVersionFile(c *fiber.Ctx) error {
	pkg, err := s.loadVersion(c.UserContext(), c.Params("slug"), c.Params("version"))
	if err != nil {
		return err
	}
	name := c.Query("path")
	i := slices.IndexFunc(pkg.Files, func(f problem.File) bool { return f.Path == name })
	if i < 0 {
		return site.Refuse(fiber.StatusNotFound, "not_found", "The version has no file %q.", "", site.Shorten(name))
	}
	if site.Unchanged(c, site.TagOf([]byte(pkg.Files[i].Digest))) {
		return nil
	}
	f, err := s.Config.Blobs.File(c.UserContext(), pkg.Files[i].Digest)
	if err != nil {
		return fmt.Errorf("open a file of a version: %w", err)
	}
	c.Set(fiber.HeaderContentDisposition, mime.FormatMediaType("attachment", map[string]string{"filename": path.Base(pkg.Files[i].Path)}))
	c.Set(fiber.HeaderContentType, fiber.MIMEOctetStream)
	return c.SendStream(f, int(pkg.Files[i].Size)) // closes it
}
