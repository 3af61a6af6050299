package web

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/judge"
	"deepoj/host/people"
	"deepoj/sql"
	"deepoj/web/site"
)

const (
	recentJobs = 20 // about plugins, on the list of checkers
	maxChanges = 50 // of what a name means, on its page
)

// checkerURL is the page of a name.
func checkerURL(kind, name string) string {
	return "/checkers/" + url.PathEscape(kind) + "/" + url.PathEscape(name)
}

// checkerRow is a name in the list.
type checkerRow struct {
	Kind, Name string
	Active     *judge.Plugin // nil = no version is
	Newest     judge.Plugin
	Versions   int
	UsedBy     []judge.Problem
}

// pluginJobRow is a job about a plugin in the list.
type pluginJobRow struct {
	judge.SetterJob
	Title   string
	Outcome string // "" while there is none
}

// Moving reports whether the job is not done.
func (r pluginJobRow) Moving() bool { return !r.Status.Terminal() }

type checkersView struct {
	Rows      []checkerRow
	Jobs      []pluginJobRow
	Moving    bool
	Kinds     []string
	Protocols []string
	Problems  []judge.Problem
	Lacking   []judge.Language // of sources that no worker can compile, with what is missing
	Upload    upload           // what was typed, where the form comes back
	Fault     *site.Fault      // why it does
}

// Wrong reports whether the form comes back for this field.
func (view *checkersView) Wrong(field string) bool {
	return view.Fault != nil && view.Fault.Names(field)
}

func (s *Server) checkersPage(c *fiber.Ctx) error {
	view, err := s.checkersView(c)
	if err != nil {
		return err
	}
	return s.Page(c, fiber.StatusOK, "checkers", "Checkers", view)
}

func (s *Server) checkersView(c *fiber.Ctx) (*checkersView, error) {
	ctx := c.UserContext()
	view := &checkersView{Kinds: pluginKinds, Protocols: slices.Concat(dialects["checker"], dialects["toolchain"]), Upload: upload{Kind: pluginKinds[0], Key: people.NewToken(16)}}
	plugins, err := s.Store.Plugins(ctx, "", "")
	if err != nil {
		return nil, fmt.Errorf("list plugins: %w", err)
	}
	if view.Problems, err = s.Store.Problems(ctx); err != nil {
		return nil, fmt.Errorf("list problems: %w", err)
	}
	jobs, err := s.Store.Jobs(ctx, []judge.Kind{judge.KindPluginBuild, judge.KindPluginTest}, 0, recentJobs)
	if err != nil {
		return nil, fmt.Errorf("list jobs: %w", err)
	}
	workers, err := s.Config.Live(ctx)
	if err != nil {
		return nil, fmt.Errorf("list workers: %w", err)
	}
	view.Lacking = lackingCompilers(workers)
	view.Rows = checkerRows(plugins, view.Problems)
	for _, j := range jobs {
		row := pluginJobRow{SetterJob: j, Title: jobTitle(j.About, pluginOf(j.About, j.JobID, plugins))}
		if verdict := j.Verdict(); verdict != "" {
			row.Outcome = outcome(j.About.Op, verdict)
		}
		view.Moving = view.Moving || row.Moving()
		view.Jobs = append(view.Jobs, row)
	}
	return view, nil
}

// lackingCompilers returns the languages of plugins that no worker can compile, as the
// first says that knows.
func lackingCompilers(workers []judge.WorkerInfo) (lacking []judge.Language) {
	can := map[string]bool{}
	for _, w := range workers {
		for _, l := range w.Compilers {
			can[l.ID] = can[l.ID] || l.Available
		}
	}
	for _, w := range workers {
		for _, l := range w.Compilers {
			known := slices.ContainsFunc(lacking, func(o judge.Language) bool { return o.ID == l.ID })
			if !can[l.ID] && !known {
				lacking = append(lacking, l)
			}
		}
	}
	return lacking
}

// checkerRows makes a row of each name, from versions that come by name and
// newest first.
func checkerRows(plugins []judge.Plugin, problems []judge.Problem) []checkerRow {
	var rows []checkerRow
	for i, p := range plugins {
		if n := len(rows); n == 0 || rows[n-1].Kind != p.Kind || rows[n-1].Name != p.Name {
			rows = append(rows, checkerRow{Kind: p.Kind, Name: p.Name, Newest: p})
		}
		row := &rows[len(rows)-1]
		row.Versions++
		if p.Active {
			row.Active = &plugins[i]
		}
		for _, problem := range problems {
			if usedBy(problem, p) && !slices.ContainsFunc(row.UsedBy, func(u judge.Problem) bool { return u.Slug == problem.Slug }) {
				row.UsedBy = append(row.UsedBy, problem)
			}
		}
	}
	return rows
}

// usedBy reports whether a plugin decides on outputs for a problem: by its
// digest or by its name.
func usedBy(problem judge.Problem, p judge.Plugin) bool {
	return slices.Contains(problem.Checkers, p.Digest) || p.Kind != "toolchain" && slices.Contains(problem.Checkers, p.Name)
}

