package web

import (
	"fmt"
	"slices"
	"time"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/judge"
	"deepoj/sql"
)

// queueRow is an unfinished submission and where it stands.
type queueRow struct {
	Sub        *judge.Submission
	Place, ETA string
}

type queueView struct {
	Stats   sql.QueueStats
	Oldest  string
	Rows    []queueRow
	Workers []judge.WorkerInfo
}

func (s *Server) queuePage(c *fiber.Ctx) error {
	ctx, v := c.UserContext(), viewerOf(c)
	view := queueView{}
	var err error
	if view.Stats, err = s.store.QueueStats(ctx); err != nil {
		return fmt.Errorf("count the queue: %w", err)
	}
	if view.Stats.Oldest > 0 {
		view.Oldest = waitText(view.Stats.Oldest)
	}
	if view.Workers, err = s.catalog.live(ctx); err != nil {
		return err
	}
	filter := sql.Filter{Limit: maxPage}
	if !v.Staff() {
		filter.Author = v.Name
		view.Workers = publicWorkers(view.Workers)
	}
	subs, err := s.store.Submissions(ctx, filter)
	if err != nil {
		return fmt.Errorf("list submissions: %w", err)
	}
	for i := range subs {
		if subs[i].Status.Terminal() || len(view.Rows) >= pageSize {
			continue
		}
		row, err := s.queueRow(c, &subs[i])
		if err != nil {
			return err
		}
		view.Rows = append(view.Rows, row)
	}
	return s.page(c, fiber.StatusOK, "queue", "Queue", view)
}

func (s *Server) queueRow(c *fiber.Ctx, sub *judge.Submission) (queueRow, error) {
	row := queueRow{Sub: sub}
	place, err := s.placeOf(c.UserContext(), sub.JobID, sub.Status)
	if err != nil || place == nil {
		return row, err
	}
	row.Place = ordinal(place.Position)
	row.ETA = etaText(*place)
	return row, nil
}

// etaText says how long a submission is expected to wait, or why it waits.
func etaText(p judge.Place) string {
	if why := whyWaiting(p.Why); why != "" {
		return why
	}
	if p.ETAHigh <= 0 {
		return "soon"
	}
	low, high := waitText(p.ETALow), waitText(p.ETAHigh)
	if low == high || p.ETALow <= 0 {
		return "within " + high
	}
	return low + " to " + high
}

// whyWaiting puts the reason of a wait into words; "" if it just waits its turn.
func whyWaiting(why string) string {
	switch why {
	case "paused":
		return "the queue is paused"
	case "not_before":
		return "waits before it is tried again"
	case "group_limit":
		return "its owner's other submissions are being judged"
	case string(judge.ReasonNoLiveWorker):
		return "no running worker serves its language"
	}
	return ""
}

// publicWorkers leaves out what only staff may know: the names of machines.
func publicWorkers(workers []judge.WorkerInfo) []judge.WorkerInfo {
	out := slices.Clone(workers)
	for i := range out {
		out[i].Name = fmt.Sprintf("worker %d", i+1)
		out[i].Sandbox = ""
	}
	return out
}

func (s *Server) languagesPage(c *fiber.Ctx) error {
	offers, err := s.catalog.languages(c.UserContext())
	if err != nil {
		return err
	}
	return s.page(c, fiber.StatusOK, "languages", "Languages", offers)
}

// apiLanguages lists languages; one that cannot be submitted in now is not
// available and says why.
func (s *Server) apiLanguages(c *fiber.Ctx) error {
	offers, err := s.catalog.languages(c.UserContext())
	if err != nil {
		return err
	}
	out := make([]judge.Language, len(offers))
	for i, o := range offers {
		out[i] = o.Language
		out[i].Available = o.Open()
		if !o.Open() {
			out[i].Unavailable = o.Why
		}
	}
	return c.JSON(fiber.Map{"languages": out})
}

func (s *Server) apiWorkers(c *fiber.Ctx) error {
	workers, err := s.catalog.live(c.UserContext())
	if err != nil {
		return err
	}
	if !viewerOf(c).Staff() {
		workers = publicWorkers(workers)
	}
	return c.JSON(fiber.Map{"workers": workers})
}

// apiQueue describes the queue in figures, or what waits of a submitter.
func (s *Server) apiQueue(c *fiber.Ctx) error {
	if group := c.Query("group"); group != "" {
		return s.reservations(c, group)
	}
	stats, err := s.store.QueueStats(c.UserContext())
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
	})
}
