package staff

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/judge"
	"deepoj/sql"
	"deepoj/web/locale"
	"deepoj/web/site"
)

// deadLetterJSON is a dead letter, for staff.
type deadLetterJSON struct {
	JobID      int64           `json:"job_id"`
	Generation int32           `json:"generation"`
	AttemptID  int32           `json:"attempt_id"`
	Tries      int32           `json:"tries"`
	Kind       judge.Kind      `json:"kind"`
	Queue      string          `json:"queue"`
	Reason     string          `json:"reason"`
	Error      json.RawMessage `json:"error,omitempty"`
	At         time.Time       `json:"at"`
	Resolution string          `json:"resolution,omitempty"`
	ResolvedBy string          `json:"resolved_by,omitempty"`
	ResolvedAt *time.Time      `json:"resolved_at,omitempty"`
	Note       string          `json:"note,omitempty"` // why it was discarded
}

// attemptJSON is an attempt that ended without a result, for staff.
type attemptJSON struct {
	AttemptID  int32           `json:"attempt_id"`
	Generation int32           `json:"generation"`
	Worker     string          `json:"worker"`
	Started    time.Time       `json:"started"`
	Ended      time.Time       `json:"ended"`
	Outcome    string          `json:"outcome"`
	Error      json.RawMessage `json:"error,omitempty"`
}

// apiDeadLetters handles GET /api/v1/dlq?all=&before=&limit=: unresolved dead letters
// unless all of them are wanted, newest first.
func (s *Room) apiDeadLetters(c *fiber.Ctx) error {
	all, err := site.FlagOf(c, "all")
	if err != nil {
		return err
	}
	found, next, err := s.deadLetters(c, all)
	if err != nil {
		return err
	}
	out := make([]deadLetterJSON, len(found))
	for i, l := range found {
		out[i] = deadLetterJSON(l)
	}
	return c.JSON(fiber.Map{"dead_letters": out, "next": next})
}

// deadLetters returns the dead letters that are asked for, and the cursor of the next ones.
func (s *Room) deadLetters(c *fiber.Ctx, all bool) (found []sql.DeadLetter, next *string, err error) {
	behind, err := behindLetter(c)
	if err != nil {
		return nil, nil, err
	}
	limit, err := site.LimitOf(c)
	if err != nil {
		return nil, nil, err
	}
	found, err = s.Store.DeadLetters(c.UserContext(), behind, !all, limit)
	return found, nextLetters(found, limit), err
}

// apiDeadLetter handles GET /api/v1/dlq/:id: the newest dead letter of a job with the attempts that led to it.
func (s *Room) apiDeadLetter(c *fiber.Ctx) error {
	letter, found, err := s.deadLetterOf(c)
	if err != nil {
		return err
	}
	attempts := make([]attemptJSON, len(found))
	for i, a := range found {
		attempts[i] = attemptJSON(a)
	}
	return c.JSON(fiber.Map{"dead_letter": deadLetterJSON(letter), "attempts": attempts})
}

// deadLetterOf returns the newest dead letter of the job that the address names, with the attempts that led to it.
func (s *Room) deadLetterOf(c *fiber.Ctx) (letter sql.DeadLetter, attempts []sql.Attempt, err error) {
	id, err := site.IDOf(c)
	if err != nil {
		return letter, nil, err
	}
	if letter, err = s.Store.DeadLetter(c.UserContext(), id); err != nil {
		return letter, nil, err
	}
	if attempts, err = s.Store.Attempts(c.UserContext(), id); err != nil {
		return letter, nil, fmt.Errorf("list attempts: %w", err)
	}
	return letter, attempts, nil
}

// apiReplay handles POST /api/v1/dlq/:id/replay.
func (s *Room) apiReplay(c *fiber.Ctx) error {
	id, generation, err := s.replay(c)
	if err != nil {
		return err
	}
	return c.Status(fiber.StatusAccepted).JSON(fiber.Map{"job_id": id, "generation": generation})
}

// apiReplayAll handles POST /api/v1/dlq/replay with {"reason": code}.
func (s *Room) apiReplayAll(c *fiber.Ctx) error {
	f, err := site.ReadFields(c, "reason")
	if err != nil {
		return err
	}
	reason := f.Text("reason")
	if err := f.Wrong.Err(); err != nil {
		return err
	}
	n, err := s.replayAll(c, reason)
	if err != nil {
		return err
	}
	return c.Status(fiber.StatusAccepted).JSON(fiber.Map{"reason": reason, "jobs": n})
}

// replayAll has all dead jobs judged again that were given up for a reason, and returns how many.
func (s *Room) replayAll(c *fiber.Ctx, reason string) (int, error) {
	if !site.PlainWord(reason) {
		return 0, site.WrongField("reason", site.ReasonInvalid, "Name the reason of the dead letters, such as max_tries.")
	}
	return s.Store.ReplayAll(c.UserContext(), reason, site.ViewerOf(c).Name)
}

func (s *Room) replayAllForm(c *fiber.Ctx) error {
	n, err := s.replayAll(c, c.FormValue("reason"))
	if err != nil {
		return err
	}
	return c.Redirect("/dlq?again="+strconv.Itoa(n), fiber.StatusSeeOther)
}

// apiDiscard handles POST /api/v1/dlq/:id/discard with {"reason": text}.
func (s *Room) apiDiscard(c *fiber.Ctx) error {
	f, err := site.ReadFields(c, "reason")
	if err != nil {
		return err
	}
	reason := f.Text("reason")
	if err := f.Wrong.Err(); err != nil {
		return err
	}
	id, err := s.discard(c, reason)
	if err != nil {
		return err
	}
	return c.JSON(fiber.Map{"job_id": id, "resolution": "discarded"})
}

