package judging

import (
	"context"
	"testing"
	"time"
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
