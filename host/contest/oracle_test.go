package contest

import (
	"math"
	"reflect"
	"slices"
	"sort"
	"testing"
	"time"

	"golang.org/x/text/collate"
	"golang.org/x/text/language"
	"pgregory.net/rapid"

	"deepoj/host/judge"
)

// obvious computes a board anew from all entries, by sorting everything, in the words of the rules.
func obvious(cfg Config, entries []Entry) []Row {
	var round Round
	removed, groups, problems, teams := map[int64]Removed{}, map[string]Group{}, map[string]Problem{}, map[int64]Participant{}
	subs, judgements := map[int64]Submission{}, map[int64]map[int]Judgement{}
	ignored, tokens, adjust := map[int64]bool{}, map[int64]bool{}, map[int64]Adjustment{}
	for _, e := range entries {
		switch e := e.(type) {
		case Round:
			round = e
		case Removed:
			removed[e.ID] = e
		case Group:
			groups[e.ID] = e
		case Problem:
			problems[e.ID] = e
		case Participant:
			teams[e.ID] = e
		case Submission:
			subs[e.ID] = e
		case Judgement:
			if judgements[e.Submission] == nil {
				judgements[e.Submission] = map[int]Judgement{}
			}
			judgements[e.Submission][e.Generation] = e
		case Mark:
			ignored[e.Submission] = e.Ignored
		case Token:
			tokens[e.Submission] = true
		case Adjustment:
			adjust[e.Participant] = e
		}
	}
	// The contest time, half a minute at a time: all times of the tests are multiples of it.
	clock := func(t time.Time) (passed time.Duration) {
		for x := round.Start; x.Before(t); x = x.Add(30 * time.Second) {
			gone := false
			for _, r := range removed {
				gone = gone || !r.Undone && !x.Before(r.From) && x.Before(r.To)
			}
			if !gone {
				passed += 30 * time.Second
			}
		}
		return passed
	}
	var order []Problem
	for _, p := range problems {
		order = append(order, p)
	}
	sort.Slice(order, func(i, j int) bool { return order[i].Ordinal < order[j].Ordinal })

	type line struct {
		Row
		section [2]int
		key     []float64
	}
	var lines []line
	for _, team := range teams {
		l := line{Row: Row{Participant: team.ID, Name: team.Name}}
		total, last, points := 0.0, 0.0, adjust[team.ID].Points
		unit := 60.0
		if cfg.Format == ICPC && cfg.ICPC.Rounding != MinuteEach {
			unit = 1
		}
		for _, p := range order {
			var mine []Submission
			for _, s := range subs {
				if s.Participant == team.ID && s.Problem == p.ID && !ignored[s.ID] && clock(s.Time) < round.Duration {
					mine = append(mine, s)
				}
			}
			sort.Slice(mine, func(i, j int) bool {
				return mine[i].Time.Before(mine[j].Time) || mine[i].Time.Equal(mine[j].Time) && mine[i].ID < mine[j].ID
			})
			verdict := func(s Submission) (Judgement, bool) {
				var newest Judgement
				for _, j := range judgements[s.ID] {
					if j.Current && j.Generation > newest.Generation {
						newest = j
					}
				}
				return newest, newest.Verdict != "" && newest.Verdict != judge.JE
			}
			var c Cell
			if cfg.Format == ICPC {
				wrong := 0
				for _, s := range mine {
					j, done := verdict(s)
					if !done {
						c.Pending++
					} else if j.Verdict == judge.AC {
						c.Solved, c.Time, c.Judged = true, clock(s.Time), wrong+1
						c.Penalty = int64(math.Floor(c.Time.Seconds()/unit)) + int64(float64(cfg.ICPC.PenaltyMinutes)*60/unit)*int64(wrong)
						total += float64(c.Penalty)
						last = max(last, math.Floor(c.Time.Seconds()/unit))
						l.Solved++
						l.Last = max(l.Last, c.Time)
						break
					} else if j.Verdict != judge.CE || cfg.ICPC.PenaliseCE {
						wrong++
					}
				}
				if !c.Solved {
					c.Judged = wrong
				}
			} else {
				c = obviousPoints(cfg.IOI.Mode, mine, verdict, clock, tokens, obviousWorth(p))
				points += c.Score
				last = max(last, c.Time.Seconds())
				l.Last = max(l.Last, c.Time)
				if c.Solved {
					l.Solved++
				}
			}
			l.Cells = append(l.Cells, c)
		}
		if cfg.Format == ICPC {
			total += float64(adjust[team.ID].Minutes) * 60 / unit
			if cfg.ICPC.Rounding == SecondThenMinute {
				total, last = math.Floor(total/60), math.Floor(last/60)
			}
			l.Total = int64(total)
			l.key = []float64{float64(l.Solved), -total, -last}
			if !cfg.ICPC.TieLast {
				l.key[2] = 0
			}
		} else {
			l.Points = points
			l.key = []float64{math.Round(points * 1e6), 0, 0}
			if cfg.IOI.Tie == TieTime {
				l.key[1] = -last
			}
		}
		switch {
		case team.Status == Disqualified:
			l.section = [2]int{3, 0}
		case team.Hidden:
			l.section = [2]int{2, 0}
		case slices.Equal(team.Groups, []string{"guest"}):
			l.section = [2]int{1, 5}
		}
		lines = append(lines, l)
	}
	names := collate.New(language.AmericanEnglish)
	sort.Slice(lines, func(i, j int) bool {
		a, b := lines[i], lines[j]
		if a.section != b.section {
			return a.section[0] < b.section[0]
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

// obviousWorth is what a score of a problem is worth: a share of its points, where those are said.
func obviousWorth(p Problem) func(float64) float64 {
	return func(score float64) float64 {
		if p.Points == nil {
			return score
		}
		if p.Max == 0 {
			return math.Min(score, *p.Points)
		}
		return math.Min(*p.Points, *p.Points/p.Max*score)
	}
}

// obviousPoints is a cell of the format ioi: the score after each submission, by the definition of the mode.
func obviousPoints(mode Mode, mine []Submission, verdict func(Submission) (Judgement, bool), clock func(time.Time) time.Duration, tokens map[int64]bool, worth func(float64) float64) (c Cell) {
	score := func(s Submission) float64 {
		if j, done := verdict(s); done && j.Verdict != judge.CE {
			return *j.Score
		}
		return 0
	}
	for i, s := range mine {
		until := mine[:i+1]
		now := 0.0
		switch mode {
		case Max:
			for _, s := range until {
				now = max(now, score(s))
			}
		case LastSubmission:
			now = score(s)
		case MaxTokenedLast:
			now = score(s)
			for _, s := range until {
				if tokens[s.ID] {
					now = max(now, score(s))
				}
			}
		case MaxSubtask:
			best := map[string]float64{}
			for _, s := range until {
				if j, done := verdict(s); done && j.Verdict != judge.CE {
					for _, g := range j.Groups {
						best[g.Group] = max(best[g.Group], g.Score)
					}
				}
			}
			now = best["1"] + best["2"]
		}
		now = worth(now)
		if math.Abs(now-c.Score) > 1e-7 {
			c.Time = clock(s.Time)
		}
		c.Score = now
		if j, done := verdict(s); !done {
			c.Pending++
		} else {
			if j.Verdict != judge.CE {
				c.Judged++
			}
			c.Solved = c.Solved || j.Verdict == judge.AC
		}
	}
	return c
}

// same compares boards; scores may differ by how they were added up.
func same(a, b []Row) bool {
	a, b = rounded(a), rounded(b)
	return reflect.DeepEqual(a, b)
}

func rounded(rows []Row) []Row {
	all := make([]Row, 0, len(rows))
	for _, r := range rows {
		r.Points = math.Round(r.Points*1e6) / 1e6
		r.Cells = slices.Clone(r.Cells)
		for i := range r.Cells {
			r.Cells[i].Score = math.Round(r.Cells[i].Score*1e6) / 1e6
		}
		all = append(all, r)
	}
	return all
}

var formats = map[string]Format{
	`{}`: ICPC, `{"rounding": "second", "penalise_ce": true}`: ICPC, `{"rounding": "second_then_minute", "tie_last": false}`: ICPC,
	`{"mode": "max"}`: IOI, `{"mode": "max_subtask", "tie": "time"}`: IOI, `{"mode": "last"}`: IOI, `{"mode": "max_tokened_last"}`: IOI,
}

func TestTheFoldIsWhatSortingEverythingGivesForEveryView(t *testing.T) {
	for settings, format := range formats {
		t.Run(string(format)+" "+settings, rapid.MakeCheck(func(t *rapid.T) {
			const teams = 7
			w := newWorld(config(t, format, settings), Round{Start: start, Duration: 5 * time.Hour, Freeze: new(4 * time.Hour)})
			w.people(teams)
			views := map[*State]Viewer{New(w.cfg): staff, New(w.cfg): public, New(w.cfg): {Audience: Teams, Participant: 2}}
			told, thaw := 0, rapid.IntRange(5, 60).Draw(t, "thaw")
			for i := range rapid.IntRange(1, 40).Draw(t, "steps") {
				if w.act(t, teams); i == thaw {
					w.thaw()
				}
				for s, v := range views {
					for _, r := range w.log[told:] {
						if !v.Sees(r) {
							continue
						}
						before, _ := s.Row(1)
						change, err := s.Apply(r.Entry)
						if err != nil {
							t.Fatal(err)
						}
						if after, _ := s.Row(1); change.Participant == 1 && (change.Was != before.Rank || change.Rank != after.Rank) {
							t.Fatalf("%+v is told as %+v, but the rank went from %d to %d", r.Entry, change, before.Rank, after.Rank)
						}
					}
					var seen []Entry
					for _, r := range w.log {
						if v.Sees(r) {
							seen = append(seen, r.Entry)
						}
					}
					if got, want := s.Board(Query{}).Rows, obvious(w.cfg, seen); !same(got, want) {
						t.Fatalf("after %+v view %+v has\n%+v\nwant\n%+v", w.log[len(w.log)-1].Entry, v, got, want)
					}
				}
				told = len(w.log)
			}
		}))
	}
}

func TestTheOrderInWhichDifferentThingsAreToldDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const teams = 5
		w := icpcWorld(t, "")
		w.people(teams)
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			w.act(t, teams)
		}
		kind := func(r Record) string { return reflect.TypeOf(r.Entry).Name() }
		priority := rapid.Permutation([]string{"Round", "Removed", "Group", "Participant", "Problem", "Submission", "Judgement", "Mark", "Token", "Adjustment"}).Draw(t, "order")
		other := slices.Clone(w.log)
		slices.SortStableFunc(other, func(a, b Record) int { return slices.Index(priority, kind(a)) - slices.Index(priority, kind(b)) })
		s := New(w.cfg)
		for _, r := range other {
			if _, err := s.Apply(r.Entry); err != nil {
				t.Fatal(err)
			}
		}
		if got, want := s.Board(Query{}), w.staff.Board(Query{}); !reflect.DeepEqual(got, want) {
			t.Fatalf("told in the order %q the board is\n%+v\nwant\n%+v", priority, got, want)
		}
		if got, want := w.sees(t, staff).Board(Query{}), w.staff.Board(Query{}); !reflect.DeepEqual(got, want) {
			t.Fatalf("the fold of all is\n%+v\nwant what was counted step by step:\n%+v", got, want)
		}
	})
}
