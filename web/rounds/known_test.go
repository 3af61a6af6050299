package rounds

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"deepoj/host/contest"
	"deepoj/host/judge"
	"deepoj/host/standings"
	"deepoj/sql/rounds"
)

// written is a log that a test writes.
type written []rounds.Logged

func (w *written) say(kind contest.Kind, object string, data any) {
	l := rounds.Logged{Seq: int64(len(*w) + 1), Line: rounds.Line{Object: rounds.Object{Kind: string(kind), Object: object, Audience: uint8(contest.Everybody)}, Gone: data == nil}}
	if data != nil {
		l.Data, _ = json.Marshal(data)
	}
	*w = append(*w, l)
}

// Log returns its lines.
func (w *written) Log(_ context.Context, _, after int64, limit int) ([]rounds.Logged, error) {
	rest := (*w)[after:]
	return rest[:min(len(rest), limit)], nil
}

// Follow hears nothing.
func (*written) Follow(ctx context.Context, _ func(int64)) error { <-ctx.Done(); return nil }

// KeepSnapshot keeps nothing.
func (*written) KeepSnapshot(context.Context, int64, string, int64, []byte) (bool, error) {
	return false, nil
}

// grow adds a random line.
func (w *written) grow(r *rand.Rand, start time.Time) {
	pick := func(of ...string) string { return of[r.IntN(len(of))] }
	number := func(n int) string { return fmt.Sprint(r.IntN(n) + 1) }
	switch r.IntN(40) {
	case 0:
		w.say(contest.KindRound, "", contest.RoundData{Code: "r", Kind: judge.RoundContest, Format: pick("icpc", "ioi"), Start: &start, Duration: new(int64(18_000_000)), Freeze: new(int64(r.IntN(2) * 9_000_000))})
	case 1, 2:
		w.say(contest.KindOrganization, pick("x", "y"), contest.OrganizationData{Name: pick("X", "Y", "Z")})
	case 3:
		w.say(contest.KindGroup, "g", contest.GroupData{Name: pick("G", "H"), Ranked: r.IntN(2) == 0})
	case 4:
		w.say(contest.KindProblem, pick("a", "b", "c"), contest.ProblemData{Label: pick("A", "B"), Ordinal: r.IntN(3)})
	case 5:
		w.say(contest.Kind(pick(string(contest.KindProblem), string(contest.KindOrganization))), pick("a", "x"), nil)
	case 6:
		w.say(contest.KindParticipant, number(8), nil)
	case 7, 8, 9, 10, 11, 12:
		n := number(8)
		p := contest.ParticipantData{Code: "t" + n, Name: pick("Ann", "Bob", "Eve") + n, Organization: pick("", "x", "y"), Ranked: r.IntN(4) > 0, AddedMinutes: int64(r.IntN(2)), Disqualified: r.IntN(9) == 0}
		if r.IntN(2) == 0 {
			p.Groups = []string{"g"}
		}
		w.say(contest.KindParticipant, n, p)
	case 13, 14, 15, 16, 17, 18, 19, 20, 21, 22:
		n := r.Int64N(60) + 1
		w.say(contest.KindSubmission, fmt.Sprint(n), contest.SubmissionData{Number: n, Participant: n%8 + 1, Problem: []string{"a", "b", "c"}[n%3], Time: start.Add(time.Duration(n) * time.Minute), Token: r.IntN(9) == 0})
	default:
		n := r.Int64N(60) + 1
		w.say(contest.KindJudgement, fmt.Sprintf("%d-1", n), contest.JudgementData{Submission: n, Generation: 1, Verdict: judge.Verdict(pick("AC", "WA", "CE")), Current: r.IntN(8) > 0, Score: new(float64(r.IntN(3)))})
	}
}

func TestABoardOfRowsThatAreKnownIsTheBoardThatItIs(t *testing.T) {
	shared := 0
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 1))
		start := time.Date(2030, 2, 14, 9, 0, 0, 0, time.UTC)
		log := &written{}
		kept := standings.New(standings.Config{Stale: time.Nanosecond}, log)
		known := knownRows{rows: map[int64]boardRowJSON{}}
		before := map[string]*boardCellJSON{}
		for step := range 150 {
			for range 1 + r.IntN(3) {
				log.grow(r, start)
			}
			err := kept.Look(t.Context(), 1, standings.Public, func(v *standings.Standings) {
				is, err := board(v, part{known: &known})
				if err != nil {
					t.Fatal(err)
				}
				want, err := board(v, part{})
				if err != nil {
					t.Fatal(err)
				}
				if !reflect.DeepEqual(is, want) {
					t.Fatalf("seed %d, step %d, after %+v: the board is\n%+v\nand not\n%+v", seed, step, (*log)[len(*log)-1], is, want)
				}
				for _, row := range is.Rows {
					if len(row.Cells) == 0 {
						continue
					}
					if before[row.Participant] == &row.Cells[0] {
						shared++
					}
					before[row.Participant] = &row.Cells[0]
				}
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	if shared < 10_000 {
		t.Errorf("%d rows were known", shared)
	}
}

// BenchmarkBoardChange prints what it costs to see what a verdict changed on a board of 10,000 teams and 13 problems, and which part
// that is of making the whole board.
func BenchmarkBoardChange(b *testing.B) {
	const teams = 10_000
	start := time.Date(2030, 2, 14, 9, 0, 0, 0, time.UTC)
	log := &written{}
	log.say(contest.KindRound, "", contest.RoundData{Code: "r", Kind: judge.RoundContest, Format: "icpc", Start: &start, Duration: new(int64(18_000_000))})
	for i := range 13 {
		log.say(contest.KindProblem, fmt.Sprint(i), contest.ProblemData{Label: string(rune('A' + i)), Ordinal: i})
	}
	for i := range teams {
		log.say(contest.KindParticipant, fmt.Sprint(i+1), contest.ParticipantData{Code: fmt.Sprint("t", i), Name: fmt.Sprint("Team ", i), Ranked: true})
	}
	r := rand.New(rand.NewPCG(1, 2))
	handIn := func(n int64, v judge.Verdict) {
		log.say(contest.KindSubmission, fmt.Sprint(n), contest.SubmissionData{Number: n, Participant: r.Int64N(teams) + 1, Problem: fmt.Sprint(r.IntN(13)), Time: start.Add(time.Duration(n) * 100 * time.Millisecond)})
		log.say(contest.KindJudgement, fmt.Sprintf("%d-1", n), contest.JudgementData{Submission: n, Generation: 1, Verdict: v, Current: true})
	}
	handed := int64(0)
	for ; handed < 10*teams; handed++ {
		handIn(handed+1, []judge.Verdict{judge.AC, judge.WA}[r.IntN(2)])
	}
	kept := standings.New(standings.Config{Stale: time.Nanosecond}, log)
	channels := channels{}
	ch := channels.of(kept, 1, standings.Public)
	look := func() {
		if err := ch.look(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
	look()
	var change, whole time.Duration
	for b.Loop() {
		handed++
		handIn(handed, judge.AC)
		if err := kept.Look(b.Context(), 1, standings.Public, func(*standings.Standings) {}); err != nil { // the log is read
			b.Fatal(err)
		}
		begun := time.Now()
		look()
		change += time.Since(begun)
		ch.known, ch.board.Token = knownRows{rows: map[int64]boardRowJSON{}}, ""
		begun = time.Now()
		look()
		whole += time.Since(begun)
	}
	b.ReportMetric(float64(change.Microseconds())/float64(b.N), "µs/change")
	b.ReportMetric(float64(change)/float64(whole), "of_the_whole_board")
}
