package job

import (
	"encoding/json"
	"strings"
	"testing"

	"deepoj/host/judge"
	"deepoj/web/site"
)

func TestTheHistoryHasWordsForEveryKindOfEvent(t *testing.T) {
	t.Parallel()
	for _, k := range judge.EventKinds() {
		if k == judge.EventFinding || k == judge.EventStage || k == judge.EventTest {
			continue // a page shows these in another way
		}
		text, _ := tell(judge.Event{Kind: k, AttemptID: 1}, eventData{}, 0, site.Viewer{})
		if text == "" || text == string(k) && k != judge.EventCancelled && k != judge.EventRestored {
			t.Errorf("the history has no words for %s: %q", k, text)
		}
	}
}

func TestOnlyTheNewestAttemptIsShownRunning(t *testing.T) {
	t.Parallel()
	data := func(v any) json.RawMessage {
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	test := func(attempt int32, index int) judge.Event {
		return judge.Event{Kind: judge.EventTest, AttemptID: attempt, Data: data(eventData{Test: &judge.TestResult{Index: index, Verdict: judge.AC}, Total: 3})}
	}
	events := []judge.Event{
		{Kind: judge.EventSubmitted},
		{Kind: judge.EventClaimed, AttemptID: 1},
		test(1, 1), test(1, 2),
		{Kind: judge.EventWorkerLost, AttemptID: 1},
		{Kind: judge.EventClaimed, AttemptID: 2},
		test(1, 3), test(2, 1),
	}
	if r := LatestRun(events); r == nil || r.attempt != 2 || len(r.Tests) != 1 || r.Total != 3 {
		t.Errorf("got %+v", r)
	}
	if r := LatestRun(events[:5]); r != nil {
		t.Errorf("after its worker was lost, attempt %d is shown", r.attempt)
	}
	lines, eventful := history(events, site.Viewer{})
	if !eventful || !strings.Contains(lines[2].Text, "the worker was lost after 2 tests") {
		t.Errorf("the history is %+v", lines)
	}
}
