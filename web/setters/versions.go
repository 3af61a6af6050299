package setters

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/judge"
	"deepoj/sql"
	"deepoj/web/site"
)

// activate makes a version live. Only staff may override what its proof found.
func (s *Room) activate(ctx context.Context, v site.Viewer, slug, version string, override bool) (*judge.ProblemVersion, error) {
	if override && !v.Staff() {
		return nil, site.Refuse(fiber.StatusForbidden, "forbidden", "Only staff may make a version live that is not proved.", "Mend the package and import it again.")
	}
	p, err := s.packageVersion(ctx, slug, version)
	if err != nil {
		return nil, err
	}
	if err := s.MayChange(ctx, v, slug); err != nil {
		return nil, err
	}
	err = s.Store.ActivateVersion(ctx, sql.Activation{Problem: slug, Version: version, By: v.Name, Override: override})
	if _, refused := errors.AsType[*judge.FieldError](err); refused {
		return nil, site.WrongField("version", "not_proved", "This version is not proved, so it cannot go live: mend what its report says and import it again, or have staff override it.")
	}
	if err != nil {
		return nil, fmt.Errorf("activate version: %w", err)
	}
	p.Live = true
	return p, nil
}

// rollBack undoes the newest change of which version is live, and returns the one that is live now.
func (s *Room) rollBack(ctx context.Context, v site.Viewer, slug string) (string, error) {
	version, err := "", sql.ErrNotFound
	if site.PlainWord(slug) {
		if err := s.MayChange(ctx, v, slug); err != nil {
			return "", err
		}
		version, err = s.Store.RollBackProblem(ctx, slug, v.Name, v.Staff())
	}
	var field *judge.FieldError
	switch {
	case errors.Is(err, sql.ErrNotFound):
		return "", site.Refuse(fiber.StatusConflict, "no_earlier_version", "No earlier version of this problem was live.", "Activate another version instead.")
	case errors.As(err, &field):
		return "", site.Refuse(fiber.StatusConflict, "no_earlier_version", "The proof of the version before has failed.", "Activate another version instead, or ask staff.")
	case err != nil:
		return "", fmt.Errorf("roll back problem: %w", err)
	}
	return version, nil
}

// verify stores a job that proves a kept version.
func (s *Room) verify(ctx context.Context, v site.Viewer, slug, version string, key site.Key) (sql.Receipt, error) {
	if _, err := s.packageVersion(ctx, slug, version); err != nil {
		return sql.Receipt{}, err
	}
	if err := s.MayChange(ctx, v, slug); err != nil {
		return sql.Receipt{}, err
	}
	if wrong := key.Check(); wrong != nil {
		return sql.Receipt{}, wrong
	}
	return s.orderPackage(ctx, v, judge.KindVerify, judge.PackagePayload{Problem: slug, Version: version}, key)
}

// activateForm handles POST /packages/:slug/activate.
func (s *Room) activateForm(c *fiber.Ctx) error {
	if _, err := s.activate(c.UserContext(), site.ViewerOf(c), c.Params("slug"), c.FormValue("version"), c.FormValue("override") == "true"); err != nil {
		return err
	}
	return site.SeeDone(c, site.DoneLive, site.PackageURL(c.Params("slug")))
}

// rollBackForm handles POST /packages/:slug/rollback.
func (s *Room) rollBackForm(c *fiber.Ctx) error {
	if _, err := s.rollBack(c.UserContext(), site.ViewerOf(c), c.Params("slug")); err != nil {
		return err
	}
	return site.SeeDone(c, site.DoneLive, site.PackageURL(c.Params("slug")))
}

// verifyForm handles POST /packages/:slug/verify.
func (s *Room) verifyForm(c *fiber.Ctx) error {
	version, key := c.FormValue("version"), site.FormKey(c)
	if key.Text != "" {
		key.Text += "-" + version[max(0, len(version)-16):] // the forms of a page have one key
	}
	receipt, err := s.verify(c.UserContext(), site.ViewerOf(c), c.Params("slug"), version, key)
	if err != nil {
		return err
	}
	return c.Redirect(site.ImportURL(receipt.JobID), fiber.StatusSeeOther)
}

// apiVersions handles GET /api/v1/problems/:slug/versions.
func (s *Room) apiVersions(c *fiber.Ctx) error {
	versions, err := s.VersionsOf(c)
	if err != nil {
		return err
	}
	page, next, err := site.PageOf(c, "before", versions, func(v judge.ProblemVersion) string { return v.Version })
	if err != nil {
		return err
	}
	return c.JSON(fiber.Map{"versions": page, "next": next})
}

// apiVersion handles GET /api/v1/problems/:slug/versions/:version.
func (s *Room) apiVersion(c *fiber.Ctx) error {
	v, err := s.packageVersion(c.UserContext(), c.Params("slug"), c.Params("version"))
	if err != nil {
		return err
	}
	return c.JSON(v)
}

// apiActivate handles POST /api/v1/problems/:slug/versions/:version/activate.
func (s *Room) apiActivate(c *fiber.Ctx) error {
	override := false
	if len(c.Body()) > 0 {
		f, err := site.ReadFields(c, "override")
		if err != nil {
			return err
		}
		if f.Has("override") && json.Unmarshal(f.Raw["override"], &override) != nil {
			f.Wrong.Add(site.WrongField("override", site.ReasonWrong, "The field has to be true or false, not %s.", site.KindOf(f.Raw["override"])))
		}
		if err := f.Wrong.Err(); err != nil {
			return err
		}
	}
	v, err := s.activate(c.UserContext(), site.ViewerOf(c), c.Params("slug"), c.Params("version"), override)
	if err != nil {
		return err
	}
	v.Report = nil
	return c.JSON(v)
}

// apiVerify handles POST /api/v1/problems/:slug/versions/:version/verify.
func (s *Room) apiVerify(c *fiber.Ctx) error {
	receipt, err := s.verify(c.UserContext(), site.ViewerOf(c), c.Params("slug"), c.Params("version"), site.HeaderKey(c))
	if err != nil {
		return err
	}
	return site.Accepted(c, receipt, site.ImportURL(receipt.JobID))
}

// apiRollBack handles POST /api/v1/problems/:slug/rollback.
func (s *Room) apiRollBack(c *fiber.Ctx) error {
	version, err := s.rollBack(c.UserContext(), site.ViewerOf(c), c.Params("slug"))
	if err != nil {
		return err
	}
	return c.JSON(fiber.Map{"problem": c.Params("slug"), "version": version})
}
