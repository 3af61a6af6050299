package contest

import (
	"slices"
	"testing"
	"time"

	"deepoj/host/judge"
)

// The board of a contest time is what was in the log by then, and removed time does not count.
func TestTheBoardOfAContestTimeHasWhatWasKnownThen(t *testing.T) {
	start := time.Date(2030, 1, 1, 9, 0, 0, 0, time.UTC)
	minute := func(n int) time.Time { return start.Add(time.Duration(n) * time.Minute) }
	var log []Record
	add := func(at time.Time, e Entry) {
		log = append(log, Record{Seq: int64(len(log) + 1), At: at, Audience: Everybody, Entry: e})
	}
	add(minute(-9), Round{Start: start, Duration: 5 * time.Hour})
	add(minute(-9), Participant{ID: 1, Name: "One", Ranked: true})
	add(minute(-9), Problem{ID: "a", Label: "A"})
	add(minute(-9), Problem{ID: "b", Label: "B", Ordinal: 1})
	add(minute(10), Submission{ID: 1, Participant: 1, Problem: "a", Time: minute(10)})
	add(minute(11), Judgement{Submission: 1, Generation: 1, Verdict: judge.AC, Current: true})
	add(minute(50), Submission{ID: 2, Participant: 1, Problem: "b", Time: minute(50)})
	add(minute(51), Judgement{Submission: 2, Generation: 1, Verdict: judge.AC, Current: true})
	add(minute(90), Removed{ID: 1, From: minute(20), To: minute(40)})
	cfg, err := ParseConfig(ICPC, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		at     time.Duration
		solved int
	}{
		{0, 0},
		{10 * time.Minute, 0}, // handed in, not judged
		{11 * time.Minute, 1},
		{30 * time.Minute, 1}, // minute 50, for 20 were removed
		{31 * time.Minute, 2},
		{9 * time.Hour, 2},
	} {
		s, err := At(cfg, Viewer{Audience: Public}, slices.Values(log), c.at)
		if err != nil {
			t.Fatal(err)
		}
		if row, ok := s.Row(1); !ok || row.Solved != c.solved {
			t.Errorf("at contest time %s solved %d (there: %t), want %d", c.at, row.Solved, ok, c.solved)
		}
	}
	if _, err := At(cfg, Viewer{Audience: Public}, slices.Values(log[1:]), time.Hour); err == nil {
		t.Error("a contest without a start has a board of its second hour")
	}
}
