package job

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/judge"
	"deepoj/sql"
	"deepoj/web/locale"
	"deepoj/web/site"
)

// This file serves jobs of every kind: how the one is found that an address names, its page, its live part, its stream
// and its end. A kind says which jobs the viewer may see, and adds its part.

// Job is a [judge.Submission], a [judge.Run] or a [judge.SetterJob].
type Job interface{ Standing() *judge.Job }

// Found returns the job that the address names. One that the viewer may not see does not exist for them.
func Found[J any](c *fiber.Ctx, what locale.Word, look func(ctx context.Context, jobID int64) (*J, error), may func(*J) (bool, error)) (*J, error) {
	missing := site.Refuse(fiber.StatusNotFound, "not_found", "There is no %s %q that you may see.", "", what, site.Shorten(c.Params("id")))
	id, err := strconv.ParseInt(c.Params("id"), 10, 64)
	if err != nil || id < 1 {
		return nil, missing
	}
	one, err := look(c.UserContext(), id)
	seen := false
	if err == nil {
		seen, err = may(one)
	}
	switch {
	case errors.Is(err, sql.ErrNotFound) || err == nil && !seen:
		return nil, missing
	case err != nil:
		return nil, fmt.Errorf("look up a %s: %w", what, err)
	}
	return one, nil
}

// SubmissionFor returns the submission that the address names.
func (s *Room) SubmissionFor(c *fiber.Ctx) (*judge.Submission, error) {
	look := func(ctx context.Context, id int64) (*judge.Submission, error) {
		return s.SubmissionSeen(ctx, site.ViewerOf(c), id)
	}
	return Found(c, "submission", look, func(*judge.Submission) (bool, error) { return true, nil })
}

// RunFor returns the run that the address names.
func (s *Room) RunFor(c *fiber.Ctx) (*judge.Run, error) {
	return Found(c, "run", s.Store.Run, func(run *judge.Run) (bool, error) { return site.ViewerOf(c).MaySee(run.Author), nil })
}

// JobFor returns the job that the address names: one about a plugin, a package or pages, that the viewer asked for or
// may see as a setter. Kinds, if there are any, are those that the address is for.
func (s *Room) JobFor(c *fiber.Ctx, kinds ...judge.Kind) (*judge.SetterJob, error) {
	return Found(c, "job", s.Store.Job, func(j *judge.SetterJob) (bool, error) {
		v := site.ViewerOf(c)
		if j.Kind == judge.KindSubmission || j.Kind == judge.KindRun || j.Kind == judge.KindDraft || len(kinds) > 0 && !slices.Contains(kinds, j.Kind) {
			return false, nil
		}
		return v.Setter() || v.Known() && j.Author == v.Name, nil
	})
}

// AnyJobFor returns the job of any kind, but draft, that the address names.
func (s *Room) AnyJobFor(c *fiber.Ctx) (Job, error) {
	id, err := strconv.ParseInt(c.Params("id"), 10, 64)
	if err == nil {
		j, err := s.Store.Job(c.UserContext(), id)
		switch {
		case err == nil && j.Kind == judge.KindSubmission:
			return s.SubmissionFor(c)
		case err == nil && j.Kind == judge.KindRun:
			return s.RunFor(c)
		}
	}
	return s.JobFor(c)
}

// SetterJobFor is [Server.JobFor] for all kinds.
func (s *Room) SetterJobFor(c *fiber.Ctx) (*judge.SetterJob, error) { return s.JobFor(c) }

// PageOf returns the address of a job's page.
func PageOf(one Job) string {
	if d, ok := one.(*judge.Submission); ok && d.Kind == judge.KindDraft {
		return site.DraftURL(d.Problem, d.JobID)
	}
	return site.PageOfJob(one.Standing().JobID, one.Standing().Kind)
}

// Stands returns what has happened to a job as v may see it, and where it waits if it does.
func (s *Room) Stands(ctx context.Context, v site.Viewer, j *judge.Job) (events []judge.Event, place *judge.Place, err error) {
	if events, err = s.pastEvents(ctx, v, j.JobID); err != nil {
		return nil, nil, err
	}
	place, err = s.PlaceOf(ctx, v, j.JobID, j.Status)
	return events, place, err
}

// A browser that was shown a page takes longer to ask again than most machines take to judge a small program.
const (
	justNow    = time.Second           // who looks at what was handed in longer ago did not hand it in just now
	firstWait  = 60 * time.Millisecond // for the first test
	firstPause = 5 * time.Millisecond  // between two looks, where another process judges
)

// fresh reports whether a job that is not done was handed in just now.
func fresh(j *judge.Job) bool {
	return !j.Status.Terminal() && time.Since(j.Created).Abs() < justNow
}

