package setters

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/judge"
	"deepoj/host/people"
	"deepoj/sql"
	"deepoj/web/locale"
	"deepoj/web/site"
)

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
func (r versionRow) State() locale.Word {
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

// packagePage shows the versions of a problem, and the proof of the one that the query names, or else of the newest.
func (s *Room) packagePage(c *fiber.Ctx) error { return s.showPackage(c, fiber.StatusOK, nil) }

// showPackage shows that page; the fault is why the form of its settings comes back.
func (s *Room) showPackage(c *fiber.Ctx, status int, wrong *site.Fault) error {
	ctx := c.UserContext()
	versions, err := s.VersionsOf(c)
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
			row.Proof = readReport(full.Report).Proof
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
	return s.Page(c, status, "package", "%s", &view, view.Title)
}

// VersionsOf returns the versions of the problem in the address: there is at least one.
func (s *Room) VersionsOf(c *fiber.Ctx) ([]judge.ProblemVersion, error) {
	slug := c.Params("slug")
	if !site.PlainWord(slug) {
		return nil, sql.ErrNotFound
	}
	versions, err := s.Store.ProblemVersions(c.UserContext(), slug)
	if err != nil {
		return nil, fmt.Errorf("list versions: %w", err)
	}
	if len(versions) == 0 {
		return nil, site.Refuse(fiber.StatusNotFound, "not_found", "There is no problem %q.", "", site.Shorten(slug))
	}
	return versions, nil
}

// packageVersion returns a version of a problem with its report.
func (s *Room) packageVersion(ctx context.Context, slug, version string) (*judge.ProblemVersion, error) {
	err := sql.ErrNotFound
	var v *judge.ProblemVersion
	if site.PlainWord(slug) && site.PlainWord(version) {
		v, err = s.Store.ProblemVersion(ctx, slug, version)
	}
	if errors.Is(err, sql.ErrNotFound) {
		return nil, site.Refuse(fiber.StatusNotFound, "not_found", "There is no version %q of %q.", "", site.Shorten(version), site.Shorten(slug))
	}
	if err != nil {
		return nil, fmt.Errorf("look up version: %w", err)
	}
	return v, nil
}

// keptVersion is the version that the address names, for setters.
func (s *Room) keptVersion(c *fiber.Ctx) (slug, version string, err error) {
	v, err := s.packageVersion(c.UserContext(), c.Params("slug"), c.Params("version"))
	if err != nil {
		return "", "", err
	}
	return v.Problem, v.Version, nil
}
