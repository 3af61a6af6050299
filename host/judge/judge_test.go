package judge_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"deepoj/host/judge"
)

func TestEventsSayHowAJobStands(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		kinds []judge.EventKind
		want  judge.Status
	}{
		"nothing has happened":       {nil, ""},
		"it waits":                   {[]judge.EventKind{judge.EventSubmitted, judge.EventDispatched}, judge.Pending},
		"it is judged":               {[]judge.EventKind{judge.EventSubmitted, judge.EventClaimed, judge.EventCompiled, judge.EventTest}, judge.Running},
		"its worker was lost":        {[]judge.EventKind{judge.EventSubmitted, judge.EventClaimed, judge.EventTest, judge.EventWorkerLost}, judge.Pending},
		"it is done":                 {[]judge.EventKind{judge.EventClaimed, judge.EventTest, judge.EventFinished}, judge.Finished},
		"it is done and was applied": {[]judge.EventKind{judge.EventClaimed, judge.EventFinished, judge.EventApplied}, judge.Finished},
	} {
		var events []judge.Event
		for _, kind := range c.kinds {
			events = append(events, judge.Event{Kind: kind})
		}
		if got := judge.StatusAfter(events); got != c.want {
			t.Errorf("%s: %q, want %q", what, got, c.want)
		}
	}
}

func TestOnlyTheListedMovesExist(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		from, to judge.Status
		want     bool
	}{
		"a worker takes it":                     {judge.Pending, judge.Running, true},
		"the lease runs out":                    {judge.Running, judge.Pending, true},
		"a verdict is written":                  {judge.Running, judge.Finished, true},
		"it is withdrawn while it waits":        {judge.Pending, judge.Cancelled, true},
		"it is withdrawn while it runs":         {judge.Running, judge.Cancelled, true},
		"it fails once too often":               {judge.Running, judge.Dead, true},
		"a rejudge":                             {judge.Finished, judge.Pending, true},
		"a replay from the dead letters":        {judge.Dead, judge.Pending, true},
		"a result needs a lease":                {judge.Pending, judge.Finished, false},
		"a result is never edited":              {judge.Finished, judge.Running, false},
		"what is finished is not withdrawn":     {judge.Finished, judge.Cancelled, false},
		"what is dead is not finished":          {judge.Dead, judge.Finished, false},
		"the zero status goes nowhere":          {"", judge.Pending, false},
		"nothing becomes the zero status":       {judge.Pending, "", false},
		"cancelled work does not run by itself": {judge.Cancelled, judge.Running, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := tt.from.CanBecome(tt.to); got != tt.want {
				t.Errorf("%q.CanBecome(%q) = %t, want %t", tt.from, tt.to, got, tt.want)
			}
		})
	}
}

func TestATerminalStatusLeavesOnlyByARejudge(t *testing.T) {
	t.Parallel()
	for _, s := range judge.Statuses {
		for _, next := range judge.Statuses {
			if s.Terminal() && s.CanBecome(next) && next != judge.Pending {
				t.Errorf("%s may become %s", s, next)
			}
		}
		if want := map[bool]judge.State{true: judge.Done}[s.Terminal()]; s.Terminal() && s.State() != want {
			t.Errorf("%s is terminal but its state is %s", s, s.State())
		}
	}
}

func TestTheWorstVerdictDecides(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		of   []judge.Verdict
		want judge.Verdict
	}{
		"no test at all":                      {nil, judge.AC},
		"all accepted":                        {[]judge.Verdict{judge.AC, judge.AC}, judge.AC},
		"one wrong answer":                    {[]judge.Verdict{judge.AC, judge.WA, judge.AC}, judge.WA},
		"a time limit is worse than wrong":    {[]judge.Verdict{judge.WA, judge.TLE}, judge.TLE},
		"a crash is worse than a time limit":  {[]judge.Verdict{judge.TLE, judge.RE}, judge.RE},
		"a judging error is worst of all":     {[]judge.Verdict{judge.CE, judge.JE, judge.RE}, judge.JE},
		"presentation is the least bad error": {[]judge.Verdict{judge.PE, judge.AC}, judge.PE},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := judge.Worst(tt.of...); got != tt.want {
				t.Errorf("Worst(%v) = %s, want %s", tt.of, got, tt.want)
			}
			reversed := slices.Clone(tt.of)
			slices.Reverse(reversed)
			if got := judge.Worst(reversed...); got != tt.want {
				t.Errorf("Worst(%v) = %s, want %s: the order must not matter", reversed, got, tt.want)
			}
		})
	}
}

