package web

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/judge"
	"deepoj/host/people"
	"deepoj/host/problem/samples"
	"deepoj/sql"
	"deepoj/web/site"
)

// packageRow is a problem in the list of packages.
type packageRow struct {
	Problem, Title string
	Live           *judge.ProblemVersion // nil = none is
	Newest         judge.ProblemVersion
	Versions       int
}

// packageJobRow is a job about a package in a list.
type packageJobRow struct {
	judge.SetterJob
	Title   string
	Outcome string // "" while there is none
}

// Moving reports whether the job is not done.
func (r packageJobRow) Moving() bool { return !r.Status.Terminal() }

type packagesView struct {
	Rows      []packageRow
	Jobs      []packageJobRow
	Moving    bool
	Limit     int64 // bytes of a package
	Quota     quotaView
	Upload    packageUpload
	Templates []string
	Fault     *site.Fault // why the form comes back
}

// Wrong reports whether the form comes back for this field.
func (view *packagesView) Wrong(field string) bool {
	return view.Fault != nil && view.Fault.Names(field)
}

func (s *Server) packagesPage(c *fiber.Ctx) error {
	view, err := s.packagesView(c.UserContext(), site.ViewerOf(c))
	if err != nil {
		return err
	}
	return s.Page(c, fiber.StatusOK, "packages", "Packages", view)
}

func (s *Server) packagesView(ctx context.Context, v site.Viewer) (*packagesView, error) {
	view := &packagesView{Limit: s.Config.MaxPackage, Templates: samples.Slugs(), Upload: packageUpload{Activate: true, Key: people.NewToken(16)}}
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
		row := packageJobRow{SetterJob: j, Title: packageTitle(j.Kind, j.Package), Outcome: packageOutcome(j.Verdict())}
		if j.Kind == judge.KindRender {
			row.Title, row.Outcome = renderingTitle(j.Render), map[judge.Verdict]string{judge.AC: "Rendered", judge.WA: "Not all rendered"}[j.Verdict()]
		}
		view.Moving = view.Moving || row.Moving()
		view.Jobs = append(view.Jobs, row)
	}
	return view, nil
}

