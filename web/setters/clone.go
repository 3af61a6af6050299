package setters

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/problem"
	"deepoj/host/problem/samples"
	"deepoj/sql"
	"deepoj/web/site"
)

// newName refuses a short name that cannot be that of a new problem of the viewer.
func (s *Room) newName(ctx context.Context, v site.Viewer, field, name string) error {
	u := upload{Problem: name}
	if wrong := u.check(); len(wrong) > 0 {
		wrong[0].Field = field
		return wrong.Err()
	}
	rights, err := s.Store.ProblemRights(ctx, name, v.Name)
	if err != nil {
		return err
	}
	if rights.Known {
		f := site.Refuse(fiber.StatusConflict, "exists", "There is a problem %s already.", "Choose another short name.", name)
		f.Field = field
		return f
	}
	return nil
}

// clone stores the job that makes a problem of its own of a version of another, which
// every setter may see. "" is the live version, or else the newest.
func (s *Room) clone(ctx context.Context, v site.Viewer, slug, version, name string, key site.Key) (none sql.Receipt, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTime)
	defer cancel()
	if version == "" {
		if version, err = s.chosenVersion(ctx, slug); err != nil {
			return none, err
		}
	}
	pkg, err := s.loadVersion(ctx, slug, version)
	if err != nil {
		return none, err
	}
	if wrong := key.Check(); wrong != nil {
		return none, wrong
	}
	if err := s.newName(ctx, v, "name", name); err != nil {
		return none, err
	}
	if err := s.TakeVersion(ctx, v, 0); err != nil {
		return none, err
	}
	return s.orderRevision(ctx, v, pkg, name, problem.Revision{}, key, spent{versions: 1})
}

// chosenVersion is the live version of a problem, or else the newest.
func (s *Room) chosenVersion(ctx context.Context, slug string) (string, error) {
	if !site.PlainWord(slug) {
		return "", sql.ErrNotFound
	}
	p, err := s.Store.Problem(ctx, slug)
	if err == nil {
		return p.Version, nil
	}
	if !errors.Is(err, sql.ErrNotFound) {
		return "", err
	}
	newest, err := s.Store.NewestVersion(ctx, slug)
	return newest.Version, err
}

// fromTemplate stores the job that makes a new problem of one of the samples that ship.
func (s *Room) fromTemplate(ctx context.Context, v site.Viewer, template, name string, key site.Key) (none sql.Receipt, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTime)
	defer cancel()
	if s.Config.Blobs == nil {
		return none, site.NoBlobs()
	}
	if !slices.Contains(samples.Slugs(), template) {
		return none, site.FieldRefusal(site.WrongField("template", site.ReasonUnknown, "There is no template %q; there are %s.", site.Shorten(template), strings.Join(samples.Slugs(), ", ")))
	}
	if wrong := key.Check(); wrong != nil {
		return none, wrong
	}
	if err := s.newName(ctx, v, "name", name); err != nil {
		return none, err
	}
	fsys, err := samples.FS(template)
	if err != nil {
		return none, fmt.Errorf("open a template: %w", err)
	}
	if err := s.TakeVersion(ctx, v, 0); err != nil {
		return none, err
	}
	u := upload{Problem: name, Key: key}
	var receipt sql.Receipt
	if err = s.storeMade(ctx, &u, func(w io.Writer) error { return zipFolder(w, fsys) }); err == nil {
		receipt, err = s.orderImport(ctx, v, u, nil)
	}
	return receipt, errors.Join(err, s.CountVersion(ctx, v, u.bytes, err != nil || receipt.Existing))
}

// apiClone handles POST /api/v1/problems/:slug/clone.
func (s *Room) apiClone(c *fiber.Ctx) error {
	f, err := site.ReadFields(c, "name", "version")
	if err != nil {
		return err
	}
	name, version := f.Text("name"), ""
	if f.Has("version") {
		version = f.Text("version")
	}
	if err := f.Wrong.Err(); err != nil {
		return err
	}
	receipt, err := s.clone(c.UserContext(), site.ViewerOf(c), c.Params("slug"), version, name, site.HeaderKey(c))
	if err != nil {
		return err
	}
	return site.Accepted(c, receipt, site.ImportURL(receipt.JobID))
}

// apiTemplates handles GET /api/v1/templates.
func (s *Room) apiTemplates(c *fiber.Ctx) error {
	page, next, err := site.PageOf(c, "after", samples.Slugs(), func(name string) string { return name })
	if err != nil {
		return err
	}
	return c.JSON(fiber.Map{"templates": page, "next": next})
}

// apiFromTemplate handles POST /api/v1/templates/:name.
func (s *Room) apiFromTemplate(c *fiber.Ctx) error {
	f, err := site.ReadFields(c, "name")
	if err != nil {
		return err
	}
	name := f.Text("name")
	if err := f.Wrong.Err(); err != nil {
		return err
	}
	receipt, err := s.fromTemplate(c.UserContext(), site.ViewerOf(c), c.Params("name"), name, site.HeaderKey(c))
	if err != nil {
		return err
	}
	return site.Accepted(c, receipt, site.ImportURL(receipt.JobID))
}

// cloneForm handles POST /packages/:slug/clone.
func (s *Room) cloneForm(c *fiber.Ctx) error {
	receipt, err := s.clone(c.UserContext(), site.ViewerOf(c), c.Params("slug"), c.FormValue("version"), strings.TrimSpace(c.FormValue("name")), site.FormKey(c))
	if err != nil {
		return err
	}
	return c.Redirect(site.ImportURL(receipt.JobID), fiber.StatusSeeOther)
}

// templateForm handles POST /packages/template.
func (s *Room) templateForm(c *fiber.Ctx) error {
	receipt, err := s.fromTemplate(c.UserContext(), site.ViewerOf(c), c.FormValue("template"), strings.TrimSpace(c.FormValue("name")), site.FormKey(c))
	if err != nil {
		return err
	}
	return c.Redirect(site.ImportURL(receipt.JobID), fiber.StatusSeeOther)
}
