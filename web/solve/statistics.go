package solve

import (
	"cmp"
	"context"
	"html/template"
	"slices"
	"sync"
	"time"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/judge"
	"deepoj/sql"
	"deepoj/web/chart"
	"deepoj/web/site"
)

// foundJSON is a problem in the list of /api/v1, with the viewer's best submission.
type foundJSON struct {
	judge.Problem

	tallyJSON

	Best *bestJSON `json:"best,omitempty"`
}

// tallyJSON is how many tried a problem and solved it, and how often.
type tallyJSON struct {
	Tries  int64 `json:"tries"`
	Tried  int64 `json:"people_tried"`
	Solved int64 `json:"people_solved"`
}

// bestJSON is the viewer's best submission of a problem.
type bestJSON struct {
	JobID   int64         `json:"job_id"`
	Verdict judge.Verdict `json:"verdict"`
	Score   *float64      `json:"score"`
}

const (
	statisticsAge  = 20 * time.Second // how long statistics are believed
	statisticsKept = 500              // problems whose statistics are kept
	recordsShown   = 10
	talliesAge     = time.Minute // how long the numbers in the list are believed
	talliesKept    = 20_000
)

// statistics keeps what was counted of problems: counting reads every submission.
type statistics struct {
	mu   sync.Mutex
	kept map[string]countedStatistics

	listing sync.Mutex
	tallies map[string]countedTally
}

type countedTally struct {
	at time.Time
	tallyJSON
}

type countedStatistics struct {
	at time.Time
	sql.Statistics
}

