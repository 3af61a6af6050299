package sandbox_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
)

// Whoever starts removes what others left: folders of control groups that nobody
// has locked. One that is just being made is not locked yet.
func TestThoseThatStartAtTheSameTimeDoNotSweepEachOtherAway(t *testing.T) {
	needRoot(t)
	const at, rounds = 6, 20
	var wg sync.WaitGroup
	for slot := range at {
		wg.Go(func() {
			for range rounds {
				out, err := oneShotCommand(t, "--job-id", "1", "--attempt-id", "1", "--slot", fmt.Sprint(slot), "--", "true").Output()
				if err != nil || !strings.Contains(string(out), `"verdict":"OK"`) {
					t.Errorf("one said %s (%v)", out, err)
					return
				}
			}
		})
	}
	wg.Wait()
}
