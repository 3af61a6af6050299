package plugins

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/judge"
	"deepoj/sql"
	"deepoj/web/site"
)

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

type pluginView struct {
	Kind, Name string
	Versions   []versionView
	UsedBy     []judge.Problem // by name
	Changes    []changeView
	Before     string // version that a roll-back restores; "" = there is none
}

func (s *Room) pluginPage(c *fiber.Ctx) error {
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
		return site.Refuse(fiber.StatusNotFound, "not_found", "Nothing of kind %q is called %q.", "", site.Shorten(kind), site.Shorten(name))
	}
	changes, err := s.Store.PluginChanges(ctx, kind, name, maxChanges)
	if err != nil {
		return fmt.Errorf("read changes: %w", err)
	}
	problems, err := s.Store.Problems(ctx)
	if err != nil {
		return fmt.Errorf("list problems: %w", err)
	}
	return s.Page(c, fiber.StatusOK, "plugin", "%s", showPlugin(plugins, changes, problems, v), name)
}

// pluginParams returns the kind and the name in the address.
func pluginParams(c *fiber.Ctx) (kind, name string, err error) {
	kind, name = c.Params("kind"), c.Params("name")
	if !site.PlainWord(kind) || !site.PlainWord(name) {
		return "", "", sql.ErrNotFound
	}
	return kind, name, nil
}

// showPlugin puts together the page of a name, from its versions, newest first.
func showPlugin(plugins []judge.Plugin, changes []judge.PluginChange, problems []judge.Problem, v site.Viewer) pluginView {
	view := pluginView{Kind: plugins[0].Kind, Name: plugins[0].Name}
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

func (s *Room) activateForm(c *fiber.Ctx) error {
	p, err := s.activate(c.UserContext(), site.ViewerOf(c), c.FormValue("digest"))
	if err != nil {
		return err
	}
	return site.SeeDone(c, site.DoneLive, site.PluginURL(p.Kind, p.Name))
}

func (s *Room) rollBackForm(c *fiber.Ctx) error {
	kind, name, err := pluginParams(c)
	if err != nil {
		return err
	}
	if _, err := s.rollBack(c.UserContext(), site.ViewerOf(c), kind, name); err != nil {
		return err
	}
	return site.SeeDone(c, site.DoneLive, site.PluginURL(kind, name))
}

// pluginForm returns the handler of the form that starts a job about a kept plugin.
func (s *Room) pluginForm(op judge.PluginOp) fiber.Handler {
	return func(c *fiber.Ctx) error {
		p := judge.PluginPayload{Op: op, Digest: c.FormValue("digest"), Problem: c.FormValue("problem"), Limit: defaultPreview}
		if text := c.FormValue("limit"); text != "" {
			n, err := strconv.Atoi(text)
			if err != nil {
				n = 0 // refused as out of range
			}
			p.Limit = n
		}
		receipt, err := s.again(c.UserContext(), site.ViewerOf(c), p, formKey(site.FormKey(c), p))
		if err != nil {
			return err
		}
		return c.Redirect(site.JobURL(receipt.JobID), fiber.StatusSeeOther)
	}
}
