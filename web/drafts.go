package web

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/judge"
	"deepoj/sql"
)

// What setters hand in to versions that are not live is theirs alone: the owner,
// co-authors and staff see it. This file is the one place that says so.

func tryURL(slug, version string) string {
	return packageURL(slug) + "/try?version=" + url.QueryEscape(version)
}

func draftURL(slug string, id int64) string {
	return packageURL(slug) + "/drafts/" + strconv.FormatInt(id, 10)
}

// changes reports whether the viewer may change a problem that there is.
func (s *Server) changes(ctx context.Context, v viewer, slug string) (bool, error) {
	if v.Staff() {
		return true, nil
	}
	rights, err := s.store.ProblemRights(ctx, slug, v.Name)
	if err != nil {
		return false, fmt.Errorf("look up rights: %w", err)
	}
	return v.Setter() && (rights.Owns || rights.Writes), nil
}

// draftFor returns the program that the address names, which was handed in to a
// version of the problem that it names. For whoever may not change that there is none.
func (s *Server) draftFor(c *fiber.Ctx) (*sql.DraftSubmission, error) {
	missing := refuse(fiber.StatusNotFound, "not_found", "There is no draft submission "+strconv.Quote(shorten(c.Params("id")))+" that you may see.", "")
	id, err := strconv.ParseInt(c.Params("id"), 10, 64)
	if err != nil || id < 1 {
		return nil, missing
	}
	d, err := s.store.Draft(c.UserContext(), id)
	if errors.Is(err, sql.ErrNotFound) || err == nil && d.Problem != c.Params("slug") {
		return nil, missing
	}
	if err != nil {
		return nil, err
	}
	switch may, err := s.changes(c.UserContext(), viewerOf(c), d.Problem); {
	case err != nil:
		return nil, err
	case !may:
		return nil, missing
	}
	return d, nil
}

// submitDraft stores a program that is judged on a version, live or not.
func (s *Server) submitDraft(ctx context.Context, v viewer, version string, in handIn) (none sql.Receipt, err error) {
	if err := s.mayChange(ctx, v, in.Problem); err != nil {
		return none, err
	}
	_, problem, err := s.shownVersion(ctx, in.Problem, version)
	if err != nil {
		return none, err
	}
	offers, err := s.catalog.taking(ctx, in.Language)
	if err != nil {
		return none, err
	}
	if err := checkHandIn(in, problem, offers).err(); err != nil {
		return none, err
	}
	for i := range in.Sources {
		if in.Sources[i].Name == "" {
			in.Sources[i].Name = defaultName(offers, in.Language)
		}
	}
	receipt, err := s.store.SubmitDraft(ctx, sql.NewSubmission{
		Problem: in.Problem, Language: in.Language, Author: v.Name, GroupKey: v.Name, IdempotencyKey: in.Key, TraceID: traceOf(ctx),
		Sources: in.Sources, Lane: judge.LaneNormal,
	}, version)
	if err != nil {
		return none, in.fields.rename(err)
	}
	return receipt, nil
}

// draftDesk is what the page of a problem shows of a version that is looked at before
// contestants see it.
type draftDesk struct {
	Version string
	Live    bool
	Mine    bool // whoever looks may hand in to it
	Rows    []sql.DraftSubmission
}

// tryView is the page of a problem as it would be with a version.
func (s *Server) tryView(c *fiber.Ctx) (*problemView, error) {
	ctx, v, slug := c.UserContext(), viewerOf(c), c.Params("slug")
	version, problem, err := s.shownVersion(ctx, slug, c.Query("version"))
	if err != nil {
		return nil, err
	}
	base := versionURL(slug, version.Version)
	view, err := s.deskOf(c, problem, nil, base, base+"/files")
	if err != nil {
		return nil, err
	}
	view.At, view.Runs = tryURL(slug, version.Version), false
	view.Draft = &draftDesk{Version: version.Version, Live: version.Live}
	if view.Draft.Mine, err = s.changes(ctx, v, slug); err != nil || !view.Draft.Mine {
		return view, err
	}
	view.Draft.Rows, err = s.store.Drafts(ctx, slug, version.Version, 0, 20)
	return view, err
}

