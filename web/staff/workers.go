package staff

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/judge"
	"deepoj/web/locale"
	"deepoj/web/site"
)

// workerMemory is how far back workers are shown that say nothing any more. The
// database forgets them after the same time.
const workerMemory = 7 * 24 * time.Hour

// workerJSON is a worker.
type workerJSON struct {
	judge.WorkerInfo
	Alive bool           `json:"alive"`
	Jobs  []underwayJSON `json:"jobs,omitempty"` // what it has under way, for staff
}

// underwayJSON is a job that a worker has under way.
type underwayJSON struct {
	JobID     int64      `json:"job_id"`
	URL       string     `json:"url,omitempty"`
	Kind      judge.Kind `json:"kind"`
	Language  string     `json:"language,omitempty"`
	AttemptID int32      `json:"attempt_id"`
	Started   time.Time  `json:"started_at"`
}

// apiWorkers handles GET /api/v1/workers?all=: workers that are alive. Staff learn
// their names and what they run, and may ask for those that are silent too.
func (s *Room) apiWorkers(c *fiber.Ctx) error {
	all, err := site.FlagOf(c, "all")
	if err != nil {
		return err
	}
	var found []workerJSON
	if site.ViewerOf(c).Staff() {
		found, err = s.workers(c.UserContext(), all)
	} else {
		found, err = s.workersWithoutNames(c.UserContext())
	}
	if err != nil {
		return err
	}
	place := map[*workerJSON]int{} // a name would do for staff alone
	rows := make([]*workerJSON, len(found))
	for i := range found {
		rows[i], place[&found[i]] = &found[i], i+1
	}
	page, next, err := site.PageOf(c, "after", rows, func(w *workerJSON) string { return strconv.Itoa(place[w]) })
	if err != nil {
		return err
	}
	return c.JSON(fiber.Map{"workers": page, "next": next})
}

// workersWithoutNames are those that are alive, as everybody may see them.
func (s *Room) workersWithoutNames(ctx context.Context) ([]workerJSON, error) {
	live, err := s.PublicWorkers(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]workerJSON, len(live))
	for i, w := range live {
		out[i] = workerJSON{WorkerInfo: w, Alive: true}
	}
	return out, nil
}

// workers returns the workers that are alive, and if all are wanted those that were seen within a week, with what each
// has under way. Those that are silent come last.
func (s *Room) workers(ctx context.Context, all bool) ([]workerJSON, error) {
	live, err := s.Config.Live(ctx)
	if err != nil {
		return nil, fmt.Errorf("ask for live workers: %w", err)
	}
	shown := live
	if all {
		if shown, err = s.Store.Workers(ctx, workerMemory); err != nil {
			return nil, fmt.Errorf("ask for workers: %w", err)
		}
	}
	runs, err := s.Store.WorkerRuns(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]workerJSON, len(shown))
	for i, w := range shown {
		out[i] = workerJSON{WorkerInfo: w, Alive: slices.ContainsFunc(live, func(l judge.WorkerInfo) bool { return l.Name == w.Name })}
		for _, r := range runs {
			if r.Worker == w.Name {
				out[i].Jobs = append(out[i].Jobs, underwayJSON{r.JobID, site.PageOfJob(r.JobID, r.Kind), r.Kind, r.Language, r.AttemptID, r.Started})
			}
		}
	}
	slices.SortStableFunc(out, func(a, b workerJSON) int { // by name already
		switch {
		case a.Alive == b.Alive:
			return 0
		case a.Alive:
			return -1
		}
		return 1
	})
	return out, nil
}

// workersView is the page of all workers, for staff.
type workersView struct {
	Rows   []workerJSON
	Alive  int
	Slots  int // of those that are alive
	Busy   int
	Silent time.Duration // after so long without a word a worker counts as silent
}

func (s *Room) workersPage(c *fiber.Ctx) error {
	view := workersView{Silent: s.Config.WorkerAge}
	var err error
	if view.Rows, err = s.workers(c.UserContext(), true); err != nil {
		return err
	}
	for _, w := range view.Rows {
		if w.Alive {
			view.Alive++
			view.Slots += w.Slots
			view.Busy += len(w.Jobs)
		}
	}
	return s.Page(c, fiber.StatusOK, "workers", "Workers", view)
}

// KindName is what the job is.
func (j underwayJSON) KindName() locale.Sentence { return locale.Named(kindNames, j.Kind) }

// speedText is how fast a worker is, for people.
type speedText struct {
	Text  locale.Sentence
	Share int  // of the fastest that is alive in its pool, in percent; 0 = it is the only one
	Slow  bool // so much slower that verdicts may differ
}

// slowShare is the share of the fastest below which a worker counts as slow, in percent.
const slowShare = 80

// Speed says how fast a worker is beside those of its pool; nil = nobody measured it.
func (view workersView) Speed(w workerJSON) *speedText {
	if w.Calibration <= 0 {
		return nil
	}
	fastest, others := w.Calibration, 0
	for _, o := range view.Rows {
		if o.Alive && o.Pool == w.Pool && o.Name != w.Name && o.Calibration > 0 {
			fastest, others = max(fastest, o.Calibration), others+1
		}
	}
	out := &speedText{Text: locale.Sentence{Key: "%d/s", Args: []any{int(math.Round(w.Calibration))}}}
	if others > 0 {
		out.Share = int(math.Round(100 * w.Calibration / fastest))
		out.Slow = out.Share < slowShare
	}
	return out
}

// Serves are the languages whose tool chain the worker has.
func (w workerJSON) Serves() []judge.Language { return w.having(true) }

// Lacks are the languages whose tool chain it has not.
func (w workerJSON) Lacks() []judge.Language { return w.having(false) }

func (w workerJSON) having(available bool) (out []judge.Language) {
	for _, l := range w.Languages {
		if l.Available == available {
			out = append(out, l)
		}
	}
	return out
}