// replay has the dead job that the address names judged again, and returns its new generation.
func (s *Room) replay(c *fiber.Ctx) (id int64, generation int32, err error) {
	if id, err = site.IDOf(c); err != nil {
		return 0, 0, err
	}
	generation, err = s.Store.Replay(c.UserContext(), id, site.ViewerOf(c).Name)
	return id, generation, err
}

// maxReason bounds what staff write about why they do something, in bytes.
const maxReason = 500

// discard resolves the dead letter that the address names.
func (s *Room) discard(c *fiber.Ctx, reason string) (int64, error) {
	id, err := site.IDOf(c)
	if err != nil {
		return 0, err
	}
	if e := checkReason(reason); e != nil {
		return 0, e
	}
	return id, s.Store.Discard(c.UserContext(), id, site.ViewerOf(c).Name, strings.TrimSpace(reason))
}

// checkReason checks why somebody does something, as they write it.
func checkReason(reason string) *judge.FieldError {
	switch {
	case strings.TrimSpace(reason) == "":
		return site.WrongField("reason", site.ReasonEmpty, "Say why.")
	case len(reason) > maxReason:
		return site.WrongField("reason", site.ReasonTooLong, "The reason is longer than %d bytes.", maxReason)
	case strings.ContainsFunc(reason, func(r rune) bool { return r == 0 || r == 0xfffd }):
		return site.WrongField("reason", site.ReasonEncoding, "The reason has characters that are no text.")
	}
	return nil
}

// deadLetterRow is a dead letter on a page.
type deadLetterRow struct {
	sql.DeadLetter
	JobURL  string // "" if its kind has no page
	Message string // what went wrong, in a sentence
}

// KindName is what the job was.
func (r deadLetterRow) KindName() locale.Sentence { return locale.Named(kindNames, r.Kind) }

// When is when somebody resolved it.
func (r deadLetterRow) When() time.Time { return *r.ResolvedAt }

func showDeadLetter(l sql.DeadLetter) deadLetterRow {
	return deadLetterRow{l, site.PageOfJob(l.JobID, l.Kind), errorMessage(l.Error)}
}

// errorMessage returns the message of {code, message, component, detail}.
func errorMessage(raw json.RawMessage) string {
	var e struct{ Message, Detail string }
	if json.Unmarshal(raw, &e) != nil {
		return ""
	}
	return site.OrElse(e.Message, e.Detail)
}

type deadLettersView struct {
	All     bool
	Reasons []sql.DeadReason // of those that nobody has resolved
	Again   int              // how many are judged again just now
	Rows    []deadLetterRow
	Older   string // address of the next page, "" at the end
}

func (s *Room) deadLettersPage(c *fiber.Ctx) error {
	view := deadLettersView{All: c.QueryBool("all"), Again: max(0, c.QueryInt("again"))}
	var err error
	if view.Reasons, err = s.Store.DeadReasons(c.UserContext()); err != nil {
		return err
	}
	found, next, err := s.deadLetters(c, view.All)
	if err != nil {
		return err
	}
	for _, l := range found {
		view.Rows = append(view.Rows, showDeadLetter(l))
	}
	if next != nil {
		q := url.Values{"before": {*next}}
		if view.All {
			q.Set("all", "true")
		}
		view.Older = "/dlq?" + q.Encode()
	}
	return s.Page(c, fiber.StatusOK, "deadletters", "Dead letters", view)
}

// attemptRow is an attempt on the page of a dead letter.
type attemptRow struct {
	sql.Attempt
	Message string
}

// OutcomeName is how the attempt ended.
func (r attemptRow) OutcomeName() locale.Sentence { return locale.Named(outcomes, r.Outcome) }

type deadLetterView struct {
	Letter   deadLetterRow
	Detail   string // the error as it was stored
	Attempts []attemptRow
	Reason   string      // what was typed, where the form comes back
	Fault    *site.Fault // why it does
}

func (s *Room) deadLetterPage(c *fiber.Ctx) error {
	return s.showDeadLetter(c, fiber.StatusOK, "", nil)
}

// showDeadLetter shows the newest dead letter of a job, with the form as it was
// filled in and why it was refused, if it was.
func (s *Room) showDeadLetter(c *fiber.Ctx, status int, reason string, f *site.Fault) error {
	letter, found, err := s.deadLetterOf(c)
	if err != nil {
		return err
	}
	view := deadLetterView{Letter: showDeadLetter(letter), Detail: string(letter.Error), Reason: reason, Fault: f}
	for _, a := range found {
		view.Attempts = append(view.Attempts, attemptRow{a, errorMessage(a.Error)})
	}
	return s.Page(c, status, "deadletter", "Dead letter of job %s", view, locale.ID(letter.JobID))
}

func (s *Room) replayForm(c *fiber.Ctx) error {
	id, _, err := s.replay(c)
	if err != nil {
		return err
	}
	return c.Redirect(site.DeadLetterURL(id), fiber.StatusSeeOther)
}

func (s *Room) discardForm(c *fiber.Ctx) error {
	reason := c.FormValue("reason")
	id, err := s.discard(c, reason)
	if err != nil {
		if f := s.Explain(c.UserContext(), err); f.Field == "reason" {
			return s.showDeadLetter(c, f.Status, reason, f)
		}
		return err
	}
	return c.Redirect(site.DeadLetterURL(id), fiber.StatusSeeOther)
}
