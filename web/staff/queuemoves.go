package staff

import (
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/judge"
	"deepoj/sql"
	"deepoj/web/job"
	"deepoj/web/locale"
	"deepoj/web/site"
)

// moveVerbs are what staff can do with a job that waits.
var moveVerbs = []string{"release", "immediate", "delay", "move", "delete", "undo"}

// moveAnswer is what came of a move.
type moveAnswer struct {
	Rank   time.Time // of a delayed job, its new rank
	Undone string    // what was undone
}

// move does with a waiting job what the verb says; before is the job that it is moved before.
func (s *Room) move(ctx context.Context, verb string, id, before int64, by string) (m moveAnswer, err error) {
	switch verb {
	case "release":
		err = s.Store.Release(ctx, id, by)
	case "immediate":
		err = s.Store.Hasten(ctx, id, by)
	case "delay":
		m.Rank, err = s.Store.Delay(ctx, id, by)
	case "delete":
		err = s.Store.Withdraw(ctx, id, by, "")
	case "undo":
		m.Undone, err = s.Store.Undo(ctx, id, by)
	case "move":
		err = s.Store.Move(ctx, id, before, by)
	default:
		err = site.WrongField("verb", site.ReasonUnknown, "There is nothing called %q; there is %s.", site.Shorten(verb), judge.Names(moveVerbs))
	}
	return m, err
}

// apiMove returns the handler of POST /api/v1/submissions/:id/VERB, which moves a waiting submission.
func (s *Room) apiMove(verb string) fiber.Handler {
	return func(c *fiber.Ctx) error {
		id, err := site.IDOf(c)
		if err != nil {
			return err
		}
		before := int64(0)
		if verb == "move" {
			if before, err = readBefore(c); err != nil {
				return err
			}
		}
		m, err := s.move(c.UserContext(), verb, id, before, site.ViewerOf(c).Name)
		if err != nil {
			return err
		}
		out := fiber.Map{"job_id": id}
		if !m.Rank.IsZero() {
			out["rank_at"] = m.Rank
		}
		if m.Undone != "" {
			out["undone"] = m.Undone
		}
		place, err := s.job.PlaceOf(c.UserContext(), site.ViewerOf(c), id, judge.Pending)
		if err != nil {
			return err
		}
		if place != nil {
			out["place"] = job.PublicPlace(*place)
		}
		return c.JSON(out)
	}
}

// readBefore reads {"before": id}.
func readBefore(c *fiber.Ctx) (id int64, err error) {
	f, err := site.ReadFields(c, "before")
	if err != nil {
		return 0, err
	}
	if !f.Has("before") {
		f.Wrong.Add(site.WrongField("before", site.ReasonMissing, "The field is missing."))
	} else if json.Unmarshal(f.Raw["before"], &id) != nil || id < 1 {
		f.Wrong.Add(site.WrongField("before", site.ReasonWrong, "The field has to be the id of a job."))
	}
	return id, f.Wrong.Err()
}

// moveForm handles POST /queue/move: what the button says, with each job that was
// chosen or named. Jobs that are released together keep their order.
func (s *Room) moveForm(c *fiber.Ctx) error {
	verb, v := c.FormValue("verb"), site.ViewerOf(c)
	var wrong site.WrongFields
	ids, e := chosenJobs(c)
	wrong.Add(e)
	before := int64(0)
	if verb == "move" {
		var err error
		if before, err = strconv.ParseInt(strings.TrimSpace(c.FormValue("before")), 10, 64); err != nil || before < 1 {
			wrong.Add(site.WrongField("before", site.ReasonMissing, "Name the job that they are moved before."))
		}
	}
	if err := wrong.Err(); err != nil {
		return s.queueAgain(c, nil, s.Explain(c.UserContext(), err))
	}
	if verb == "release" {
		slices.Reverse(ids)
	}
	var done []int64
	var failed []*site.Fault
	for _, id := range ids {
		_, err := s.move(c.UserContext(), verb, id, before, v.Name)
		if err == nil {
			done = append(done, id)
			continue
		}
		f := s.Explain(c.UserContext(), err)
		if f.Status >= fiber.StatusInternalServerError {
			return err
		}
		failed = append(failed, site.Refuse(f.Status, f.Reason, "Job %s: %s", "", locale.ID(id), f.Said()))
	}
	slices.Sort(done)
	if len(failed) > 0 {
		return s.queueAgain(c, &act{Verb: verb, Jobs: done}, failed...)
	}
	return c.Redirect("/queue?"+act{Verb: verb, Jobs: done}.query(), fiber.StatusSeeOther)
}

