package staff

import (
	"fmt"
	"html/template"
	"net/url"
	"strconv"
	"time"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/judge"
	"deepoj/web/job"
	"deepoj/web/locale"
	"deepoj/web/site"
)

// queueRow is an unfinished job and where it stands.
type queueRow struct {
	judge.QueueRow
	Place, ETA string
	placed     string      // class of the cell of Place
	viewer     site.Viewer // who looks
}

type queueView struct {
	Stats   judge.QueueStats
	Oldest  string
	Rows    []template.HTML
	Workers []judge.WorkerInfo
	Flow    template.HTML // a picture of the last hour

	// For staff.
	Queues   []judge.Queue
	Queue    string
	Pool     string
	Group    string        // whose jobs are shown; "" = everybody's
	Done     *act          // what was done just now
	Faults   []*site.Fault // what could not be done
	Unlisted int64         // unfinished jobs that are not shown
}

func (s *Room) queuePage(c *fiber.Ctx) error {
	return s.showQueue(c, fiber.StatusOK, queueView{Done: actOf(c)})
}

// queueAgain shows the queue after an act that failed for some jobs.
func (s *Room) queueAgain(c *fiber.Ctx, done *act, faults ...*site.Fault) error {
	if done != nil && len(done.Jobs) == 0 {
		done = nil
	}
	return s.showQueue(c, faults[0].Status, queueView{Done: done, Faults: faults})
}

func (s *Room) showQueue(c *fiber.Ctx, status int, view queueView) (err error) {
	ctx, v := c.UserContext(), site.ViewerOf(c)
	if view.Stats, err = s.Store.For(v.Staff()).QueueStats(ctx); err != nil {
		return fmt.Errorf("count the queue: %w", err)
	}
	if view.Stats.Oldest > 0 {
		view.Oldest = v.Locale.Span(view.Stats.Oldest)
	}
	flow, err := s.Flow.Of(v).Read(ctx)
	if err != nil {
		return err
	}
	view.Flow = flowPicture(flow, view.Stats.Pending+view.Stats.Delivered+view.Stats.Running, v)
	var found []judge.QueueRow
	if v.Staff() {
		if view.Workers, err = s.Catalog.Live(ctx); err == nil {
			found, err = s.queueForStaff(c, &view)
		}
	} else if view.Workers, err = s.PublicWorkers(ctx); err == nil {
		view.Done = nil
		found, err = s.Store.QueueOf(ctx, v.Name, site.PageSize)
	}
	if err != nil {
		return err
	}
	ids := make([]int64, len(found))
	for i, r := range found {
		ids[i] = r.JobID
	}
	places, err := s.job.PlacesOf(ctx, v, ids)
	if err != nil {
		return err
	}
	for _, r := range found {
		row := queueRow{QueueRow: r, viewer: v}
		if place, waits := places[r.JobID]; waits {
			row.Place, row.ETA = job.PlaceText(place, v), job.ETAText(place, v)
			if place.Exact() {
				row.placed = "place"
			}
		}
		if v.Staff() {
			view.Rows = append(view.Rows, row.staffCells())
		} else {
			view.Rows = append(view.Rows, row.ownCells())
		}
	}
	return s.Page(c, status, "queue", "Queue", view)
}

// queueForStaff lists the front of a queue and pool, or what a submitter has in them.
func (s *Room) queueForStaff(c *fiber.Ctx, view *queueView) (found []judge.QueueRow, err error) {
	ctx := c.UserContext()
	view.Queue, view.Pool, view.Group = c.Query("queue", judge.DefaultQueue), c.Query("pool", judge.DefaultPool), c.Query("group")
	for _, word := range []string{view.Queue, view.Pool, view.Group} {
		if word != "" && !site.PlainWord(word) {
			return nil, site.WrongField("group", site.ReasonInvalid, "The value is not a name.")
		}
	}
	if view.Queues, err = s.Store.Queues(ctx); err != nil {
		return nil, err
	}
	if view.Group == "" {
		found, err = s.Store.QueueFront(ctx, view.Queue, view.Pool, site.PageSize)
		view.Unlisted = max(0, view.Stats.Pending+view.Stats.Delivered+view.Stats.Running-int64(len(found)))
		return found, err
	}
	waiting, err := s.Store.For(true).Waiting(ctx, view.Queue, view.Group, judge.Waiting{}, site.PageSize)
	if err != nil {
		return nil, err
	}
	ids := make([]int64, len(waiting))
	for i, w := range waiting {
		ids[i] = w.JobID
	}
	return s.Store.QueueRows(ctx, ids)
}

