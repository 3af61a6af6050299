package web

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/judge"
)

// This file cancels jobs: each of every kind, for its author or staff. What they may
// not see does not exist for them; a worker that has the job is told at once.

// whyBytes bounds the reason of a cancellation.
const whyBytes = 500

// whyOf reads the reason of a cancellation, which need not be given: the field "why" of
// a form, or of a body in JSON.
func whyOf(c *fiber.Ctx) (string, error) {
	why := ""
	switch {
	case len(c.Body()) == 0:
	case strings.HasPrefix(c.Get(fiber.HeaderContentType), fiber.MIMEApplicationJSON):
		f, err := readFields(c, "why")
		if err != nil {
			return "", err
		}
		if f.has("why") {
			why = f.text("why")
		}
		if err := f.wrong.err(); err != nil {
			return "", err
		}
	default:
		why = c.FormValue("why")
	}
	why = strings.Join(strings.Fields(strings.ToValidUTF8(why, "")), " ")
	if len(why) > whyBytes {
		return "", wrongField("why", reasonTooLong, "Say why in at most %d bytes.", whyBytes)
	}
	return why, nil
}

// cancel ends a job of the author for the viewer, who sees it.
func (s *Server) cancel(c *fiber.Ctx, jobID int64, author string) error {
	if !viewerOf(c).maySee(author) {
		return refuse(fiber.StatusForbidden, "forbidden", "Only "+author+" and staff may cancel this.", "Ask one of them.")
	}
	return s.end(c, jobID, s.store.Cancel)
}

func (s *Server) end(c *fiber.Ctx, jobID int64, by func(ctx context.Context, jobID int64, by, why string) error) error {
	why, err := whyOf(c)
	if err != nil {
		return err
	}
	if err := by(c.UserContext(), jobID, viewerOf(c).Name, why); err != nil {
		return fmt.Errorf("cancel job %d: %w", jobID, err)
	}
	return nil
}

// cancelSubmission ends a submission that the viewer sees: they are its author, or
// staff of the site or of its space. In a space its author ends none that is being
// judged: whoever sees that a test failed could take the attempt back.
func (s *Server) cancelSubmission(c *fiber.Ctx, sub *judge.Submission) error {
	v := viewerOf(c)
	if sub.Space == "" || v.Staff() || v.Name != sub.Author {
		return s.end(c, sub.JobID, s.store.Cancel)
	}
	err := s.end(c, sub.JobID, s.store.Withdraw)
	if r, ok := errors.AsType[*judge.RejectedError](err); ok && r.DBStatus == judge.Running {
		return refuse(fiber.StatusConflict, "begun", "The submission is being judged; in a space only staff can end that.", "Wait for the verdict, or ask staff.")
	}
	return err
}

func (s *Server) cancelSubmissionForm(c *fiber.Ctx) error {
	sub, err := s.submissionFor(c)
	if err == nil {
		err = s.cancelSubmission(c, sub)
	}
	if err != nil {
		return err
	}
	return c.Redirect(submissionURL(sub.JobID), fiber.StatusSeeOther)
}

// apiCancelSubmission handles POST /api/v1/submissions/:id/cancel.
func (s *Server) apiCancelSubmission(c *fiber.Ctx) error {
	sub, err := s.submissionFor(c)
	if err == nil {
		err = s.cancelSubmission(c, sub)
	}
	if err != nil {
		return err
	}
	return isCancelled(c, sub.JobID)
}

func (s *Server) cancelRunForm(c *fiber.Ctx) error {
	run, err := s.runFor(c)
	if err == nil {
		err = s.cancel(c, run.JobID, run.Author)
	}
	if err != nil {
		return err
	}
	return c.Redirect(runURL(run.JobID), fiber.StatusSeeOther)
}

// apiCancelRun handles POST /api/v1/runs/:id/cancel.
func (s *Server) apiCancelRun(c *fiber.Ctx) error {
	run, err := s.runFor(c)
	if err == nil {
		err = s.cancel(c, run.JobID, run.Author)
	}
	if err != nil {
		return err
	}
	return isCancelled(c, run.JobID)
}

// cancelJobForm cancels a job about a plugin or a package, and shows its page.
func (s *Server) cancelJobForm(url func(int64) string) fiber.Handler {
	return func(c *fiber.Ctx) error {
		job, err := s.jobFor(c)
		if err == nil {
			err = s.cancel(c, job.JobID, job.Author)
		}
		if err != nil {
			return err
		}
		return c.Redirect(url(job.JobID), fiber.StatusSeeOther)
	}
}

// apiCancelJob handles POST /api/v1/jobs/:id/cancel, for jobs of every kind.
func (s *Server) apiCancelJob(c *fiber.Ctx) error {
	if id, err := strconv.ParseInt(c.Params("id"), 10, 64); err == nil {
		job, err := s.store.Job(c.UserContext(), id)
		switch {
		case err != nil:
		case job.Kind == judge.KindSubmission:
			return s.apiCancelSubmission(c)
		case job.Kind == judge.KindRun:
			return s.apiCancelRun(c)
		}
	}
	job, err := s.jobFor(c)
	if err == nil {
		err = s.cancel(c, job.JobID, job.Author)
	}
	if err != nil {
		return err
	}
	return isCancelled(c, job.JobID)
}

func isCancelled(c *fiber.Ctx, jobID int64) error {
	return c.JSON(fiber.Map{"job_id": jobID, "status": "CANCELLED"})
}

// cancelledText says who cancelled a job of the author, and why. What staff are
// called is for staff.
func cancelledText(what, kept, author string, v viewer) string {
	w := judge.ReadWithdrawal(kept)
	text := "The " + what + " was cancelled"
	switch {
	case w.By == "":
	case w.By == author && author == v.Name:
		text += " by you"
	case w.By == author || v.Staff():
		text += " by " + w.By
	default:
		text += " by staff"
	}
	if w.Why != "" {
		return text + ": " + w.Why
	}
	return text + "."
}