// tryPage handles GET /packages/:slug/try?version=.
func (s *Server) tryPage(c *fiber.Ctx) error {
	view, err := s.tryView(c)
	if err != nil {
		return err
	}
	if id, err := strconv.ParseInt(c.Query("from"), 10, 64); err == nil && view.Draft.Mine {
		d, err := s.store.Draft(c.UserContext(), id)
		if err == nil && d.Problem == view.Problem.Slug {
			view.Language = d.Language
			view.show(d.Sources)
		}
	}
	return s.page(c, fiber.StatusOK, "problem", view.Problem.Title, view)
}

// tryForm handles POST /packages/:slug/try?version=.
func (s *Server) tryForm(c *fiber.Ctx) error {
	in, err := formHandIn(c)
	if err != nil {
		return err
	}
	receipt, err := s.submitDraft(c.UserContext(), viewerOf(c), c.Query("version"), in)
	if err == nil {
		return c.Redirect(draftURL(in.Problem, receipt.JobID), fiber.StatusSeeOther)
	}
	f := s.explain(c.UserContext(), err)
	if f.Status != fiber.StatusUnprocessableEntity && f.Status != fiber.StatusRequestEntityTooLarge {
		return err
	}
	view, err := s.tryView(c)
	if err != nil {
		return err
	}
	view.Fault, view.Language = f, in.Language
	view.show(in.Sources)
	return s.page(c, f.Status, "problem", view.Problem.Title, view)
}

// asStaff is the viewer where they read something of which they see all.
func (v viewer) asStaff() viewer {
	v.Role = sql.RoleStaff
	return v
}

// draftView is the page of a program that was handed in to a version.
func (s *Server) draftView(c *fiber.Ctx) (*submissionView, error) {
	d, err := s.draftFor(c)
	if err != nil {
		return nil, err
	}
	ctx, v := c.UserContext(), viewerOf(c)
	events, err := s.pastEvents(ctx, v.asStaff(), d.JobID)
	if err != nil {
		return nil, err
	}
	problem, err := s.store.LabelledVersion(ctx, d.Problem, d.Version)
	if err != nil && !errors.Is(err, sql.ErrNotFound) {
		return nil, err
	}
	offers, err := s.catalog.languages(ctx)
	if err != nil {
		return nil, err
	}
	place, err := s.placeOf(ctx, v, d.JobID, d.Status)
	if err != nil {
		return nil, err
	}
	view := showSubmission(&d.Submission, problem, events, place, offers, v.asStaff())
	view.At, view.Version = draftURL(d.Problem, d.JobID), d.Version
	view.Desk = tryURL(d.Problem, d.Version)
	view.Again = view.Desk + "&from=" + strconv.FormatInt(d.JobID, 10)
	return view, nil
}

func (s *Server) draftPage(c *fiber.Ctx) error {
	view, err := s.draftView(c)
	if err != nil {
		return err
	}
	return s.page(c, fiber.StatusOK, "submission", fmt.Sprintf("Draft submission %d", view.Sub.JobID), view)
}

// draftFragment is the live part of the page alone.
func (s *Server) draftFragment(c *fiber.Ctx) error {
	view, err := s.draftView(c)
	if err != nil {
		return err
	}
	return s.render(c, fiber.StatusOK, "submission", "live", view)
}

// draftEvents streams what happens to it.
func (s *Server) draftEvents(c *fiber.Ctx) error {
	d, err := s.draftFor(c)
	if err != nil {
		return err
	}
	return s.stream(c, d.JobID, d.Status)
}

// draftToCancel returns the one that the address names, to whoever may change its
// problem. Others are refused whether or not it is there.
func (s *Server) draftToCancel(c *fiber.Ctx) (*sql.DraftSubmission, error) {
	if err := s.mayChange(c.UserContext(), viewerOf(c), c.Params("slug")); err != nil {
		return nil, err
	}
	return s.draftFor(c)
}

