package plugins

import (
	"fmt"
	"slices"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/judge"
	"deepoj/host/people"
	"deepoj/web/locale"
	"deepoj/web/site"
)

const (
	recentJobs = 20 // about plugins, on the list of checkers
	maxChanges = 50 // of what a name means, on its page
)

// nameRow is a name in the list.
type nameRow struct {
	Kind, Name string
	Active     *judge.Plugin // nil = no version is
	Newest     judge.Plugin
	Versions   int
	UsedBy     []judge.Problem
}

// jobRow is a job about a plugin in the list.
type jobRow struct {
	judge.SetterJob
	Title   locale.Sentence
	Outcome locale.Word // "" while there is none
}

// Moving reports whether the job is not done.
func (r jobRow) Moving() bool { return !r.Status.Terminal() }

type pluginsView struct {
	Rows      []nameRow
	Jobs      []jobRow
	Moving    bool
	Kinds     []string
	Protocols []string
	Problems  []judge.Problem
	Lacking   []judge.Language // of sources that no worker can compile, with what is missing
	Upload    upload           // what was typed, where the form comes back
	Fault     *site.Fault      // why it does
}

func (s *Room) pluginsPage(c *fiber.Ctx) error {
	view, err := s.pluginsView(c)
	if err != nil {
		return err
	}
	return s.Page(c, fiber.StatusOK, "plugins", "Checkers", view)
}

func (s *Room) pluginsView(c *fiber.Ctx) (*pluginsView, error) {
	ctx := c.UserContext()
	view := &pluginsView{Kinds: Kinds, Protocols: slices.Concat(dialects["checker"], dialects["toolchain"]), Upload: upload{Kind: Kinds[0], Key: site.Key{Text: people.NewToken(16)}}}
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
	view.Rows = pluginRows(plugins, view.Problems)
	for _, j := range jobs {
		row := jobRow{SetterJob: j, Title: jobTitle(j.About, pluginOf(j.About, j.JobID, plugins))}
		if verdict := j.Verdict(); verdict != "" {
			row.Outcome = outcome(j.About.Op, verdict)
		}
		view.Moving = view.Moving || row.Moving()
		view.Jobs = append(view.Jobs, row)
	}
	return view, nil
}

// lackingCompilers returns the languages of plugins that no worker can compile, as the first says that knows.
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

// pluginRows makes a row of each name, from versions that come by name and newest first.
func pluginRows(plugins []judge.Plugin, problems []judge.Problem) []nameRow {
	var rows []nameRow
	for i, p := range plugins {
		if n := len(rows); n == 0 || rows[n-1].Kind != p.Kind || rows[n-1].Name != p.Name {
			rows = append(rows, nameRow{Kind: p.Kind, Name: p.Name, Newest: p})
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

// usedBy reports whether a plugin decides on outputs for a problem: by its digest or by its name.
func usedBy(problem judge.Problem, p judge.Plugin) bool {
	return slices.Contains(problem.Checkers, p.Digest) || p.Kind != "toolchain" && slices.Contains(problem.Checkers, p.Name)
}

// uploadForm handles POST /checkers.
func (s *Room) uploadForm(c *fiber.Ctx) error {
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
func (s *Room) uploadAgain(c *fiber.Ctx, u upload, f *site.Fault) error {
	view, err := s.pluginsView(c)
	if err != nil {
		return err
	}
	u.Key = view.Upload.Key // what is sent next is another upload
	view.Upload, view.Fault = u, f
	return s.Page(c, f.Status, "plugins", "Checkers", view)
}
