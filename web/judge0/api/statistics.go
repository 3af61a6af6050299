package api

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/gofiber/fiber/v2"

	"deepoj/sql"
	"deepoj/web/judge0"
	"deepoj/web/locale"
	"deepoj/web/site"
)

// Statistics reach back so many days before today, and are believed for so long: to count everything costs more than
// other questions.
const (
	statisticsDays = 30
	statisticsAge  = 10 * time.Minute
)

const statisticsTime = "2006-01-02T15:04:05.000Z"

// census is what was counted last.
type census struct {
	mu     sync.Mutex
	at     time.Time
	counts []sql.RunCount
	size   int64
}

// read counts again what is too old, or what somebody wants to be new.
func (k *census) read(ctx context.Context, store *sql.Site, again bool) (at time.Time, counts []sql.RunCount, size int64, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if again || time.Since(k.at) >= statisticsAge {
		if counts, size, err = store.RunCensus(ctx, judge0.Prefix); err != nil {
			return at, nil, 0, err
		}
		k.at, k.counts, k.size = time.Now().UTC(), counts, size
	}
	return k.at, k.counts, k.size, nil
}

// statistics handles GET /judge0/statistics. Only staff have it counted anew.
func (s *Room) statistics(c *fiber.Ctx) error {
	again := c.Query("invalidate_cache") == "true" && site.ViewerOf(c).Staff()
	at, counts, size, err := s.census.read(c.UserContext(), s.Store, again)
	if err != nil {
		return err
	}
	languages, err := s.known(c.UserContext())
	if err != nil {
		return err
	}
	const day = time.DateOnly
	total, byDay, byLanguage, byStatus := int64(0), map[string]int64{}, map[int]int64{}, map[judge0.Status]int64{}
	for _, n := range counts {
		total += n.Runs
		byDay[n.Day.Format(day)] += n.Runs
		byLanguage[judge0.ListedID(n.Language)] += n.Runs
		byStatus[judge0.StatusOf(n.Status, n.Verdict, n.Signal)] += n.Runs
	}
	days := map[string]int64{}
	for back := range statisticsDays {
		date := at.AddDate(0, 0, -1-back).Format(day)
		days[date] = byDay[date]
	}
	inLanguages, inStatuses := []fiber.Map{}, []fiber.Map{}
	for _, id := range mostFirst(byLanguage, cmp.Compare[int]) {
		name := ""
		if l := judge0.Find(languages, id); l != nil {
			name = judge0.Show(l, id).Name
		}
		inLanguages = append(inLanguages, fiber.Map{"language": fiber.Map{"id": id, "name": name}, "count": byLanguage[id]})
	}
	for _, status := range mostFirst(byStatus, func(a, b judge0.Status) int { return a.ID - b.ID }) {
		inStatuses = append(inStatuses, fiber.Map{"status": fiber.Map{"id": status.ID, "name": status.Description}, "count": byStatus[status]})
	}
	return c.JSON(fiber.Map{
		"created_at": at.Format(statisticsTime), "cached_until": at.Add(statisticsAge).Format(statisticsTime),
		"submissions": fiber.Map{"total": total, "today": byDay[at.Format(day)], "last_30_days": days},
		"languages":   inLanguages, "statuses": inStatuses,
		"database": fiber.Map{"size_pretty": (*locale.Locale)(nil).Memory(size >> 10), "size_in_bytes": size},
	})
}

// mostFirst returns what was counted, most often first.
func mostFirst[K comparable](counts map[K]int64, then func(a, b K) int) []K {
	return slices.SortedFunc(maps.Keys(counts), func(a, b K) int { return cmp.Or(cmp.Compare(counts[b], counts[a]), then(a, b)) })
}