// uploadForm handles POST /checkers.
func (s *Server) uploadForm(c *fiber.Ctx) error {
	u, wrong, err := readUpload(c)
	if err != nil {
		return err
	}
	receipt, err := s.storeUpload(c.UserContext(), site.ViewerOf(c), u, wrong)
	if err != nil {
		f := s.Explain(c.UserContext(), err)
		if f.Field == "" {
			return err
		}
		return s.uploadAgain(c, u, f)
	}
	return c.Redirect(site.JobURL(receipt.JobID), fiber.StatusSeeOther)
}

// uploadAgain shows the form again with what was typed and why it was refused.
func (s *Server) uploadAgain(c *fiber.Ctx, u upload, f *site.Fault) error {
	view, err := s.checkersView(c)
	if err != nil {
		return err
	}
	u.Key = view.Upload.Key // what is sent next is another upload
	view.Upload, view.Fault = u, f
	return s.Page(c, f.Status, "checkers", "Checkers", view)
}

// versionView is a version on the page of its name.
type versionView struct {
	judge.Plugin
	UsedBy []judge.Problem // by digest, so that they stay with this version
	Acts   actsView
}

// changeView is a change of what a name meant.
type changeView struct {
	judge.PluginChange
	From, To string // versions
}

type checkerView struct {
	Kind, Name string
	Versions   []versionView
	UsedBy     []judge.Problem // by name
	Changes    []changeView
	Before     string // version that a roll-back restores; "" = there is none
}

func (s *Server) checkerPage(c *fiber.Ctx) error {
	ctx, v := c.UserContext(), site.ViewerOf(c)
	kind, name, err := pluginParams(c)
	if err != nil {
		return err
	}
	plugins, err := s.Store.Plugins(ctx, kind, name)
	if err != nil {
		return fmt.Errorf("list plugins: %w", err)
	}
	if len(plugins) == 0 {
		return site.Refuse(fiber.StatusNotFound, "not_found", "Nothing of kind "+strconv.Quote(site.Shorten(kind))+" is called "+strconv.Quote(site.Shorten(name))+".", "")
	}
	changes, err := s.Store.PluginChanges(ctx, kind, name, maxChanges)
	if err != nil {
		return fmt.Errorf("read changes: %w", err)
	}
	problems, err := s.Store.Problems(ctx)
	if err != nil {
		return fmt.Errorf("list problems: %w", err)
	}
	return s.Page(c, fiber.StatusOK, "checker", name, showChecker(plugins, changes, problems, v))
}

// pluginParams returns the kind and the name in the address.
func pluginParams(c *fiber.Ctx) (kind, name string, err error) {
	kind, name = c.Params("kind"), c.Params("name")
	if !site.PlainWord(kind) || !site.PlainWord(name) {
		return "", "", sql.ErrNotFound
	}
	return kind, name, nil
}

// showChecker puts together the page of a name, from its versions, newest first.
func showChecker(plugins []judge.Plugin, changes []judge.PluginChange, problems []judge.Problem, v site.Viewer) checkerView {
	view := checkerView{Kind: plugins[0].Kind, Name: plugins[0].Name}
	version := map[string]string{}
	for _, p := range plugins {
		version[p.Digest] = p.Version
		row := versionView{Plugin: p, Acts: newActs(p, problems, v)}
		for _, problem := range problems {
			if slices.Contains(problem.Checkers, p.Digest) {
				row.UsedBy = append(row.UsedBy, problem)
			}
		}
		view.Versions = append(view.Versions, row)
	}
	for _, problem := range problems {
		if view.Kind != "toolchain" && slices.Contains(problem.Checkers, view.Name) {
			view.UsedBy = append(view.UsedBy, problem)
		}
	}
	for _, c := range changes {
		view.Changes = append(view.Changes, changeView{c, version[c.Previous], version[c.Digest]})
	}
	if len(changes) > 0 {
		view.Before = version[changes[0].Previous]
	}
	return view
}

func (s *Server) activateForm(c *fiber.Ctx) error {
	p, err := s.activate(c.UserContext(), site.ViewerOf(c), c.FormValue("digest"))
	if err != nil {
		return err
	}
	return c.Redirect(checkerURL(p.Kind, p.Name), fiber.StatusSeeOther)
}

func (s *Server) rollBackForm(c *fiber.Ctx) error {
	kind, name, err := pluginParams(c)
	if err != nil {
		return err
	}
	if _, err := s.rollBack(c.UserContext(), site.ViewerOf(c), kind, name); err != nil {
		return err
	}
	return c.Redirect(checkerURL(kind, name), fiber.StatusSeeOther)
}

// pluginForm returns the handler of the form that starts a job about a kept
// plugin.
func (s *Server) pluginForm(op judge.PluginOp) fiber.Handler {
	return func(c *fiber.Ctx) error {
		p := judge.PluginPayload{Op: op, Digest: c.FormValue("digest"), Problem: c.FormValue("problem"), Limit: defaultPreview}
		if text := c.FormValue("limit"); text != "" {
			n, err := strconv.Atoi(text)
			if err != nil {
				n = 0 // refused as out of range
			}
			p.Limit = n
		}
		receipt, err := s.again(c.UserContext(), site.ViewerOf(c), p, formKey(c.FormValue("key"), p), "key")
		if err != nil {
			return err
		}
		return c.Redirect(site.JobURL(receipt.JobID), fiber.StatusSeeOther)
	}
}
