package contest

import (
	"math"
	"slices"
	"sort"
	"time"

	"golang.org/x/text/collate"
	"golang.org/x/text/language"

	"deepoj/host/judge"
)

// Recount computes a board anew from all entries, by sorting everything, in the words of the rules and without anything that a [State]
// is made of. It is slow, and what a fold has to give: the second count of a result, and the oracle of tests.
func Recount(cfg Config, entries []Entry) []Row {
	c := recount{
		cfg: cfg, removed: map[int64]Removed{}, groups: map[string]Group{}, problems: map[string]Problem{}, teams: map[int64]Participant{}, subs: map[int64]Submission{},
		judged: map[int64]map[int]Judgement{}, ignored: map[int64]bool{}, tokens: map[int64]bool{}, adjust: map[int64]Adjustment{}, handed: map[int64]map[string][]Submission{},
	}
	for _, e := range entries {
		c.take(e)
	}
	for _, s := range c.subs {
		if c.handed[s.Participant] == nil {
			c.handed[s.Participant] = map[string][]Submission{}
		}
		c.handed[s.Participant][s.Problem] = append(c.handed[s.Participant][s.Problem], s)
	}
	return c.rows()
}

// recount is what entries say, the last of each thing.
type recount struct {
	cfg      Config
	round    Round
	removed  map[int64]Removed
	groups   map[string]Group
	problems map[string]Problem
	teams    map[int64]Participant
	subs     map[int64]Submission
	judged   map[int64]map[int]Judgement
	ignored  map[int64]bool
	tokens   map[int64]bool
	adjust   map[int64]Adjustment
	handed   map[int64]map[string][]Submission
}

func (c *recount) take(e Entry) {
	switch e := e.(type) {
	case Round:
		c.round = e
	case Removed:
		c.removed[e.ID] = e
	case Group:
		c.groups[e.ID] = e
	case Problem:
		c.problems[e.ID] = e
	case Participant:
		c.teams[e.ID] = e
	case Submission:
		c.subs[e.ID] = e
	case Judgement:
		if c.judged[e.Submission] == nil {
			c.judged[e.Submission] = map[int]Judgement{}
		}
		c.judged[e.Submission][e.Generation] = e
	case Mark:
		c.ignored[e.Submission] = e.Ignored
	case Token:
		c.tokens[e.Submission] = true
	case Adjustment:
		c.adjust[e.Participant] = e
	}
}

// time is the contest time of a moment: all stretches since the start that no removed interval covers.
func (c *recount) time(t time.Time) (passed time.Duration) {
	if c.round.Start.IsZero() || !t.After(c.round.Start) {
		return 0
	}
	ends := []time.Time{c.round.Start, t}
	for _, r := range c.removed {
		for _, end := range []time.Time{r.From, r.To} {
			if end.After(c.round.Start) && end.Before(t) {
				ends = append(ends, end)
			}
		}
	}
	sort.Slice(ends, func(i, j int) bool { return ends[i].Before(ends[j]) })
	for i, from := range ends[:len(ends)-1] {
		gone := false
		for _, r := range c.removed {
			gone = gone || !r.Undone && !from.Before(r.From) && from.Before(r.To)
		}
		if !gone {
			passed += ends[i+1].Sub(from)
		}
	}
	return (passed * time.Duration(max(1, c.round.Speed))).Truncate(time.Millisecond)
}

// verdict is the newest judgement of a submission that counts; false = it is pending.
func (c *recount) verdict(s Submission) (Judgement, bool) {
	var newest Judgement
	for _, j := range c.judged[s.ID] {
		if j.Current && j.Generation > newest.Generation {
			newest = j
		}
	}
	return newest, newest.Verdict != "" && newest.Verdict != judge.JE
}