// maxMoves bounds the jobs that one form moves.
const maxMoves = 200

// chosenJobs returns the jobs whose boxes are ticked, and those whose numbers are written.
func chosenJobs(c *fiber.Ctx) ([]int64, *judge.FieldError) {
	var words []string
	for _, value := range c.Request().PostArgs().PeekMulti("job") {
		words = append(words, string(value))
	}
	return jobNumbers("jobs", append(words, c.FormValue("jobs")), maxMoves)
}

// jobNumbers reads numbers of jobs that stand between commas or spaces.
func jobNumbers(field string, texts []string, most int) ([]int64, *judge.FieldError) {
	var ids []int64
	for _, text := range texts {
		for _, word := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(", ;\t\r\n", r) }) {
			id, err := strconv.ParseInt(strings.TrimPrefix(word, "#"), 10, 64)
			if err != nil || id < 1 {
				return nil, site.WrongField(field, site.ReasonInvalid, "%q is not the number of a job.", site.Shorten(word))
			}
			if !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
			if len(ids) > most {
				return nil, site.WrongField(field, "too_many", "At most %d jobs are taken at once.", most)
			}
		}
	}
	if len(ids) == 0 {
		return nil, site.WrongField(field, site.ReasonMissing, "Choose at least one job.")
	}
	return ids, nil
}

// act is what was done, as the page tells it afterwards.
type act struct {
	Verb string
	Jobs []int64
}

var actTexts = map[string]locale.Word{
	"release": "Released to the front: %s.", "immediate": "Made immediate: %s.", "delay": "Put to the back: %s.", "move": "Moved: %s.", "delete": "Deleted: %s.",
	"undo": "Undone: %s.",
}

// Text says what was done with the jobs of some numbers.
func (a act) Text() locale.Word { return actTexts[a.Verb] }

// Numbers are those of the jobs.
func (a act) Numbers() judge.Names {
	numbers := make(judge.Names, len(a.Jobs))
	for i, id := range a.Jobs {
		numbers[i] = strconv.FormatInt(id, 10)
	}
	return numbers
}

// Undoable reports whether it can be taken back.
func (a act) Undoable() bool { return a.Verb != "undo" }

func (a act) query() string {
	q := url.Values{"done": {a.Verb}}
	for _, id := range a.Jobs {
		q.Add("job", strconv.FormatInt(id, 10))
	}
	return q.Encode()
}

// actOf reads what query wrote; nil if it is not that.
func actOf(c *fiber.Ctx) *act {
	a := act{Verb: c.Query("done")}
	for _, value := range c.Request().URI().QueryArgs().PeekMulti("job") {
		if id, err := strconv.ParseInt(string(value), 10, 64); err == nil && id > 0 && len(a.Jobs) < maxMoves {
			a.Jobs = append(a.Jobs, id)
		}
	}
	if a.Text() == "" || len(a.Jobs) == 0 {
		return nil
	}
	return &a
}

// apiPause returns the handler of POST /api/v1/queues/:name/pause and resume.
func (s *Room) apiPause(paused bool) fiber.Handler {
	return func(c *fiber.Ctx) error {
		if err := s.pause(c, paused); err != nil {
			return err
		}
		return c.JSON(fiber.Map{"name": c.Params("name"), "paused": paused})
	}
}

// pauseForm returns the handler of POST /queues/:name/pause and resume.
func (s *Room) pauseForm(paused bool) fiber.Handler {
	return func(c *fiber.Ctx) error {
		if err := s.pause(c, paused); err != nil {
			return err
		}
		return site.SeeDone(c, site.DoneThat, "/queue")
	}
}

// pause stops the queue that the address names from giving work, or lets it.
func (s *Room) pause(c *fiber.Ctx, paused bool) error {
	name := c.Params("name")
	if !site.PlainWord(name) {
		return sql.ErrNotFound
	}
	return s.Store.PauseQueue(c.UserContext(), name, paused, site.ViewerOf(c).Name)
}
