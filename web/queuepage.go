package web

import (
	"context"
	"fmt"
	"html/template"
	"slices"
	"time"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/judge"
	"deepoj/sql"
)

// queueRow is an unfinished job and where it stands.
type queueRow struct {
	sql.QueueRow
	Place, ETA string
}

type queueView struct {
	Stats   sql.QueueStats
	Oldest  string
	Rows    []template.HTML
	Workers []judge.WorkerInfo
	Flow    template.HTML // a picture of the last hour

	// For staff.
	Queues   []sql.Queue
	Queue    string
	Pool     string
	Group    string   // whose jobs are shown; "" = everybody's
	Done     *act     // what was done just now
	Faults   []*fault // what could not be done
	Unlisted int64    // unfinished jobs that are not shown
}

func (s *Server) queuePage(c *fiber.Ctx) error {
	return s.showQueue(c, fiber.StatusOK, queueView{Done: actOf(c)})
}

// queueAgain shows the queue after an act that failed for some jobs.
func (s *Server) queueAgain(c *fiber.Ctx, done *act, faults ...*fault) error {
	if done != nil && len(done.Jobs) == 0 {
		done = nil
	}
	return s.showQueue(c, faults[0].Status, queueView{Done: done, Faults: faults})
}

func (s *Server) showQueue(c *fiber.Ctx, status int, view queueView) (err error) {
	ctx, v := c.UserContext(), viewerOf(c)
	if view.Stats, err = s.store.For(v.Staff()).QueueStats(ctx); err != nil {
		return fmt.Errorf("count the queue: %w", err)
	}
	if view.Stats.Oldest > 0 {
		view.Oldest = waitText(view.Stats.Oldest)
	}
	flow, err := s.flow.of(v).read(ctx)
	if err != nil {
		return err
	}
	view.Flow = flowPicture(flow, view.Stats.Pending+view.Stats.Delivered+view.Stats.Running)
	var found []sql.QueueRow
	if v.Staff() {
		if view.Workers, err = s.catalog.live(ctx); err == nil {
			found, err = s.queueForStaff(c, &view)
		}
	} else if view.Workers, err = s.publicWorkers(ctx); err == nil {
		view.Done = nil
		found, err = s.store.QueueOf(ctx, v.Name, pageSize)
	}
	if err != nil {
		return err
	}
	ids := make([]int64, len(found))
	for i, r := range found {
		ids[i] = r.JobID
	}
	places, err := s.placesOf(ctx, v, ids)
	if err != nil {
		return err
	}
	for _, r := range found {
		row := queueRow{QueueRow: r}
		if place, waits := places[r.JobID]; waits {
			row.Place, row.ETA = placeText(place), etaText(place)
		}
		if v.Staff() {
			view.Rows = append(view.Rows, row.staffCells())
		} else {
			view.Rows = append(view.Rows, row.ownCells())
		}
	}
	return s.page(c, status, "queue", "Queue", view)
}

// queueForStaff lists the front of a queue and pool, or what a submitter has in
// them.
func (s *Server) queueForStaff(c *fiber.Ctx, view *queueView) (found []sql.QueueRow, err error) {
	ctx := c.UserContext()
	view.Queue, view.Pool, view.Group = c.Query("queue", sql.DefaultQueue), c.Query("pool", sql.DefaultPool), c.Query("group")
	for _, word := range []string{view.Queue, view.Pool, view.Group} {
		if word != "" && !plainWord(word) {
			return nil, wrongField("group", reasonInvalid, "The value is not a name.")
		}
	}
	if view.Queues, err = s.store.Queues(ctx); err != nil {
		return nil, err
	}
	if view.Group == "" {
		found, err = s.store.QueueFront(ctx, view.Queue, view.Pool, pageSize)
		view.Unlisted = max(0, view.Stats.Pending+view.Stats.Delivered+view.Stats.Running-int64(len(found)))
		return found, err
	}
	waiting, err := s.store.For(true).Waiting(ctx, view.Queue, view.Group, pageSize)
	if err != nil {
		return nil, err
	}
	ids := make([]int64, len(waiting))
	for i, w := range waiting {
		ids[i] = w.JobID
	}
	return s.store.QueueRows(ctx, ids)
}