// counted are the submissions of a cell that count, in order.
func (c *recount) counted(team int64, problem string) (mine []Submission) {
	for _, s := range c.handed[team][problem] {
		if !c.ignored[s.ID] && (c.round.Duration == 0 || c.time(s.Time) < c.round.Duration) {
			mine = append(mine, s)
		}
	}
	sort.Slice(mine, func(i, j int) bool {
		return mine[i].Time.Before(mine[j].Time) || mine[i].Time.Equal(mine[j].Time) && mine[i].ID < mine[j].ID
	})
	return mine
}

// countedRow is a row in the making.
type countedRow struct {
	Row
	section [2]int
	key     []float64
}

func (c *recount) rows() []Row {
	var order []Problem
	for _, p := range c.problems {
		if !p.Gone {
			order = append(order, p)
		}
	}
	sort.Slice(order, func(i, j int) bool {
		return order[i].Ordinal < order[j].Ordinal || order[i].Ordinal == order[j].Ordinal && order[i].ID < order[j].ID
	})
	var lines []countedRow
	for _, team := range c.teams {
		if !team.Gone {
			lines = append(lines, c.row(team, order))
		}
	}
	names := collate.New(language.AmericanEnglish)
	sort.Slice(lines, func(i, j int) bool {
		a, b := lines[i], lines[j]
		if a.section != b.section {
			return slices.Compare(a.section[:], b.section[:]) < 0
		}
		if c := slices.Compare(a.key, b.key); c != 0 {
			return c > 0
		}
		if c := names.CompareString(a.Name, b.Name); c != 0 {
			return c < 0
		}
		return a.Participant < b.Participant
	})
	var rows []Row
	for _, l := range lines {
		if l.section[0] < 2 {
			l.Rank = 1
			for _, other := range lines {
				if other.section == l.section && slices.Compare(other.key, l.key) > 0 {
					l.Rank++
				}
			}
		}
		rows = append(rows, l.Row)
	}
	return rows
}

// row counts the row of a participant.
func (c *recount) row(team Participant, order []Problem) countedRow {
	l := countedRow{Row: Row{Participant: team.ID, Name: team.Name}, section: c.section(team)}
	total, last, points := 0.0, 0.0, c.adjust[team.ID].Points
	unit := 60.0
	if c.cfg.Format == ICPC && c.cfg.ICPC.Rounding != MinuteEach {
		unit = 1
	}
	for _, p := range order {
		mine := c.counted(team.ID, p.ID)
		var cell Cell
		if c.cfg.Format == ICPC {
			if cell = c.solved(mine, unit); cell.Solved {
				total += float64(cell.Penalty)
				last = max(last, math.Floor(cell.Time.Seconds()/unit))
			}
		} else {
			cell = c.scored(mine, p)
			points += cell.Score
			last = max(last, cell.Time.Seconds())
		}
		if cell.Solved {
			l.Solved++
		}
		if cell.Solved || c.cfg.Format == IOI {
			l.Last = max(l.Last, cell.Time)
		}
		l.Cells = append(l.Cells, cell)
	}
	if c.cfg.Format != ICPC {
		l.Points, l.key = points, []float64{math.Round(points * 1e6), 0, 0}
		switch c.cfg.IOI.Tie {
		case TieTime:
			l.key[1] = -last
		case TieSolved:
			l.key[1] = float64(l.Solved)
		case TieNone:
		}
		return l
	}
	total += float64(c.adjust[team.ID].Minutes) * 60 / unit
	if c.cfg.ICPC.Rounding == SecondThenMinute {
		total, last = math.Floor(total/60), math.Floor(last/60)
	}
	l.Total, l.key = int64(total), []float64{float64(l.Solved), -total, -last}
	if !c.cfg.ICPC.TieLast {
		l.key[2] = 0
	}
	return l
}

// section is where a participant ranks: 0 and 1 for those who rank, and who rank among each other; 2 and 3 have no rank.
func (c *recount) section(team Participant) [2]int {
	switch {
	case team.Status == Disqualified:
		return [2]int{3, 0}
	case team.Hidden:
		return [2]int{2, 0}
	}
	ranks, sorts := team.Ranked, []int{}
	for _, id := range team.Groups {
		if g, ok := c.groups[id]; ok {
			ranks, sorts = ranks && g.Ranked, append(sorts, g.Sort)
		}
	}
	out := [2]int{0, 0}
	if !ranks {
		out[0] = 1
	}
	if len(sorts) > 0 {
		out[1] = slices.Min(sorts)
	}
	return out
}

