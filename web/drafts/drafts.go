package drafts

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/judge"
	"deepoj/sql"
	"deepoj/web/job"
	"deepoj/web/site"
	"deepoj/web/solve"
)

// changes reports whether the viewer may change a problem that there is.
func (s *Room) changes(ctx context.Context, v site.Viewer, slug string) (bool, error) {
	if v.Staff() {
		return true, nil
	}
	rights, err := s.Store.ProblemRights(ctx, slug, v.Name)
	if err != nil {
		return false, fmt.Errorf("look up rights: %w", err)
	}
	return v.Setter() && (rights.Owns || rights.Writes), nil
}

// submit stores a program that is judged on a version, live or not.
func (s *Room) submit(ctx context.Context, v site.Viewer, version string, in solve.Program) (none sql.Receipt, err error) {
	if err := s.setters.MayChange(ctx, v, in.Problem); err != nil {
		return none, err
	}
	_, problem, err := s.setters.ShownVersion(ctx, in.Problem, version)
	if err != nil {
		return none, err
	}
	offers, err := s.Catalog.Taking(ctx, in.Language)
	if err != nil {
		return none, err
	}
	if err := solve.CheckProgram(in, problem, offers).Err(); err != nil {
		return none, err
	}
	in.NameSources(offers)
	receipt, err := s.Store.SubmitDraft(ctx, sql.NewJob{
		Problem: in.Problem, Language: in.Language, Author: v.Name, GroupKey: v.Name, IdempotencyKey: in.Key, TraceID: site.TraceOf(ctx),
		Sources: in.Sources,
	}, version)
	if err != nil {
		return none, in.Fields.Rename(err)
	}
	return receipt, nil
}

// tryView is the page of a problem as it would be with a version.
func (s *Room) tryView(c *fiber.Ctx) (*solve.ProblemView, error) {
	ctx, v, slug := c.UserContext(), site.ViewerOf(c), c.Params("slug")
	version, problem, err := s.setters.ShownVersion(ctx, slug, c.Query("version"))
	if err != nil {
		return nil, err
	}
	base := site.VersionURL(slug, version.Version)
	view, err := s.solve.ViewProblem(c, problem, nil, base, base+"/files")
	if err != nil {
		return nil, err
	}
	view.At, view.Runs = site.TryURL(slug, version.Version), false
	view.Draft = &solve.Draft{Version: version.Version, Live: version.Live}
	if view.Draft.Mine, err = s.changes(ctx, v, slug); err != nil || !view.Draft.Mine {
		return view, err
	}
	view.Draft.Rows, err = s.Store.Drafts(ctx, slug, version.Version, 0, 20)
	return view, err
}

// tryPage handles GET /packages/:slug/try?version=.
func (s *Room) tryPage(c *fiber.Ctx) error {
	view, err := s.tryView(c)
	if err != nil {
		return err
	}
	if id, err := strconv.ParseInt(c.Query("from"), 10, 64); err == nil && view.Draft.Mine {
		d, err := s.Store.Draft(c.UserContext(), id)
		if err == nil && d.Problem == view.Problem.Slug {
			view.Language = d.Language
			view.Show(d.Sources)
		}
	}
	return s.Page(c, fiber.StatusOK, "problem", "%s", view, view.Problem.Title)
}

// tryForm handles POST /packages/:slug/try?version=.
func (s *Room) tryForm(c *fiber.Ctx) error {
	in, err := solve.FormProgram(c)
	if err != nil {
		return err
	}
	receipt, err := s.submit(c.UserContext(), site.ViewerOf(c), c.Query("version"), in)
	if err == nil {
		return c.Redirect(site.DraftURL(in.Problem, receipt.JobID), fiber.StatusSeeOther)
	}
	f := s.Explain(c.UserContext(), err)
	if f.Status != fiber.StatusUnprocessableEntity && f.Status != fiber.StatusRequestEntityTooLarge {
		return err
	}
	view, err := s.tryView(c)
	if err != nil {
		return err
	}
	view.Fault, view.Language = f, in.Language
	view.Show(in.Sources)
	return s.Page(c, f.Status, "problem", "%s", view, view.Problem.Title)
}

