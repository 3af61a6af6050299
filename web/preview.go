package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strconv"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/judge"
	"deepoj/sql"
	"deepoj/web/site"
	"deepoj/web/statement"
)

// versionURL is the page of a version as contestants would see it.
func versionURL(slug, version string) string {
	return site.PackageURL(slug) + "/versions/" + url.PathEscape(version)
}

// previewView is the statement of a version, live or not, for setters.
type previewView struct {
	Statement statement.View
	Version   *judge.ProblemVersion
	Warnings  []string // what of the statement is not shown as it was written
	Rendered  bool     // by a renderer that still counts
}

func (v *previewView) Framed() bool { return v.Statement.Framed() }

// previewPage handles GET /packages/:slug/versions/:version.
func (s *Server) previewPage(c *fiber.Ctx) error {
	view, err := s.preview(c)
	if err != nil {
		return err
	}
	return s.Page(c, fiber.StatusOK, "preview", view.Statement.Problem.Title, view)
}

// shownVersion is a version of a problem, live or not, with what its page shows.
func (s *Server) shownVersion(ctx context.Context, slug, version string) (*judge.ProblemVersion, *judge.Problem, error) {
	v, err := s.packageVersion(ctx, slug, version)
	if err != nil {
		return nil, nil, err
	}
	p, err := s.Store.LabelledVersion(ctx, v.Problem, v.Version)
	return v, p, err
}

func (s *Server) preview(c *fiber.Ctx) (*previewView, error) {
	ctx := c.UserContext()
	v, p, err := s.shownVersion(ctx, c.Params("slug"), c.Params("version"))
	if err != nil {
		return nil, err
	}
	base := versionURL(v.Problem, v.Version)
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

// versionFile handles GET /packages/:slug/versions/:version/files/*: a file that comes
// with a version, for saving.
func (s *Server) versionFile(c *fiber.Ctx) error {
	_, p, err := s.shownVersion(c.UserContext(), c.Params("slug"), c.Params("version"))
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
func (s *Server) apiStatement(c *fiber.Ctx) error {
	view, err := s.preview(c)
	if err != nil {
		return err
	}
	p := view.Statement.Problem
	return c.JSON(statementJSON{
		p.Slug, view.Version.Version, p.Title, p.Language, p.Statements, p.Statement, view.Statement.Document(), view.Warnings,
	})
}

// maxRenderNames is how many problems a rendering may name; more than those are all.
const maxRenderNames = 30

// apiRender handles POST /api/v1/renderings with {"problems": […]} or {"all": true}: a
// job that makes the pages of versions again.
func (s *Server) apiRender(c *fiber.Ctx) error {
	f, err := site.ReadFields(c, "problems", "all")
	if err != nil {
		return err
	}
	var names []string
	all := false
	f.Value("problems", "a list of strings", &names)
	f.Value("all", "true or false", &all)
	if err := f.Wrong.Err(); err != nil {
		return err
	}
	receipt, err := s.orderRendering(c, names, all, c.Get("Idempotency-Key"))
	if err != nil {
		return err
	}
	return acceptedPackage(c, receipt)
}

// renderForm handles POST /packages/:slug/render.
func (s *Server) renderForm(c *fiber.Ctx) error {
	receipt, err := s.orderRendering(c, []string{c.Params("slug")}, false, "")
	if err != nil {
		return err
	}
	return c.Redirect(site.ImportURL(receipt.JobID), fiber.StatusSeeOther)
}

// orderRendering stores a job that renders problems that the viewer may change, or for
// staff all.
func (s *Server) orderRendering(c *fiber.Ctx, names []string, all bool, key string) (sql.Receipt, error) {
	ctx, v := c.UserContext(), site.ViewerOf(c)
	var none sql.Receipt
	switch {
	case all && len(names) > 0:
		return none, site.WrongField("problems", site.ReasonInvalid, "Name problems, or ask for all of them, and not both.")
	case all && !v.Staff():
		return none, site.Refuse(fiber.StatusForbidden, "forbidden", "Only staff render all problems.", "Name your own in the field problems.")
	case !all && len(names) == 0:
		return none, site.WrongField("problems", site.ReasonMissing, "Name the problems to render, or as staff set all to true.")
	case len(names) > maxRenderNames:
		return none, site.WrongField("problems", site.ReasonInvalid, "At most %d problems are rendered at a time.", maxRenderNames)
	}
	for _, slug := range names {
		versions := []judge.ProblemVersion{}
		if site.PlainWord(slug) {
			var err error
			if versions, err = s.Store.ProblemVersions(ctx, slug); err != nil {
				return none, err
			}
		}
		if len(versions) == 0 {
			return none, site.WrongField("problems", site.ReasonUnknown, "There is no problem %q.", site.Shorten(slug))
		}
		if err := s.mayChange(ctx, v, slug); err != nil {
			return none, err
		}
	}
	if wrong := site.CheckKey("Idempotency-Key", key); wrong != nil {
		return none, wrong
	}
	payload, err := json.Marshal(judge.RenderPayload{SchemaVersion: judge.PayloadVersion, ContentType: judge.RenderType, By: v.Name, Problems: names})
	if err != nil {
		return none, fmt.Errorf("encode the job: %w", err)
	}
	receipt, err := s.SubmitJob(ctx, sql.NewJob{
		Kind: judge.KindRender, Author: v.Name, GroupKey: v.Name, Payload: payload, IdempotencyKey: key, TraceID: site.TraceOf(ctx),
	})
	if err != nil {
		return none, site.FieldNames{Key: "Idempotency-Key"}.Rename(err)
	}
	if receipt.Existing {
		return receipt, nil
	}
	subject := "problems"
	if len(names) == 1 {
		subject = "problem:" + names[0]
	}
	return receipt, s.Store.AuditNote(ctx, v.Name, "package_render", subject, map[string]any{"job_id": receipt.JobID, "problems": names})
}

// renderingTitle is what a job of kind render is called.
func renderingTitle(p *judge.RenderPayload) string {
	switch {
	case p == nil || len(p.Problems) == 0:
		return "Rendering of all statements"
	case len(p.Problems) == 1:
		return "Rendering of " + p.Problems[0]
	}
	return "Rendering of " + strconv.Itoa(len(p.Problems)) + " problems"
}