// cancelDraftForm handles POST /packages/:slug/drafts/:id/cancel.
func (s *Server) cancelDraftForm(c *fiber.Ctx) error {
	d, err := s.draftToCancel(c)
	if err == nil {
		err = s.cancel(c, d.JobID, d.Author)
	}
	if err != nil {
		return err
	}
	return c.Redirect(draftURL(d.Problem, d.JobID), fiber.StatusSeeOther)
}

// apiCancelDraft handles POST /api/v1/problems/:slug/drafts/:id/cancel.
func (s *Server) apiCancelDraft(c *fiber.Ctx) error {
	d, err := s.draftToCancel(c)
	if err == nil {
		err = s.cancel(c, d.JobID, d.Author)
	}
	if err != nil {
		return err
	}
	return isCancelled(c, d.JobID)
}

// draftJSON is a draft submission as /api/v1 shows it.
type draftJSON struct {
	submissionJSON

	Version string `json:"version"`
	Draft   bool   `json:"draft"` // always: it counts nowhere
}

func publicDraft(d *sql.DraftSubmission, v viewer) draftJSON {
	out := draftJSON{publicSubmission(&d.Submission, v.asStaff()), d.Version, true}
	out.URL = draftURL(d.Problem, d.JobID)
	return out
}

// apiDraft handles GET /api/v1/problems/:slug/drafts/:id.
func (s *Server) apiDraft(c *fiber.Ctx) error {
	d, err := s.draftFor(c)
	if err != nil {
		return err
	}
	out := publicDraft(d, viewerOf(c))
	place, err := s.placeOf(c.UserContext(), viewerOf(c), d.JobID, d.Status)
	if err != nil {
		return err
	}
	if place != nil {
		out.Place = publicPlace(*place)
	}
	return c.JSON(out)
}

// apiDrafts handles GET /api/v1/problems/:slug/drafts?version=&before=&limit=.
func (s *Server) apiDrafts(c *fiber.Ctx) error {
	versions, err := s.versionsOf(c)
	if err != nil {
		return err
	}
	if err := s.mayChange(c.UserContext(), viewerOf(c), versions[0].Problem); err != nil {
		return err
	}
	f, err := readFilter(c)
	if err != nil {
		return err
	}
	rows, err := s.store.Drafts(c.UserContext(), versions[0].Problem, c.Query("version"), f.Before, f.Limit)
	if err != nil {
		return err
	}
	list, next := []draftJSON{}, (*int64)(nil)
	for i := range rows {
		list = append(list, publicDraft(&rows[i], viewerOf(c)))
	}
	if len(rows) == f.Limit {
		next = &rows[len(rows)-1].JobID
	}
	return c.JSON(fiber.Map{"drafts": list, "next": next})
}

// apiSubmitDraft handles POST /api/v1/problems/:slug/versions/:version/submissions.
func (s *Server) apiSubmitDraft(c *fiber.Ctx) error {
	if err := s.mayChange(c.UserContext(), viewerOf(c), c.Params("slug")); err != nil {
		return err
	}
	f, err := readFields(c, "language", "source", "sources")
	if err != nil {
		return err
	}
	in := handIn{Problem: c.Params("slug"), Language: f.text("language"), Key: c.Get("Idempotency-Key"), fields: v1Fields}
	in.Sources = f.program()
	if err := f.wrong.err(); err != nil {
		return err
	}
	receipt, err := s.submitDraft(c.UserContext(), viewerOf(c), c.Params("version"), in)
	if err != nil {
		return err
	}
	c.Set(fiber.HeaderLocation, "/api/v1/problems/"+url.PathEscape(in.Problem)+"/drafts/"+strconv.FormatInt(receipt.JobID, 10))
	return c.Status(fiber.StatusCreated).JSON(receiptJSON{receipt.JobID, draftURL(in.Problem, receipt.JobID), receipt.Existing})
}

// apiVersionProblem handles GET /api/v1/problems/:slug/versions/:version/problem: what
// contestants would see.
func (s *Server) apiVersionProblem(c *fiber.Ctx) error {
	_, p, err := s.shownVersion(c.UserContext(), c.Params("slug"), c.Params("version"))
	if err != nil {
		return err
	}
	return c.JSON(p)
}
