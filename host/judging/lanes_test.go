package judging

import (
	"context"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"deepoj/host/judge"
	"deepoj/host/judging/build"
	"deepoj/host/judging/jury"
	"deepoj/host/judging/runner"
	"deepoj/host/problem"
)

func TestFurtherLanesAreOnlyForThoseWhoAreFew(t *testing.T) {
	t.Parallel()
	c := newCrowd(4)
	for all, lanes := range map[int]int{0: 4, 1: 4, 2: 2, 3: 1, 4: 1, 9: 1} {
		c.all = all
		for k := range 4 {
			if got, _ := c.room(k); got != (k < lanes) {
				t.Errorf("with %d submissions on 4 cores there is room for lane %d: %t, want %d lanes each", all, k, got, lanes)
			}
		}
	}
}

func TestALaneWaitsUntilOthersHaveEndedAndDoesNotOutliveItsSubmission(t *testing.T) {
	t.Parallel()
	c := newCrowd(2)
	leave := c.enter()
	other := c.enter()
	opened := make(chan bool, 1)
	go func() { opened <- c.wait(t.Context(), 1) }()
	select {
	case <-opened:
		t.Fatal("a second lane was opened beside another submission")
	case <-time.After(20 * settled):
	}
	other()
	if !<-opened {
		t.Error("no second lane was opened when the other one had ended")
	}
	defer c.enter()()
	ctx, cancel := context.WithCancel(t.Context())
	go func() { opened <- c.wait(ctx, 1) }()
	cancel()
	if <-opened {
		t.Error("a lane was opened after the end")
	}
	leave()
	if !c.wait(ctx, 0) {
		t.Error("the first lane waits")
	}
}

func TestALaneEndsWithItsSubmissionBetweenTwoRuns(t *testing.T) {
	t.Parallel()
	r, err := runner.New(t.TempDir(), prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	j := &Judge{Jury: &jury.Jury{Builder: &build.Builder{Runner: r}}, crowd: newCrowd(1)}
	// A test is left, and its lane needs no box, which alone would notice the end.
	e := &evaluation{j: j, pkg: &problem.Package{}, answers: map[*problem.Test]judge.Source{}, runs: []*run{{waiting: 1}}}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	ended := make(chan error, 1)
	go func() { ended <- e.work(ctx, 0) }()
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("the lane goes on for nobody")
	}
}