func TestOurOwnFailuresNeverCount(t *testing.T) {
	t.Parallel()
	for _, v := range judge.Verdicts {
		ours := v == judge.JE || v == judge.SE
		if v.Counts() == ours {
			t.Errorf("%s.Counts() = %t", v, v.Counts())
		}
		if v.Final() != (v != judge.SE) {
			t.Errorf("%s.Final() = %t: an SE is tried again and never stored", v, v.Final())
		}
		if v.Name() == string(v) {
			t.Errorf("%s has no long name", v)
		}
	}
	if judge.Verdict("XX").Valid() || judge.Verdict("XX").Counts() {
		t.Error("an unknown verdict is valid")
	}
}

func TestTheShownStatusSpeaksOfTheQueue(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		of   judge.Submission
		want string
	}{
		"waiting":            {judge.Submission{Job: judge.Job{Status: judge.Pending, QueueState: "R"}}, "PENDING"},
		"delivered":          {judge.Submission{Job: judge.Job{Status: judge.Pending, QueueState: "D"}}, "DISPATCHED"},
		"waiting once more":  {judge.Submission{Job: judge.Job{Status: judge.Pending, QueueState: "S", Tries: 1}}, "RETRYING"},
		"running":            {judge.Submission{Job: judge.Job{Status: judge.Running, QueueState: "L"}}, "RUNNING"},
		"finished":           {judge.Submission{Job: judge.Job{Status: judge.Finished}}, "FINISHED"},
		"cancelled":          {judge.Submission{Job: judge.Job{Status: judge.Cancelled}}, "CANCELLED"},
		"in the dead letter": {judge.Submission{Job: judge.Job{Status: judge.Dead, Tries: 5}}, "DEAD"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := tt.of.Shown(); got != tt.want {
				t.Errorf("Shown() = %s, want %s", got, tt.want)
			}
		})
	}
}

func TestThePictureOfTheStateMachineHasItsMoves(t *testing.T) {
	t.Parallel()
	guide, err := os.ReadFile("../docs/queue.md")
	if err != nil {
		t.Fatal(err)
	}
	_, picture, _ := strings.Cut(string(guide), "```mermaid\n")
	picture, _, _ = strings.Cut(picture, "```")
	drawn := map[[2]judge.Status]bool{}
	for _, m := range regexp.MustCompile(`(?m)^  (\w+) --> (\w+):`).FindAllStringSubmatch(picture, -1) {
		drawn[[2]judge.Status{judge.Status(m[1]), judge.Status(m[2])}] = true
	}
	for _, from := range judge.Statuses {
		for _, to := range judge.Statuses {
			if drawn[[2]judge.Status{from, to}] != from.CanBecome(to) {
				t.Errorf("%s to %s: the picture says %t", from, to, !from.CanBecome(to))
			}
		}
	}
	if !strings.Contains(picture, "[*] --> pending") {
		t.Error("the picture has no beginning")
	}
}

func TestEveryVerdictHasANameAndAPlaceAmongTheWorst(t *testing.T) {
	t.Parallel()
	for _, v := range judge.Verdicts {
		if v.Name() == string(v) {
			t.Errorf("%s has no name", v)
		}
		if v.Final() && (judge.Worst(v, judge.AC) != v || judge.Worst(judge.JE, v) != judge.JE) {
			t.Errorf("%s has no place between %s and %s", v, judge.AC, judge.JE)
		}
	}
}
