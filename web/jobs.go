package web

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/judge"
	"deepoj/sql"
)

func jobURL(id int64) string { return "/checkers/jobs/" + strconv.FormatInt(id, 10) }

// jobFor returns the job that the address names: one of another kind than
// submission, which has its own addresses, that the viewer asked for or may see
// as a setter. Others do not exist.
func (s *Server) jobFor(c *fiber.Ctx) (*judge.JobView, error) {
	missing := refuse(fiber.StatusNotFound, "not_found", "There is no job "+strconv.Quote(shorten(c.Params("id")))+" that you may see.", "")
	id, err := strconv.ParseInt(c.Params("id"), 10, 64)
	if err != nil || id < 1 {
		return nil, missing
	}
	job, err := s.store.Job(c.UserContext(), id)
	if errors.Is(err, sql.ErrNotFound) {
		return nil, missing
	}
	if err != nil {
		return nil, fmt.Errorf("look up job: %w", err)
	}
	v := viewerOf(c)
	switch {
	case job.Kind == judge.KindSubmission || job.Kind == judge.KindRun || job.Kind == judge.KindDraft: // these have rules of their own
		return nil, missing
	case !v.Setter() && (!v.Known() || job.Author != v.Name):
		return nil, missing
	}
	return job, nil
}

// standing returns the job that the address names, which must be of one of the
// kinds, with what has happened to it, and where it waits if it does.
func (s *Server) standing(c *fiber.Ctx, kinds ...judge.Kind) (job *judge.JobView, events []judge.Event, place *judge.Place, err error) {
	if job, err = s.jobFor(c); err != nil {
		return nil, nil, nil, err
	}
	if !slices.Contains(kinds, job.Kind) {
		return nil, nil, nil, sql.ErrNotFound
	}
	if events, err = s.pastEvents(c.UserContext(), viewerOf(c), job.JobID); err != nil {
		return nil, nil, nil, err
	}
	place, err = s.placeOf(c.UserContext(), viewerOf(c), job.JobID, job.Status)
	return job, events, place, err
}

// jobJSON is a job of any kind but submission as /api/v1 shows it.
type jobJSON struct {
	JobID      int64         `json:"job_id"`
	URL        string        `json:"url,omitempty"`
	Kind       judge.Kind    `json:"kind"`
	Author     string        `json:"author"`
	Status     string        `json:"status"`
	Generation int32         `json:"generation"`
	AttemptID  int32         `json:"attempt_id"`
	Tries      int32         `json:"tries"`
	MaxTries   int32         `json:"max_tries"`
	Created    time.Time     `json:"created_at"`
	Started    *time.Time    `json:"started_at"`
	Finished   *time.Time    `json:"finished_at"`
	Place      *placeJSON    `json:"place,omitempty"`
	About      *aboutJSON    `json:"about,omitempty"`
	Package    *aboutPackage `json:"package,omitempty"`
	Problems   []string      `json:"problems,omitempty"` // that a rendering is of; none are all
	Result     *judge.Result `json:"result"`             // its report is what the job found
	Error      *string       `json:"error"`
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
func (s *Server) apiJob(c *fiber.Ctx) error {
	job, err := s.jobFor(c)
	if err != nil {
		return err
	}
	v := viewerOf(c)
	out := jobJSON{
		JobID: job.JobID, Kind: job.Kind, Author: job.Author, Status: job.Shown(), Generation: job.Generation, AttemptID: job.AttemptID,
		Tries: job.Tries, MaxTries: job.MaxTries, Created: job.Created, Started: job.Started, Finished: job.Finished,
		Result: publicResult(job.Result, v, judge.ToldNobody),
	}
	if a := job.About; a.Op != "" {
		out.URL = jobURL(job.JobID)
		out.About = &aboutJSON{a.Op, a.Kind, a.Name, a.Version, a.Protocol, a.Problem, a.Digest, a.Limit}
	}
	if p := job.Package; p.Problem != "" {
		out.URL = importURL(job.JobID)
		out.Package = &aboutPackage{p.Problem, p.Archive, p.Bytes, p.Version, p.Activate}
	}
	if job.Kind == judge.KindRender {
		if out.URL = importURL(job.JobID); job.Render != nil {
			out.Problems = job.Render.Problems
		}
	}
	if text := jobEndedWithout(job, v); text != "" {
		out.Error = &text
	}
	place, err := s.placeOf(c.UserContext(), viewerOf(c), job.JobID, job.Status)
	if err != nil {
		return err
	}
	if place != nil {
		out.Place = publicPlace(*place)
	}
	return c.JSON(out)
}

// jobEndedWithout says why a job ended without a result; "" if it did not.
func jobEndedWithout(job *judge.JobView, v viewer) string {
	what := "plugin"
	//exhaustive:ignore
	switch job.Kind {
	case judge.KindImport, judge.KindVerify:
		what = "package"
	case judge.KindRender:
		what = "statement"
	}
	return ending{"job", what, sendAgain}.of(job.Status, job.LastError, job.Author, v)
}