// Begun waits for a moment until the first test of what was handed in just now has been run. It returns the events by
// which it has, or nil.
func (s *Room) Begun(ctx context.Context, v site.Viewer, j *judge.Job, client string) ([]judge.Event, error) {
	if !fresh(j) {
		return nil, nil
	}
	over, pause := time.NewTimer(firstWait), time.NewTicker(firstPause)
	defer over.Stop()
	defer pause.Stop()
	w, err := s.hub.watch(j.JobID, client)
	if err != nil {
		w = &watch{} // without a place to wait it looks from time to time
	} else {
		defer w.leave()
	}
	for {
		events, err := s.pastEvents(ctx, v, j.JobID)
		if err != nil {
			return nil, err
		}
		if run := LatestRun(events); run != nil && len(run.Tests) > 0 || judge.StatusAfter(events).Terminal() {
			return events, nil
		}
		select {
		case <-over.C:
			return nil, nil
		case <-s.hub.Done():
			return nil, nil
		case <-w.Woken():
		case <-pause.C:
		}
	}
}

// Follow streams what happens to the job that the address names.
func Follow[J Job](s *Room, find func(*fiber.Ctx) (J, error)) fiber.Handler {
	return func(c *fiber.Ctx) error {
		if _, err := LastEventID(c); err != nil {
			return err
		}
		one, err := find(c)
		if err != nil {
			return err
		}
		return s.stream(c, one.Standing().JobID, one.Standing().Status)
	}
}

// Page is what a page shows of a job.
type Page interface {
	PageTitle() string
	Live() *StandingView
}

// ShowJob serves the page of a job by its template.
func ShowJob[V Page](s *Room, name string, look func(*fiber.Ctx) (V, error)) fiber.Handler {
	return func(c *fiber.Ctx) error {
		view, err := look(c)
		if err != nil {
			return err
		}
		return s.Page(c, fiber.StatusOK, name, "%s", view, view.PageTitle())
	}
}

// ShowLive serves the live part of the page alone, which the page fetches whenever
// something happened, after ?wait= seconds at most.
func ShowLive[V Page](s *Room, name string, look func(*fiber.Ctx) (V, error)) fiber.Handler {
	return func(c *fiber.Ctx) error {
		wait, err := WaitOf(c)
		if err != nil {
			return err
		}
		view, err := look(c)
		if err != nil {
			return err
		}
		if wait = min(wait, site.RequestTime/2); wait > 0 && view.Live().Moving {
			if err := s.JobsSettled(c, wait, view.Live().Job.JobID); err != nil {
				return err
			}
			if view, err = look(c); err != nil {
				return err
			}
		}
		return s.Render(c, fiber.StatusOK, name, "live", view)
	}
}

// JobJSON is a job about a plugin, a package or pages as /api/v1 shows it.
type JobJSON struct { //nolint:revive // the description of the API calls it so
	StandingJSON

	About    *aboutJSON    `json:"about,omitempty"`
	Package  *aboutPackage `json:"package,omitempty"`
	Problems []string      `json:"problems,omitempty"` // that a rendering is of; none are all
	Result   *judge.Result `json:"result"`             // its report is what the job found
}

// aboutJSON is what a job about a plugin is asked.
type aboutJSON struct {
	Op       judge.PluginOp `json:"op"`
	Kind     string         `json:"kind,omitempty"`
	Name     string         `json:"name,omitempty"`
	Version  string         `json:"version,omitempty"`
	Protocol string         `json:"protocol,omitempty"`
	Problem  string         `json:"problem,omitempty"`
	Digest   string         `json:"digest,omitempty"`
	Limit    int            `json:"limit,omitempty"`
}

// aboutPackage is what a job about a problem package is asked.
type aboutPackage struct {
	Problem  string `json:"problem"`
	Archive  string `json:"archive,omitempty"`
	Bytes    int64  `json:"bytes,omitempty"`
	Version  string `json:"version,omitempty"`
	Activate bool   `json:"activate,omitempty"`
}

// apiJob handles GET /api/v1/jobs/:id.
func (s *Room) apiJob(c *fiber.Ctx) error {
	j, err := s.JobFor(c)
	if err != nil {
		return err
	}
	v := site.ViewerOf(c)
	place, err := s.PlaceOf(c.UserContext(), v, j.JobID, j.Status)
	if err != nil {
		return err
	}
	return c.JSON(PublicJob(j, place, v))
}

// PublicJob returns what v may see of a job.
func PublicJob(j *judge.SetterJob, place *judge.Place, v site.Viewer) JobJSON {
	out := JobJSON{StandingJSON: PublicStanding(j, place, v), Result: PublicResult(j.Result, v, judge.ToldNobody)}
	if a := j.About; a.Op != "" {
		out.About = &aboutJSON{a.Op, a.Kind, a.Name, a.Version, a.Protocol, a.Problem, a.Digest, a.Limit}
	}
	if p := j.Package; p.Problem != "" {
		out.Package = &aboutPackage{p.Problem, p.Archive, p.Bytes, p.Version, p.Activate}
	}
	if j.Render != nil {
		out.Problems = j.Render.Problems
	}
	return out
}
