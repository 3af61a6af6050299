package judge_test

import (
	"encoding/json"
	"testing"

	"deepoj/host/judge"
)

// What PostgreSQL, the HTTP API and metrics call a lane stays, whatever Go counts from:
// zero in Go is no lane at all, and zero there is the first.
func TestALaneKeepsItsNumberOutsideOfGo(t *testing.T) {
	for n, lane := range judge.Lanes {
		var read, asKey judge.Lane
		if err := read.Scan(int64(n)); err != nil || read != lane || int(lane.Number()) != n || lane == 0 {
			t.Errorf("lane %d of the database is %v, whose number is %d: %v", n, read, lane.Number(), err)
		}
		b, err := json.Marshal(map[judge.Lane]judge.Lane{lane: lane})
		if want := []byte{'{', '"', byte('0' + n), '"', ':', byte('0' + n), '}'}; err != nil || string(b) != string(want) {
			t.Errorf("as JSON lane %d is %s, want %s: %v", n, b, want, err)
		}
		var back map[judge.Lane]judge.Lane
		if err := json.Unmarshal(b, &back); err != nil || back[lane] != lane {
			t.Errorf("%s is read as %v: %v", b, back, err)
		}
		if err := asKey.UnmarshalText([]byte{byte('0' + n)}); err != nil || asKey != lane {
			t.Errorf("the key %d is lane %v: %v", n, asKey, err)
		}
	}
	for _, wrong := range []any{int64(-1), int64(len(judge.Lanes)), nil, "2"} {
		if err := new(judge.Lane).Scan(wrong); err == nil {
			t.Errorf("%v is a lane", wrong)
		}
	}
}
