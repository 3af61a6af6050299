package setters

import (
	"context"
	"errors"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/judge"
	"deepoj/sql"
	"deepoj/web/site"
	"deepoj/web/statement"
)

// previewView is the statement of a version, live or not, for setters.
type previewView struct {
	Statement statement.View
	Version   *judge.ProblemVersion
	Warnings  []string // what of the statement is not shown as it was written
	Rendered  bool     // by a renderer that still counts
}

func (v *previewView) Framed() bool { return v.Statement.Framed() }

// previewPage handles GET /packages/:slug/versions/:version.
func (s *Room) previewPage(c *fiber.Ctx) error {
	view, err := s.preview(c)
	if err != nil {
		return err
	}
	return s.Page(c, fiber.StatusOK, "preview", "%s", view, view.Statement.Problem.Title)
}

// ShownVersion is a version of a problem, live or not, with what its page shows.
func (s *Room) ShownVersion(ctx context.Context, slug, version string) (*judge.ProblemVersion, *judge.Problem, error) {
	v, err := s.packageVersion(ctx, slug, version)
	if err != nil {
		return nil, nil, err
	}
	p, err := s.Store.LabelledVersion(ctx, v.Problem, v.Version)
	return v, p, err
}

func (s *Room) preview(c *fiber.Ctx) (*previewView, error) {
	ctx := c.UserContext()
	v, p, err := s.ShownVersion(ctx, c.Params("slug"), c.Params("version"))
	if err != nil {
		return nil, err
	}
	base := site.VersionURL(v.Problem, v.Version)
	view := &previewView{Version: v}
	if view.Statement, err = statement.Of(s.Site, c, p, base, base+"/files", true); err != nil {
		return nil, err
	}
	rendered, err := s.Store.Rendering(ctx, v.Problem, v.Version)
	if err == nil {
		view.Warnings, view.Rendered = rendered.Warnings, rendered.Renderer > 0
	} else if !errors.Is(err, sql.ErrNotFound) {
		return nil, err
	}
	return view, nil
}

// versionFile handles GET /packages/:slug/versions/:version/files/*: a file that comes with a version, for saving.
func (s *Room) versionFile(c *fiber.Ctx) error {
	_, p, err := s.ShownVersion(c.UserContext(), c.Params("slug"), c.Params("version"))
	if err != nil {
		return err
	}
	return statement.SendFile(s.Site, c, p)
}

// statementJSON is the page of a version as setters read it before it is live.
type statementJSON struct {
	Problem   string                    `json:"problem"`
	Version   string                    `json:"version"`
	Title     string                    `json:"title"`
	Language  string                    `json:"language"` // "" = it is not known
	Languages []judge.StatementLanguage `json:"languages"`
	Statement string                    `json:"statement"` // HTML
	Document  string                    `json:"document"`  // address of the PDF; "" = there is none
	Warnings  []string                  `json:"warnings"`  // what is not shown as it was written
}

// apiStatement handles GET /api/v1/problems/:slug/versions/:version/statement?lang=.
func (s *Room) apiStatement(c *fiber.Ctx) error {
	view, err := s.preview(c)
	if err != nil {
		return err
	}
	p := view.Statement.Problem
	return c.JSON(statementJSON{
		p.Slug, view.Version.Version, p.Title, p.Language, p.Statements, p.Statement, view.Statement.Document(), view.Warnings,
	})
}

// apiVersionProblem handles GET /api/v1/problems/:slug/versions/:version/problem: what contestants would see.
func (s *Room) apiVersionProblem(c *fiber.Ctx) error {
	_, p, err := s.ShownVersion(c.UserContext(), c.Params("slug"), c.Params("version"))
	if err != nil {
		return err
	}
	return c.JSON(p)
}