// view is the page of a program that was handed in to a version.
func (s *Room) view(c *fiber.Ctx) (*solve.SubmissionView, error) {
	d, err := s.find(c)
	if err != nil {
		return nil, err
	}
	ctx, v := c.UserContext(), site.ViewerOf(c)
	events, place, err := s.job.Stands(ctx, v.AsStaff(), &d.Job)
	if err != nil {
		return nil, err
	}
	problem, err := s.Store.LabelledVersion(ctx, d.Problem, d.Version)
	if err != nil && !errors.Is(err, sql.ErrNotFound) {
		return nil, err
	}
	offers, err := s.Catalog.Languages(ctx)
	if err != nil {
		return nil, err
	}
	view := solve.ShowSubmission(d, problem, events, place, offers, v.AsStaff())
	view.Desk = site.TryURL(d.Problem, d.Version)
	view.Again = view.Desk + "&from=" + strconv.FormatInt(d.JobID, 10)
	return view, nil
}

// toCancel returns the one that the address names, to whoever may change its
// problem. Others are refused whether or not it is there.
func (s *Room) toCancel(c *fiber.Ctx) (*judge.Submission, error) {
	if err := s.setters.MayChange(c.UserContext(), site.ViewerOf(c), c.Params("slug")); err != nil {
		return nil, err
	}
	return s.find(c)
}

// Draft is a draft submission as /api/v1 shows it.
type Draft struct {
	job.SubmissionJSON

	Version string `json:"version"`
	Draft   bool   `json:"draft"` // always: it counts nowhere
}

// Public returns what v may see of a draft submission, as whoever may change its problem.
func Public(d *judge.Submission, place *judge.Place, v site.Viewer) Draft {
	return Draft{job.PublicSubmission(d, place, v.AsStaff()), d.Version, true}
}

// apiShow handles GET /api/v1/problems/:slug/drafts/:id.
func (s *Room) apiShow(c *fiber.Ctx) error {
	d, err := s.find(c)
	if err != nil {
		return err
	}
	place, err := s.job.PlaceOf(c.UserContext(), site.ViewerOf(c), d.JobID, d.Status)
	if err != nil {
		return err
	}
	return c.JSON(Public(d, place, site.ViewerOf(c)))
}

// apiList handles GET /api/v1/problems/:slug/drafts?version=&before=&limit=.
func (s *Room) apiList(c *fiber.Ctx) error {
	versions, err := s.setters.VersionsOf(c)
	if err != nil {
		return err
	}
	if err := s.setters.MayChange(c.UserContext(), site.ViewerOf(c), versions[0].Problem); err != nil {
		return err
	}
	f, err := site.ReadFilter(c)
	if err != nil {
		return err
	}
	rows, err := s.Store.Drafts(c.UserContext(), versions[0].Problem, c.Query("version"), f.Before, f.Limit)
	if err != nil {
		return err
	}
	list, next := []Draft{}, (*int64)(nil)
	for i := range rows {
		list = append(list, Public(&rows[i], nil, site.ViewerOf(c)))
	}
	if len(rows) == f.Limit {
		next = &rows[len(rows)-1].JobID
	}
	return c.JSON(fiber.Map{"drafts": list, "next": next})
}

// apiSubmit handles POST /api/v1/problems/:slug/versions/:version/submissions.
func (s *Room) apiSubmit(c *fiber.Ctx) error {
	if err := s.setters.MayChange(c.UserContext(), site.ViewerOf(c), c.Params("slug")); err != nil {
		return err
	}
	f, err := site.ReadFields(c, "language", "source", "sources")
	if err != nil {
		return err
	}
	in := solve.Program{Problem: c.Params("slug"), Language: f.Text("language"), Key: c.Get("Idempotency-Key"), Fields: solve.V1Fields}
	in.Sources = f.Program()
	if err := f.Wrong.Err(); err != nil {
		return err
	}
	receipt, err := s.submit(c.UserContext(), site.ViewerOf(c), c.Params("version"), in)
	if err != nil {
		return err
	}
	c.Set(fiber.HeaderLocation, "/api/v1/problems/"+url.PathEscape(in.Problem)+"/drafts/"+strconv.FormatInt(receipt.JobID, 10))
	return c.Status(fiber.StatusCreated).JSON(solve.Receipt{JobID: receipt.JobID, URL: site.DraftURL(in.Problem, receipt.JobID), Existing: receipt.Existing})
}

// find returns the program that the address names, which was handed in to a
// version of the problem that it names. For whoever may not change that there is none.
func (s *Room) find(c *fiber.Ctx) (*judge.Submission, error) {
	return job.Found(c, "draft submission", s.Store.Draft, func(d *judge.Submission) (bool, error) {
		if d.Problem != c.Params("slug") {
			return false, nil
		}
		return s.changes(c.UserContext(), site.ViewerOf(c), d.Problem)
	})
}