// solved is a cell of the format icpc. Unit is in how many seconds times are cut.
func (c *recount) solved(mine []Submission, unit float64) (cell Cell) {
	wrong := 0
	for _, s := range mine {
		switch j, done := c.verdict(s); {
		case !done:
			cell.Pending++
		case j.Verdict == judge.AC:
			cell.Solved, cell.Time, cell.Judged = true, c.time(s.Time), wrong+1
			cell.Penalty = int64(math.Floor(cell.Time.Seconds()/unit)) + int64(float64(c.cfg.ICPC.PenaltyMinutes)*60/unit)*int64(wrong)
			return cell
		case j.Verdict != judge.CE || c.cfg.ICPC.PenaliseCE:
			wrong++
		}
	}
	cell.Judged = wrong
	return cell
}

// scored is a cell of the format ioi: the score after each submission, by the definition of the mode.
func (c *recount) scored(mine []Submission, p Problem) (cell Cell) {
	for i, s := range mine {
		now := c.score(mine[:i+1], p)
		if p.Points != nil && p.Max > 0 { // what it is worth in the contest
			now = math.Min(*p.Points, *p.Points/p.Max*now)
		} else if p.Points != nil {
			now = math.Min(now, *p.Points)
		}
		if math.Abs(now-cell.Score) > 1e-7 {
			cell.Time = c.time(s.Time)
		}
		cell.Score = now
		j, done := c.verdict(s)
		switch {
		case !done:
			cell.Pending++
		case j.Verdict != judge.CE:
			cell.Judged++
		}
		cell.Solved = cell.Solved || done && j.Verdict == judge.AC
	}
	return cell
}

// score is that of a problem after some submissions, as the problem scores.
func (c *recount) score(mine []Submission, p Problem) (now float64) {
	of := func(s Submission) float64 {
		j, done := c.verdict(s)
		switch {
		case !done || j.Verdict == judge.CE:
			return 0
		case j.Score != nil:
			return *j.Score
		case j.Verdict != judge.AC:
			return 0
		case p.Points == nil:
			return 1
		case p.Max > 0:
			return p.Max
		}
		return *p.Points
	}
	switch c.cfg.IOI.Mode {
	case Max:
		for _, s := range mine {
			now = max(now, of(s))
		}
	case LastSubmission:
		now = of(mine[len(mine)-1])
	case MaxTokenedLast:
		now = of(mine[len(mine)-1])
		for _, s := range mine {
			if c.tokens[s.ID] {
				now = max(now, of(s))
			}
		}
	case MaxSubtask:
		best := map[string]float64{}
		for _, s := range mine {
			j, done := c.verdict(s)
			if !done || j.Verdict == judge.CE {
				continue
			}
			groups := j.Groups
			if len(groups) == 0 {
				groups = []GroupScore{{Score: of(s)}}
			}
			for _, g := range groups {
				if before, ok := best[g.Group]; !ok || g.Score > before {
					best[g.Group] = g.Score
				}
			}
		}
		for _, score := range best {
			now += score
		}
	}
	return now
}

// Differs reports whether two boards differ in more than how scores were added up.
func Differs(a, b []Row) bool {
	near := func(x, y float64) bool { return math.Abs(x-y) < 1e-5 }
	return !slices.EqualFunc(a, b, func(a, b Row) bool {
		return a.Participant == b.Participant && a.Name == b.Name && a.Rank == b.Rank && a.Solved == b.Solved && a.Total == b.Total && a.Last == b.Last && near(a.Points, b.Points) &&
			slices.EqualFunc(a.Cells, b.Cells, func(a, b Cell) bool {
				score := near(a.Score, b.Score)
				a.Score, b.Score = 0, 0
				return score && a == b
			})
	})
}