// packageForm handles POST /packages.
func (s *Server) packageForm(c *fiber.Ctx) error {
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

// packageView is the page of a problem's versions.
type packageView struct {
	Problem, Title string
	Versions       []versionRow
	Changes        []judge.ProblemChange
	Hidden         bool // only setters see the problem
	Messages       messagesView
	Back           string // version that a roll-back restores; "" = there is none
	Key            string
	People         []sql.ProblemPerson
	Last           int // the oldest version's place
	Labels         sql.Labels
	TagText        string
	PackageSays    judge.Problem // of the version that is looked at
	Mine           bool          // whoever looks may change it
	Names          bool          // and say who else may
}

// versionRow is a version on the page of its problem.
type versionRow struct {
	judge.ProblemVersion
	Proof *judge.Proof // of the version that is looked at
	Open  bool         // it is looked at
}

// State says in a few words what is known of the version.
func (r versionRow) State() string {
	switch {
	case r.Proved == nil:
		return "not proved"
	case *r.Proved:
		return "proved"
	}
	return "proof failed"
}

// IsProved reports whether the version may go live.
func (r versionRow) IsProved() bool { return r.Proved != nil && *r.Proved }

// packagePage shows the versions of a problem, and the proof of the one that the
// query names, or else of the newest.
func (s *Server) packagePage(c *fiber.Ctx) error { return s.showPackage(c, fiber.StatusOK, nil) }

// showPackage shows that page; the fault is why the form of its settings comes back.
func (s *Server) showPackage(c *fiber.Ctx, status int, wrong *site.Fault) error {
	ctx := c.UserContext()
	versions, err := s.versionsOf(c)
	if err != nil {
		return err
	}
	slug, chosen := versions[0].Problem, c.Query("version", versions[0].Version)
	view := packageView{Problem: slug, Title: versions[0].Title, Key: people.NewToken(16)}
	for _, v := range versions {
		row := versionRow{ProblemVersion: v, Open: v.Version == chosen}
		if row.Open {
			full, err := s.Store.ProblemVersion(ctx, slug, v.Version)
			if err != nil {
				return fmt.Errorf("look up version: %w", err)
			}
			row.Proof = readPackageReport(full.Report).Proof
			if view.PackageSays, err = s.Store.VersionAsImported(ctx, slug, v.Version); err != nil {
				return err
			}
		}
		if v.Live {
			view.Title = v.Title
		}
		view.Versions = append(view.Versions, row)
	}
	if view.Changes, err = s.Store.ProblemChanges(ctx, slug, maxChanges); err != nil {
		return fmt.Errorf("read changes: %w", err)
	}
	if view.Hidden, err = s.Store.ProblemHidden(ctx, slug); err != nil {
		return err
	}
	view.Messages.Fault = wrong
	if view.Messages.MessageRule, err = s.Store.CheckerMessages(ctx, slug); err != nil {
		return err
	}
	if len(view.Changes) > 0 {
		view.Back = view.Changes[0].Previous
	}
	if view.People, err = s.Store.ProblemPeople(ctx, slug); err != nil {
		return err
	}
	if view.Labels, err = s.Store.ProblemLabels(ctx, slug); err != nil {
		return err
	}
	view.Last, view.TagText = len(versions)-1, strings.Join(view.Labels.Tags, ", ")
	if view.Labels.Tags != nil && len(view.Labels.Tags) == 0 {
		view.TagText = "-"
	}
	rights, err := s.Store.ProblemRights(ctx, slug, site.ViewerOf(c).Name)
	if err != nil {
		return err
	}
	view.Mine, view.Names = site.ViewerOf(c).Staff() || rights.MayChange(), site.ViewerOf(c).Staff() || rights.Owns
	return s.Page(c, status, "package", view.Title, &view)
}

// versionsOf returns the versions of the problem in the address: there is at least
// one.
func (s *Server) versionsOf(c *fiber.Ctx) ([]judge.ProblemVersion, error) {
	slug := c.Params("slug")
	if !site.PlainWord(slug) {
		return nil, sql.ErrNotFound
	}
	versions, err := s.Store.ProblemVersions(c.UserContext(), slug)
	if err != nil {
		return nil, fmt.Errorf("list versions: %w", err)
	}
	if len(versions) == 0 {
		return nil, site.Refuse(fiber.StatusNotFound, "not_found", "There is no problem "+strconv.Quote(site.Shorten(slug))+".", "")
	}
	return versions, nil
}

// packageVersion returns a version of a problem with its report.
func (s *Server) packageVersion(ctx context.Context, slug, version string) (*judge.ProblemVersion, error) {
	err := sql.ErrNotFound
	var v *judge.ProblemVersion
	if site.PlainWord(slug) && site.PlainWord(version) {
		v, err = s.Store.ProblemVersion(ctx, slug, version)
	}
	if errors.Is(err, sql.ErrNotFound) {
		return nil, site.Refuse(fiber.StatusNotFound, "not_found", "There is no version "+strconv.Quote(site.Shorten(version))+" of "+strconv.Quote(site.Shorten(slug))+".", "")
	}
	if err != nil {
		return nil, fmt.Errorf("look up version: %w", err)
	}
	return v, nil
}

// goLive makes a version live. Only staff may override what its proof found.
func (s *Server) goLive(ctx context.Context, v site.Viewer, slug, version string, override bool) (*judge.ProblemVersion, error) {
	if override && !v.Staff() {
		return nil, site.Refuse(fiber.StatusForbidden, "forbidden", "Only staff may make a version live that is not proved.", "Mend the package and import it again.")
	}
	p, err := s.packageVersion(ctx, slug, version)
	if err != nil {
		return nil, err
	}
	if err := s.mayChange(ctx, v, slug); err != nil {
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

// goBack undoes the newest change of which version is live, and returns the one
// that is live now.
func (s *Server) goBack(ctx context.Context, v site.Viewer, slug string) (string, error) {
	version, err := "", sql.ErrNotFound
	if site.PlainWord(slug) {
		if err := s.mayChange(ctx, v, slug); err != nil {
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

// proveAgain stores a job that proves a kept version.
func (s *Server) proveAgain(ctx context.Context, v site.Viewer, slug, version, key, keyField string) (sql.Receipt, error) {
	if _, err := s.packageVersion(ctx, slug, version); err != nil {
		return sql.Receipt{}, err
	}
	if err := s.mayChange(ctx, v, slug); err != nil {
		return sql.Receipt{}, err
	}
	if wrong := site.CheckKey(keyField, key); wrong != nil {
		return sql.Receipt{}, wrong
	}
	return s.orderPackage(ctx, v, judge.KindVerify, judge.PackagePayload{Problem: slug, Version: version}, key, keyField)
}

// liveForm handles POST /packages/:slug/activate.
func (s *Server) liveForm(c *fiber.Ctx) error {
	if _, err := s.goLive(c.UserContext(), site.ViewerOf(c), c.Params("slug"), c.FormValue("version"), c.FormValue("override") == "true"); err != nil {
		return err
	}
	return c.Redirect(site.PackageURL(c.Params("slug")), fiber.StatusSeeOther)
}

// backForm handles POST /packages/:slug/rollback.
func (s *Server) backForm(c *fiber.Ctx) error {
	if _, err := s.goBack(c.UserContext(), site.ViewerOf(c), c.Params("slug")); err != nil {
		return err
	}
	return c.Redirect(site.PackageURL(c.Params("slug")), fiber.StatusSeeOther)
}

// proveForm handles POST /packages/:slug/verify.
func (s *Server) proveForm(c *fiber.Ctx) error {
	version, key := c.FormValue("version"), c.FormValue("key")
	if key != "" {
		key += "-" + version[max(0, len(version)-16):] // the forms of a page have one key
	}
	receipt, err := s.proveAgain(c.UserContext(), site.ViewerOf(c), c.Params("slug"), version, key, "key")
	if err != nil {
		return err
	}
	return c.Redirect(site.ImportURL(receipt.JobID), fiber.StatusSeeOther)
}

// keptVersion is the version that the address names, for setters.
func (s *Server) keptVersion(c *fiber.Ctx) (slug, version string, err error) {
	v, err := s.packageVersion(c.UserContext(), c.Params("slug"), c.Params("version"))
	if err != nil {
		return "", "", err
	}
	return v.Problem, v.Version, nil
}

// apiHide handles POST /api/v1/problems/:slug/hide and …/show.
func (s *Server) apiHide(hidden bool) fiber.Handler {
	return func(c *fiber.Ctx) error {
		if err := s.hide(c, hidden); err != nil {
			return err
		}
		return c.JSON(fiber.Map{"problem": c.Params("slug"), "hidden": hidden})
	}
}

// hide says whether only setters see the problem that the address names, which need
// not be live yet.
func (s *Server) hide(c *fiber.Ctx, hidden bool) error {
	versions, err := s.versionsOf(c)
	if err != nil {
		return err
	}
	if err := s.mayChange(c.UserContext(), site.ViewerOf(c), versions[0].Problem); err != nil {
		return err
	}
	if err := s.Store.HideProblem(c.UserContext(), versions[0].Problem, hidden, site.ViewerOf(c).Name); err != nil {
		return fmt.Errorf("hide or show a problem: %w", err)
	}
	return nil
}

// hideForm handles POST /packages/:slug/hide and …/show.
func (s *Server) hideForm(hidden bool) fiber.Handler {
	return func(c *fiber.Ctx) error {
		if err := s.hide(c, hidden); err != nil {
			return err
		}
		return c.Redirect("/packages/"+url.PathEscape(c.Params("slug")), fiber.StatusSeeOther)
	}
}
