package judge

import (
	"encoding/json"
	"testing"
	"time"
)

const ms, us = time.Millisecond, time.Microsecond

func TestTimesReadToATenthOfAMillisecondBelowASecond(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0 ms", 1: "0.1 ms", 40 * us: "0.1 ms", 100 * us: "0.1 ms", 1300 * us: "1.3 ms", 1349 * us: "1.3 ms",
		4 * ms: "4 ms", 120 * ms: "120 ms", 999_949 * us: "999.9 ms", 999_950 * us: "1 s", time.Second: "1 s",
		2110 * ms: "2.11 s", 10 * time.Second: "10 s", 100 * time.Second: "100 s",
	} {
		if got := TimeText(d); got != want {
			t.Errorf("TimeText(%s) = %q, want %q", d, got, want)
		}
	}
}

func TestOldResultsHaveTheirMillisecondsAndNewOnesBoth(t *testing.T) {
	var old Usage
	err := json.Unmarshal([]byte(`{"cpu_ms": 12, "wall_ms": 15, "memory_kib": 0}`), &old)
	if err != nil || old.CPU() != 12*ms || old.Wall() != 15*ms {
		t.Errorf("an old result took %s and %s: %v", old.CPU(), old.Wall(), err)
	}
	if b, err := json.Marshal(old); err != nil || string(b) != `{"cpu_ms":12,"wall_ms":15,"memory_kib":0}` {
		t.Errorf("it is written %s: %v", b, err)
	}
	b, err := json.Marshal(UsageOf(1345*us+999, 2999*us, 100))
	if want := `{"cpu_ms":1,"wall_ms":2,"cpu_us":1345,"wall_us":2999,"memory_kib":100}`; err != nil || string(b) != want {
		t.Errorf("a new result is written %s, want %s: %v", b, want, err)
	}
}

func TestTheWorstAndTheSumTakeTheFinerFigure(t *testing.T) {
	a, b := UsageOf(1900*us, 3*ms, 10), UsageOf(1100*us, 3700*us, 20)
	if got, want := a.Worst(b), UsageOf(1900*us, 3700*us, 20); got != want || b.Worst(a) != want {
		t.Errorf("the worst is %+v and %+v, want %+v", got, b.Worst(a), want)
	}
	if got, want := a.After(b), UsageOf(3*ms, 6700*us, 20); got != want {
		t.Errorf("one after the other is %+v, want %+v", got, want)
	}
	old := Usage{CPUMillis: 2, WallMillis: 3}
	if got := old.Worst(b); got != (Usage{CPUMillis: 2, WallMillis: 3, WallMicros: 3700, MemoryKiB: 20}) {
		t.Errorf("the worst of an old result and a new one is %+v", got)
	}
}
