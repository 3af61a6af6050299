package judging_test

import (
	"fmt"
	"testing"

	"deepoj/host/judge"
	"deepoj/host/judging/judgingtest"
)

// A program that now and then takes a little more than its limit is in doubt: it
// is run again, and the second run counts. One that takes much more is not.
func TestATimeLimitThatIsHardlyExceededIsTriedAgain(t *testing.T) {
	t.Parallel()
	const limit, ceiling = 400, 440 // ms
	const clock = 2*limit + 1000    // ms; whose first run met it had to wait for a CPU, and is run again for that
	pkg := echo(t, map[string]string{".timelimit": "0.4", "data/sample/1.in": "", "data/sample/1.ans": ""})
	burn := func(seconds string) judge.Payload {
		return python("import random, time\nwait = " + seconds + "\nwhile time.process_time() < wait: pass\n" + cat)
	}
	m := judgingtest.Get(t)
	kinds := map[string]int{}
	for range 200 {
		r := judged(t, m.Judge, burn("random.choice([0.05, 0.405])"), pkg)
		test := r.Tests[0]
		kind := fmt.Sprintf("%s, again: %t", test.Verdict, test.Rerun != nil)
		kinds[kind]++
		switch {
		case test.Rerun != nil && test.Rerun.WallMillis < clock && (test.Rerun.CPUMillis < limit || test.Rerun.CPUMillis > ceiling):
			t.Errorf("%s after %d ms of CPU time", kind, test.Rerun.CPUMillis)
		case test.Verdict == judge.TLE && test.Usage.CPUMillis < limit, test.Verdict == judge.AC && test.Usage.CPUMillis > limit:
			t.Errorf("%s with %d ms of CPU time", kind, test.Usage.CPUMillis)
		case test.Verdict == judge.TLE && test.Rerun == nil && test.Usage.CPUMillis < ceiling:
			t.Errorf("%s in doubt, with %d ms of CPU time", kind, test.Usage.CPUMillis)
		}
		if kinds["AC, again: false"] > 0 && kinds["AC, again: true"] > 0 && kinds["TLE, again: true"] > 0 {
			break
		}
	}
	t.Log(kinds)
	if kinds["AC, again: true"] == 0 || kinds["TLE, again: true"] == 0 {
		t.Errorf("not all of it happened: %v", kinds)
	}
	if test := judged(t, m.Judge, burn("60"), pkg).Tests[0]; test.Verdict != judge.TLE || test.Rerun != nil && test.Rerun.WallMillis < clock || test.Usage.CPUMillis < ceiling {
		t.Errorf("without end: %s, again: %t, %d ms of CPU time", test.Verdict, test.Rerun != nil, test.Usage.CPUMillis)
	}
}