// of returns the statistics of a problem.
func (k *statistics) of(ctx context.Context, store *sql.Site, slug string) (sql.Statistics, error) {
	k.mu.Lock()
	found, ok := k.kept[slug]
	k.mu.Unlock()
	if ok && time.Since(found.at) < statisticsAge {
		return found.Statistics, nil
	}
	st, err := store.ProblemStatistics(ctx, slug, recordsShown)
	if err != nil {
		return st, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.kept == nil || len(k.kept) >= statisticsKept {
		k.kept = map[string]countedStatistics{}
	}
	k.kept[slug] = countedStatistics{time.Now(), st}
	return st, nil
}

// ofAll returns how many tried and solved each of some problems: those that were not
// counted lately are counted by one question.
func (k *statistics) ofAll(ctx context.Context, store *sql.Site, slugs []string) (map[string]tallyJSON, error) {
	k.listing.Lock() // who asks for the same meanwhile need not count it, too
	defer k.listing.Unlock()
	out := make(map[string]tallyJSON, len(slugs))
	var due []string
	for _, slug := range slugs {
		if found, ok := k.tallies[slug]; ok && time.Since(found.at) < talliesAge {
			out[slug] = found.tallyJSON
		} else {
			due = append(due, slug)
		}
	}
	if len(due) == 0 {
		return out, nil
	}
	counted, err := store.Tallies(ctx, due)
	if err != nil {
		return nil, err
	}
	if k.tallies == nil || len(k.tallies) >= talliesKept {
		k.tallies = map[string]countedTally{}
	}
	for _, slug := range due {
		t := counted[slug]
		out[slug] = tallyJSON{t.Tries, t.Tried, t.Solved}
		k.tallies[slug] = countedTally{time.Now(), out[slug]}
	}
	return out, nil
}

// countJSON is how many submissions had something in common.
type countJSON struct {
	Name  string `json:"name"`
	Tries int64  `json:"tries"`
}

// recordJSON is an accepted submission that is among the best by some figure. Whose it
// is is for staff, who see all submissions, and for its author.
type recordJSON struct {
	JobID    int64  `json:"job_id,omitempty"`
	Author   string `json:"author,omitempty"`
	Language string `json:"language"`
	Figure   int64  `json:"figure"`
	Micros   int64  `json:"cpu_us,omitempty"` // of the fastest: its CPU time in microseconds
}

// Time is the CPU time of one of the fastest.
func (r recordJSON) Time() time.Duration { return time.Duration(r.Micros) * time.Microsecond }

// statisticsJSON is what became of the submissions to a problem.
type statisticsJSON struct {
	Problem    string       `json:"problem"`
	Tries      int64        `json:"tries"`
	Accepted   int64        `json:"accepted"`
	Acceptance float64      `json:"acceptance"` // accepted of all tries, 0 to 1
	Tried      int64        `json:"people_tried"`
	Solved     int64        `json:"people_solved"`
	Verdicts   []countJSON  `json:"verdicts"`
	Languages  []countJSON  `json:"languages"`
	Fastest    []recordJSON `json:"fastest"`  // by CPU time in milliseconds
	Shortest   []recordJSON `json:"shortest"` // by bytes of source
}

// statisticsFor returns the statistics of the problem that the address names. To
// whoever sees a hidden problem only through a space it has none.
func (s *Room) statisticsFor(c *fiber.Ctx) (*judge.Problem, statisticsJSON, error) {
	p, err := s.ProblemFor(c)
	if err != nil {
		return nil, statisticsJSON{}, err
	}
	v := site.ViewerOf(c)
	if p.Hidden && !v.Setter() {
		return nil, statisticsJSON{}, site.Refuse(fiber.StatusForbidden, "not_shown", "This problem has no statistics as long as it is not open to all.", "")
	}
	st, err := s.statistics.of(c.UserContext(), s.Store, p.Slug)
	if err != nil {
		return nil, statisticsJSON{}, err
	}
	return p, publicStatistics(p.Slug, st, v), nil
}

func publicStatistics(slug string, st sql.Statistics, v site.Viewer) statisticsJSON {
	out := statisticsJSON{Problem: slug, Tried: st.Tried, Solved: st.Solved, Verdicts: []countJSON{}, Languages: []countJSON{}}
	verdicts, languages := map[string]int64{}, map[string]int64{}
	for _, c := range st.Counts {
		out.Tries += c.Tries
		if c.Verdict == judge.AC {
			out.Accepted += c.Tries
		}
		verdicts[string(c.Verdict)] += c.Tries
		languages[c.Language] += c.Tries
	}
	if out.Tries > 0 {
		out.Acceptance = float64(out.Accepted) / float64(out.Tries)
	}
	out.Verdicts, out.Languages = byTries(verdicts), byTries(languages)
	out.Fastest, out.Shortest = publicRecords(st.Fastest, v), publicRecords(st.Shortest, v)
	for i := range out.Fastest {
		r := &out.Fastest[i]
		r.Micros, r.Figure = r.Figure, r.Figure/1000
	}
	return out
}

func byTries(counts map[string]int64) []countJSON {
	out := []countJSON{}
	for name, n := range counts {
		out = append(out, countJSON{name, n})
	}
	slices.SortFunc(out, func(a, b countJSON) int { return cmp.Or(cmp.Compare(b.Tries, a.Tries), cmp.Compare(a.Name, b.Name)) })
	return out
}

func publicRecords(records []sql.Record, v site.Viewer) []recordJSON {
	out := make([]recordJSON, len(records))
	for i, r := range records {
		out[i] = recordJSON{Language: r.Language, Figure: r.Figure}
		if v.MaySee(r.Author) {
			out[i].JobID, out[i].Author = r.JobID, r.Author
		}
	}
	return out
}

// apiStatistics handles GET /api/v1/problems/:slug/statistics.
func (s *Room) apiStatistics(c *fiber.Ctx) error {
	_, st, err := s.statisticsFor(c)
	if err != nil {
		return err
	}
	return c.JSON(st)
}

// statisticsView is the page of the statistics of a problem.
type statisticsView struct {
	statisticsJSON

	Title    string
	Names    map[string]string // what people call those who are named
	Picture  template.HTML
	Language func(id string) string
}

// statisticsPage handles GET /problems/:slug/statistics.
func (s *Room) statisticsPage(c *fiber.Ctx) error {
	p, st, err := s.statisticsFor(c)
	if err != nil {
		return err
	}
	offers, err := s.Catalog.Languages(c.UserContext())
	if err != nil {
		return err
	}
	v := site.ViewerOf(c)
	view := statisticsView{
		statisticsJSON: st, Title: p.Title, Names: s.Names(c.UserContext(), authorsOf(st)...), Picture: verdictsPicture(st, v),
		Language: func(id string) string { return languageName(offers, id) },
	}
	return s.Page(c, fiber.StatusOK, "statistics", "Statistics of %s", view, p.Title)
}

// authorsOf returns whom statistics name to whoever sees them.
func authorsOf(st statisticsJSON) (names []string) {
	for _, r := range slices.Concat(st.Fastest, st.Shortest) {
		if r.Author != "" {
			names = append(names, r.Author)
		}
	}
	return names
}

// verdictsPicture shows how often each verdict came.
func verdictsPicture(st statisticsJSON, viewer site.Viewer) template.HTML {
	if len(st.Verdicts) == 0 {
		return ""
	}
	c := chart.Chart{Title: viewer.Say("Verdicts"), Sum: viewer.Say("%d submissions", st.Tries), First: st.Verdicts[0].Name, Last: st.Verdicts[len(st.Verdicts)-1].Name}
	for _, v := range st.Verdicts {
		class := "plain"
		if v.Name == string(judge.AC) {
			class = "good"
		}
		c.Bars = append(c.Bars, chart.Bar{Text: viewer.Say("%s: %d submissions", v.Name, v.Tries), Parts: []chart.Part{{Value: float64(v.Tries), Class: class}}})
	}
	return c.SVG()
}
