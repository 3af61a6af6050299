package setters

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/blob"
	"deepoj/host/judge"
	"deepoj/host/people"
	"deepoj/host/problem"
	"deepoj/host/problem/samples"
	"deepoj/web/locale"
	"deepoj/web/site"
)

const (
	recentJobs = 20 // about packages, on their list
	maxChanges = 50 // of which version is live, on the page of a problem
)

// packageRow is a problem in the list of packages.
type packageRow struct {
	Problem, Title string
	Live           *judge.ProblemVersion // nil = none is
	Newest         judge.ProblemVersion
	Versions       int
}

// jobRow is a job about a package in a list.
type jobRow struct {
	judge.SetterJob
	Title   locale.Sentence
	Outcome locale.Word // "" while there is none
}

// Moving reports whether the job is not done.
func (r jobRow) Moving() bool { return !r.Status.Terminal() }

type packagesView struct {
	Rows      []packageRow
	Jobs      []jobRow
	Moving    bool
	Limit     int64 // bytes of a package
	Quota     quotaView
	Upload    upload
	Templates []string
	Fault     *site.Fault // why the form comes back
}

func (s *Room) packagesPage(c *fiber.Ctx) error {
	view, err := s.packagesView(c.UserContext(), site.ViewerOf(c))
	if err != nil {
		return err
	}
	return s.Page(c, fiber.StatusOK, "packages", "Packages", view)
}

func (s *Room) packagesView(ctx context.Context, v site.Viewer) (*packagesView, error) {
	view := &packagesView{Limit: s.Config.MaxPackage, Templates: samples.Slugs(), Upload: upload{Activate: true, Key: site.Key{Text: people.NewToken(16)}}}
	versions, err := s.Store.ProblemVersions(ctx, "")
	if err != nil {
		return nil, fmt.Errorf("list versions: %w", err)
	}
	for i, v := range versions {
		if i == 0 || v.Problem != versions[i-1].Problem {
			view.Rows = append(view.Rows, packageRow{Problem: v.Problem, Title: v.Title, Newest: v})
		}
		row := &view.Rows[len(view.Rows)-1]
		row.Versions++
		if v.Live {
			row.Live, row.Title = &versions[i], v.Title
		}
	}
	if view.Quota, err = s.quota(ctx, v); err != nil {
		return nil, err
	}
	jobs, err := s.Store.Jobs(ctx, []judge.Kind{judge.KindImport, judge.KindVerify, judge.KindRender}, 0, recentJobs)
	if err != nil {
		return nil, fmt.Errorf("list jobs: %w", err)
	}
	for _, j := range jobs {
		row := jobRow{SetterJob: j, Title: jobTitle(&j), Outcome: outcome(j.Kind, j.Verdict())}
		view.Moving = view.Moving || row.Moving()
		view.Jobs = append(view.Jobs, row)
	}
	return view, nil
}

// importForm handles POST /packages.
func (s *Room) importForm(c *fiber.Ctx) error {
	u, receipt, err := s.takeIn(c)
	if err == nil {
		return c.Redirect(site.ImportURL(receipt.JobID), fiber.StatusSeeOther)
	}
	f := s.Explain(c.UserContext(), err)
	if f.Field == "" || f.Field == "body" {
		return err
	}
	view, err := s.packagesView(c.UserContext(), site.ViewerOf(c))
	if err != nil {
		return err
	}
	u.Key = view.Upload.Key // what is sent next is another upload
	view.Upload, view.Fault = u, f
	site.HangUp(c)
	return s.Page(c, f.Status, "packages", "Packages", view)
}

// apiImport handles POST /api/v1/problems.
func (s *Room) apiImport(c *fiber.Ctx) error {
	_, receipt, err := s.takeIn(c)
	if err != nil {
		return err
	}
	return site.Accepted(c, receipt, site.ImportURL(receipt.JobID))
}

// export handles GET /api/v1/problems/:slug/package?version=, and the same below
// /packages: the live version, unless another is named, as a ZIP file.
func (s *Room) export(c *fiber.Ctx) error {
	if s.Config.Blobs == nil {
		return site.NoBlobs()
	}
	version := c.Query("version")
	if version == "" {
		p, err := s.ProblemFor(c)
		if err != nil {
			return err
		}
		version = p.Version
	}
	v, err := s.packageVersion(c.UserContext(), c.Params("slug"), version)
	if err != nil {
		return err
	}
	pkg, err := problem.Load(c.UserContext(), s.Config.Blobs, blob.Digest(v.Version))
	if errors.Is(err, blob.ErrNotFound) {
		return site.Refuse(fiber.StatusNotFound, "no_package", "There is no package of this version of %s: it is what a contest said of the problem that was held elsewhere.",
			"Import the package of the problem, or choose another version.", v.Problem)
	}
	if err != nil {
		return fmt.Errorf("export a package: %w", err)
	}
	if site.Unchanged(c, site.TagOf([]byte(v.Problem), []byte(v.Version), []byte(s.Config.Version))) { // another program may write it otherwise
		return nil
	}
	c.Set(fiber.HeaderContentType, "application/zip")
	c.Attachment(v.Problem + ".zip")
	trace := site.TraceOf(c.UserContext())
	c.Context().SetBodyStreamWriter(func(w *bufio.Writer) {
		ctx, cancel := context.WithTimeout(context.Background(), site.PackageTime)
		defer cancel()
		if err := pkg.Export(ctx, w); err != nil { // the archive has no end then, which whoever reads it sees
			s.Log.Error("export of a package broke off", slog.String("trace_id", trace), slog.Any("err", err))
		}
	})
	return nil
}