// apiQueue describes the queue in figures, or what waits of a submitter.
func (s *Room) apiQueue(c *fiber.Ctx) error {
	behind, err := behindWaiting(c)
	if err != nil {
		return err
	}
	limit, err := site.LimitOf(c)
	if err != nil {
		return err
	}
	if group := c.Query("group"); group != "" {
		return s.reservations(c, group, behind, limit)
	}
	stats, err := s.Store.For(site.ViewerOf(c).Staff()).QueueStats(c.UserContext())
	if err != nil {
		return fmt.Errorf("count the queue: %w", err)
	}
	return c.JSON(fiber.Map{
		"pending": stats.Pending, "delivered": stats.Delivered, "running": stats.Running, "lanes": stats.Lanes,
		"oldest_seconds": stats.Oldest.Round(time.Millisecond).Seconds(), "dead_letters": stats.DeadLetters,
		"judged_last_minute": stats.Judged,
	})
}

// ownCells is an unfinished submission of the viewer's in the queue.
func (r queueRow) ownCells() template.HTML {
	var c site.Cells
	c.Cell("num", r.link())
	c.Cell("", r.state())
	c.Text(r.placed, r.Place)
	c.Text("", r.ETA)
	c.Text("", r.Title)
	c.Text("wide", r.Language)
	c.Cell("wide", r.viewer.Locale.Moment(r.Since))
	return c.Row()
}

// staffCells is an unfinished job in the queue, which staff may choose.
func (r queueRow) staffCells() template.HTML {
	var c site.Cells
	var pick template.HTML
	if number := site.Escape(strconv.FormatInt(r.JobID, 10)); r.State == "R" || r.State == "S" { // its place may be changed
		pick = `<input type="checkbox" name="job" value="` + number + `" aria-label="` + site.Escape(r.viewer.Say("Job %s", number)) + `">`
	}
	c.Cell("pick", pick)
	c.Cell("num", r.link())
	state := r.state()
	if r.Delayed {
		state += site.Small(r.viewer.Say("moved by hand"))
	}
	c.Cell("", state+site.Small(r.LastError))
	c.Text(r.placed, r.Place)
	c.Text("wide", r.ETA)
	c.Cell("name", site.Link("/queue?group="+url.QueryEscape(r.Author), r.Author))
	work := site.Escape(r.viewer.Locale.Said(locale.Named(kindNames, r.Kind)))
	if r.Title != "" {
		work = site.Escape(r.Title) + ` <span class="muted">` + site.Escape(r.Language) + "</span>"
	}
	c.Cell("wide", work)
	lane := `<span title="` + site.Escape(r.viewer.Say("rank %s", r.Rank)) + `">` + site.Escape(r.viewer.Locale.Said(site.LaneText(r.Lane))) + "</span>"
	if r.Priority != 0 {
		lane += site.Escape(r.viewer.Say(", priority %d", r.Priority))
	}
	if r.InSet {
		lane += site.Small(r.viewer.Say("rejudge set"))
	}
	c.Cell("wide", lane)
	c.Cell("wide", r.viewer.Locale.Moment(r.Since))
	worker := site.Escape(r.Worker)
	if r.AttemptID > 0 {
		worker += site.Small(r.viewer.Say("attempt %d", r.AttemptID))
	}
	c.Cell("wide", worker)
	return c.Row()
}

// link is the number of a job, which leads to its page if it has one.
func (r queueRow) link() template.HTML {
	number := strconv.FormatInt(r.JobID, 10)
	if page := site.PageOfJob(r.JobID, r.Kind); page != "" {
		return site.Link(page, number)
	}
	return site.Escape(number)
}

func (r queueRow) state() template.HTML {
	return `<span class="state">` + site.Escape(r.viewer.Locale.Said(site.StateName(r.Shown()))) + "</span>"
}
