package verify

import (
	"errors"
	"slices"
	"testing"
	"time"

	"deepoj/host/problem"
)

func TestOnlyWhatMayDecideIsMeasuredAlone(t *testing.T) {
	limits := problem.Limits{Multiplier: 5, Resolution: time.Second}
	limit := func(millis int64) time.Duration { return limitFor(limits, millis) }
	for name, tt := range map[string]struct {
		crowded []int64         // what programs took side by side
		alone   map[int64]int64 // what each takes alone, by what it took
		asked   []int64
		worst   int64
	}{
		"all so fast that the least limit does":  {[]int64{13, 199, 20}, nil, nil, 199},
		"the slowest decides":                    {[]int64{400, 1300, 20}, map[int64]int64{1300: 1200}, []int64{1300}, 1200},
		"the others come after it":               {[]int64{1300, 1290, 1280}, map[int64]int64{1300: 1200, 1290: 1290}, []int64{1300, 1290}, 1290},
		"the others would give the same":         {[]int64{1350, 1290}, map[int64]int64{1350: 1250}, []int64{1350}, 1250},
		"alone it is so fast that others matter": {[]int64{900, 700, 650}, map[int64]int64{900: 500, 700: 450, 650: 640}, []int64{900, 700, 650}, 640},
		"as many as ever are asked about, and no more": {
			slices.Repeat([]int64{900}, 30), map[int64]int64{900: 100}, slices.Repeat([]int64{900}, mostAlone), 100,
		},
	} {
		var all []timed
		for _, ms := range tt.crowded {
			all = append(all, timed{of: problem.Submission{Path: "p"}, millis: ms})
		}
		var asked []int64
		worst, err := slowest(all, limit, func(t timed) (int64, error) {
			asked = append(asked, t.millis)
			return tt.alone[t.millis], nil
		})
		if err != nil || worst.millis != tt.worst || !slices.Equal(asked, tt.asked) {
			t.Errorf("%s: %d after %d were run alone (%v), want %d after %d", name, worst.millis, asked, err, tt.worst, tt.asked)
		}
	}
	broken := errors.New("no box")
	if _, err := slowest([]timed{{millis: 900}}, limit, func(timed) (int64, error) { return 0, broken }); !errors.Is(err, broken) {
		t.Errorf("a run that fails: %v", err)
	}
}

func TestALimitIsRoundedUpToTheResolution(t *testing.T) {
	for _, tt := range []struct {
		limits problem.Limits
		millis int64
		want   time.Duration
	}{
		{problem.Limits{Multiplier: 5, Resolution: time.Second}, 0, time.Second},
		{problem.Limits{Multiplier: 5, Resolution: time.Second}, 200, time.Second},
		{problem.Limits{Multiplier: 5, Resolution: time.Second}, 201, 2 * time.Second},
		{problem.Limits{Multiplier: 2, Resolution: time.Second}, 3010, 7 * time.Second},
		{problem.Limits{Multiplier: 1.1, Resolution: 100 * time.Millisecond}, 1000, 1100 * time.Millisecond}, // 1.1 is a little more in binary
		{problem.Limits{Multiplier: 2}, 20, time.Second},
	} {
		if got := limitFor(tt.limits, tt.millis); got != tt.want {
			t.Errorf("%g times %d ms in steps of %s is %s, want %s", tt.limits.Multiplier, tt.millis, tt.limits.Resolution, got, tt.want)
		}
	}
}

func TestALongStepTellsOfItselfNowAndThen(t *testing.T) {
	var told []Stage
	c := Config{Stage: func(s Stage) { told = append(told, s) }}
	n := c.begin(StepMake, 1000)
	for range 1000 {
		n.done("x")
	}
	if len(told) < stages/2 || len(told) > stages+2 || told[0].Done != 0 || told[len(told)-1].Done != 1000 {
		t.Errorf("told %d times, the last time of %+v", len(told), told[len(told)-1])
	}
	told = nil
	n = c.begin(StepVerify, 2)
	n.done("a")
	n.done("b")
	if want := []Stage{{StepVerify, 0, 2, ""}, {StepVerify, 1, 2, "a"}, {StepVerify, 2, 2, "b"}}; !slices.Equal(told, want) {
		t.Errorf("told %+v", told)
	}
	told = nil
	if c.begin(StepInspect, 0); len(told) > 0 {
		t.Errorf("told of a step without parts: %+v", told)
	}
}