// publicWorkers returns the workers that are alive without what only staff may
// know: the names of machines, and that they are busy with a rejudge set.
func (s *Server) publicWorkers(ctx context.Context) ([]judge.WorkerInfo, error) {
	workers, err := s.catalog.live(ctx)
	if err != nil {
		return nil, err
	}
	stats, err := s.store.For(false).QueueStats(ctx)
	if err != nil {
		return nil, fmt.Errorf("count the queue: %w", err)
	}
	out, rest := slices.Clone(workers), int(stats.Running)
	for i := range out {
		out[i].Busy = min(out[i].Busy, rest)
		rest -= out[i].Busy
		out[i].Name = fmt.Sprintf("worker %d", i+1)
		out[i].Sandbox, out[i].UnfitWhy = "", ""
	}
	return out, nil
}

func (s *Server) languagesPage(c *fiber.Ctx) error {
	offers, err := s.catalog.languages(c.UserContext())
	if err != nil {
		return err
	}
	return s.page(c, fiber.StatusOK, "languages", "Languages", offers)
}

// languageJSON is a language and what a program in it waits for.
type languageJSON struct {
	judge.Language
	Waits     string `json:"waits,omitempty"`
	Withdrawn bool   `json:"withdrawn,omitempty"` // staff took it off the list
}

// apiLanguages lists languages; one that cannot be submitted in is not available
// and says why.
func (s *Server) apiLanguages(c *fiber.Ctx) error {
	offers, err := s.catalog.languages(c.UserContext())
	if err != nil {
		return err
	}
	out := make([]languageJSON, len(offers))
	for i, o := range offers {
		out[i] = languageJSON{Language: o.Language, Waits: o.Waits, Withdrawn: o.Withdrawn}
		out[i].Available, out[i].Unavailable = o.Open(), o.Why
	}
	return c.JSON(fiber.Map{"languages": out})
}

// apiWithdraw returns the handler of POST /api/v1/languages/:id/withdraw and offer.
func (s *Server) apiWithdraw(withdrawn bool) fiber.Handler {
	return func(c *fiber.Ctx) error {
		if err := s.withdraw(c, withdrawn); err != nil {
			return err
		}
		return c.JSON(fiber.Map{"id": c.Params("id"), "withdrawn": withdrawn})
	}
}

// withdrawForm returns the handler of POST /languages/:id/withdraw and offer.
func (s *Server) withdrawForm(withdrawn bool) fiber.Handler {
	return func(c *fiber.Ctx) error {
		if err := s.withdraw(c, withdrawn); err != nil {
			return err
		}
		return c.Redirect("/languages", fiber.StatusSeeOther)
	}
}

// withdraw takes the language that the address names off the list, or puts it
// back. Other processes know within a second.
func (s *Server) withdraw(c *fiber.Ctx, withdrawn bool) error {
	id := c.Params("id")
	if !plainWord(id) {
		return sql.ErrNotFound
	}
	defer s.catalog.forget()
	return s.store.WithdrawLanguage(c.UserContext(), id, withdrawn, viewerOf(c).Name)
}

// apiQueue describes the queue in figures, or what waits of a submitter.
func (s *Server) apiQueue(c *fiber.Ctx) error {
	if group := c.Query("group"); group != "" {
		return s.reservations(c, group)
	}
	stats, err := s.store.For(viewerOf(c).Staff()).QueueStats(c.UserContext())
	if err != nil {
		return fmt.Errorf("count the queue: %w", err)
	}
	lanes := map[string]int64{}
	for lane, n := range stats.Lanes {
		lanes[fmt.Sprint(int16(lane))] = n
	}
	return c.JSON(fiber.Map{
		"pending": stats.Pending, "delivered": stats.Delivered, "running": stats.Running, "lanes": lanes,
		"oldest_seconds": stats.Oldest.Round(time.Millisecond).Seconds(), "dead_letters": stats.DeadLetters,
		"judged_last_minute": stats.Judged,
	})
}
