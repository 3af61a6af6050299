package job

import (
	"errors"
	"fmt"
	"strings"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/judge"
	"deepoj/web/locale"
	"deepoj/web/site"
)

// This file cancels jobs: each of every kind, for its author or staff. What they may
// not see does not exist for them; a worker that has the job is told at once.

// whyBytes bounds the reason of a cancellation.
const whyBytes = 500

// whyOf reads the reason of a cancellation, which need not be given: the field "why" of a form, or of a body in JSON.
func whyOf(c *fiber.Ctx) (string, error) {
	why := ""
	switch {
	case len(c.Body()) == 0:
	case strings.HasPrefix(c.Get(fiber.HeaderContentType), fiber.MIMEApplicationJSON):
		f, err := site.ReadFields(c, "why")
		if err != nil {
			return "", err
		}
		if f.Has("why") {
			why = f.Text("why")
		}
		if err := f.Wrong.Err(); err != nil {
			return "", err
		}
	default:
		why = c.FormValue("why")
	}
	why = strings.Join(strings.Fields(strings.ToValidUTF8(why, "")), " ")
	if len(why) > whyBytes {
		return "", site.WrongField("why", site.ReasonTooLong, "Say why in at most %d bytes.", whyBytes)
	}
	return why, nil
}

// cancel ends a job that the viewer sees: its author and staff may, of a draft submission whoever may change the
// problem. In a space the author of a submission ends none that is being judged: whoever sees that a test failed could
// take the attempt back.
func (s *Room) cancel(c *fiber.Ctx, one Job) error {
	j, v, end := one.Standing(), site.ViewerOf(c), s.Store.Cancel
	sub, handedIn := one.(*judge.Submission)
	switch {
	case j.Kind == judge.KindSubmission && handedIn:
		if sub.Space != "" && !v.Staff() && v.Name == sub.Author {
			end = s.Store.Withdraw
		}
	case !v.MaySee(j.Author):
		return site.Refuse(fiber.StatusForbidden, "forbidden", "Only %s and staff may cancel this.", "Ask one of them.", j.Author)
	}
	why, err := whyOf(c)
	if err != nil {
		return err
	}
	err = end(c.UserContext(), j.JobID, v.Name, why)
	if r, ok := errors.AsType[*judge.RejectedError](err); ok && r.DBStatus == judge.Running && handedIn {
		return site.Refuse(fiber.StatusConflict, "begun", "The submission is being judged; in a space only staff can end that.", "Wait for the verdict, or ask staff.")
	}
	if err != nil {
		return fmt.Errorf("cancel job %d: %w", j.JobID, err)
	}
	return nil
}

// CancelForm cancels the job that the address names, and shows its page.
func CancelForm[J Job](s *Room, find func(*fiber.Ctx) (J, error)) fiber.Handler {
	return func(c *fiber.Ctx) error {
		one, err := find(c)
		if err == nil {
			err = s.cancel(c, one)
		}
		if err != nil {
			return err
		}
		return c.Redirect(PageOf(one), fiber.StatusSeeOther)
	}
}

// APICancel cancels the job that the address names.
func APICancel[J Job](s *Room, find func(*fiber.Ctx) (J, error)) fiber.Handler {
	return func(c *fiber.Ctx) error {
		one, err := find(c)
		if err == nil {
			err = s.cancel(c, one)
		}
		if err != nil {
			return err
		}
		return c.JSON(fiber.Map{"job_id": one.Standing().JobID, "status": "CANCELLED"})
	}
}

// cancelledText says who cancelled a job, and why. What staff are called is for staff.
func cancelledText(j *judge.Job, v site.Viewer) string {
	w, text := j.Withdrawal(), ""
	switch {
	case w.By == "":
		text = sayCancelled(j.Kind, v, "The submission was cancelled", "The run was cancelled", "The job was cancelled")
	case w.By == j.Author && j.Author == v.Name:
		text = sayCancelled(j.Kind, v, "The submission was cancelled by you", "The run was cancelled by you", "The job was cancelled by you")
	case w.By == j.Author || v.Staff():
		text = sayCancelled(j.Kind, v, "The submission was cancelled by %s", "The run was cancelled by %s", "The job was cancelled by %s", w.By)
	default:
		text = sayCancelled(j.Kind, v, "The submission was cancelled by staff", "The run was cancelled by staff", "The job was cancelled by staff")
	}
	if w.Why != "" {
		return v.Say("%s: %s", text, w.Why)
	}
	return v.Say("%s.", text)
}

// sayCancelled says what is right for the kind of a job: a submission, a run or any other.
func sayCancelled(kind judge.Kind, v site.Viewer, submission, run, other locale.Word, args ...any) string {
	//exhaustive:ignore
	switch kind {
	case judge.KindSubmission, judge.KindDraft:
		return v.Say(submission, args...)
	case judge.KindRun:
		return v.Say(run, args...)
	}
	return v.Say(other, args...)
}
