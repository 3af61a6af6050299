package job

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"deepoj/host/judge"
	"deepoj/web/locale"
	"deepoj/web/site"
)

// Run is what the events tell of the newest attempt.
type Run struct {
	attempt int32
	Compile *judge.Compile
	Tests   []judge.TestResult
	Total   int
	Told    []json.RawMessage // findings and stages of a job about a plugin
}

// LatestRun gathers the events of the newest attempt; nil if none has begun or the newest was taken away.
func LatestRun(events []judge.Event) *Run {
	var r *Run
	for _, e := range events {
		//exhaustive:ignore
		switch e.Kind {
		case judge.EventClaimed:
			r = &Run{attempt: e.AttemptID}
		case judge.EventSubmitted, judge.EventRetry, judge.EventReleased, judge.EventWorkerLost, judge.EventRejudge, judge.EventRestored:
			r = nil
		case judge.EventCompiled, judge.EventTest, judge.EventFinding, judge.EventStage:
			if r == nil || e.AttemptID != r.attempt {
				continue
			}
			d := readEvent(e)
			if d.Compile != nil {
				r.Compile = d.Compile
			}
			if d.Test != nil {
				r.Tests = append(r.Tests, *d.Test)
			}
			if d.Finding != nil {
				r.Told = append(r.Told, d.Finding)
			}
			r.Total = max(r.Total, d.Total)
		}
	}
	return r
}

// historyLine is one line of what happened to a submission.
type historyLine struct {
	At      time.Time
	After   string // how long after it was handed in
	Text    string
	Trouble bool // something of ours went wrong
}

// history tells what happened, attempt by attempt, also what went wrong on our
// side. It reports whether there is more to tell than the usual.
func history(events []judge.Event, v site.Viewer) ([]historyLine, bool) {
	var lines []historyLine
	var begin time.Time
	tests, trouble := 0, false
	for _, e := range events {
		if begin.IsZero() {
			begin = e.At
		}
		if e.Kind == judge.EventClaimed {
			tests = 0
		}
		//exhaustive:ignore
		switch e.Kind {
		case judge.EventTest:
			tests++
			continue
		case judge.EventFinding, judge.EventStage:
			continue
		}
		line := historyLine{At: e.At, After: afterText(e.At.Sub(begin), v)}
		line.Text, line.Trouble = tell(e, readEvent(e), tests, v)
		trouble = trouble || line.Trouble || e.Kind == judge.EventRejudge || e.Kind == judge.EventApplied
		lines = append(lines, line)
	}
	return lines, trouble
}

// tell puts one event into words. Tests is how many the attempt had judged.
func tell(e judge.Event, d eventData, tests int, v site.Viewer) (text string, trouble bool) {
	by := func(text string) string {
		if !v.Staff() || d.By == "" {
			return text
		}
		return v.Say("%s by %s", text, d.By)
	}
	why := func(text string) string {
		if !v.Staff() || d.Error == "" {
			return text
		}
		return v.Say("%s: %s", text, d.Error)
	}
	// after says the first sentence, or the second where tests had been judged.
	after := func(none, some locale.Word) string {
		if tests == 0 {
			return v.Say(none, e.AttemptID)
		}
		return v.Say(some, e.AttemptID, tests)
	}
	//exhaustive:ignore
	switch e.Kind {
	case judge.EventSubmitted:
		return v.Say("handed in"), false
	case judge.EventDispatched:
		return v.Say("delivered"), false
	case judge.EventClaimed:
		if v.Staff() && d.Worker != "" {
			return v.Say("attempt %d: claimed by a worker (%s)", e.AttemptID, d.Worker), false
		}
		return v.Say("attempt %d: claimed by a worker", e.AttemptID), false
	case judge.EventCompiled:
		if d.Compile != nil && !d.Compile.OK {
			return v.Say("attempt %d: did not compile", e.AttemptID), false
		}
		if d.Compile != nil && d.Compile.Usage.CPU() > 0 {
			return v.Say("attempt %d: compiled with %s of CPU time", e.AttemptID, v.Locale.Took(d.Compile.Usage.CPU())), false
		}
		return v.Say("attempt %d: ready to run", e.AttemptID), false
	case judge.EventRetry:
		return why(after("attempt %d: failed on our side; it is tried again", "attempt %d: failed on our side after %d tests; it is tried again")), true
	case judge.EventReleased:
		return why(after("attempt %d: given back to the queue", "attempt %d: given back to the queue after %d tests")), false
	case judge.EventWorkerLost:
		return after("attempt %d: the worker was lost; it is tried again", "attempt %d: the worker was lost after %d tests; it is tried again"), true
	case judge.EventPublishFailed:
		return why(v.Say("could not be delivered; it is tried again")), true
	case judge.EventFinished:
		if tests > 0 {
			return strings.TrimSpace(v.Say("finished after %d tests: %s", tests, d.Verdict)), false
		}
		return strings.TrimSpace(v.Say("finished: %s", d.Verdict)), false
	case judge.EventImported:
		return v.Say("came with its result, which was not judged here: %s", d.Verdict), false
	case judge.EventCancelled:
		text = by(v.Say("cancelled"))
		if d.Why != "" {
			text = v.Say("%s: %s", text, d.Why)
		}
		return text, false
	case judge.EventDead:
		return why(v.Say("given up after too many tries")), true
	case judge.EventApplied:
		text = v.Say("judged again with others (judging %d): %s", e.Generation, d.Verdict)
		if v.Staff() && d.By != "" {
			text = v.Say("%s, applied by %s", text, d.By)
		}
		return text, false
	case judge.EventRejudge:
		return by(v.Say("to be judged again (judging %d)", e.Generation)), false
	}
	return by(eventText(e.Kind, v)), false
}

// eventText says what happened, where nothing else need be said than by whom.
func eventText(kind judge.EventKind, v site.Viewer) string {
	//exhaustive:ignore
	switch kind {
	case judge.EventPromoted:
		return v.Say("the pause is over")
	case judge.EventRedelivered:
		return v.Say("nobody took it in time; it is delivered again")
	case judge.EventRestored:
		return v.Say("restored")
	case judge.EventMoved:
		return v.Say("moved in the queue")
	}
	return string(kind)
}

// afterText writes the time since the beginning.
func afterText(d time.Duration, v site.Viewer) string {
	if d < time.Minute {
		return v.Say("+%.2f s", d.Seconds())
	}
	if d < time.Hour {
		return v.Say("+%.1f min", d.Minutes())
	}
	return v.Say("+%.1f h", d.Hours())
}

// maxHistory bounds the events that a page reads.
const maxHistory = 20 * eventPage

// pastEvents returns the events of a job that somebody may see, as many as a page shows.
func (s *Room) pastEvents(ctx context.Context, v site.Viewer, jobID int64) (events []judge.Event, err error) {
	for after := int64(0); len(events) < maxHistory; after = events[len(events)-1].ID {
		page, err := s.seenEvents(ctx, v, jobID, after)
		if err != nil {
			return nil, err
		}
		events = append(events, page...)
		if len(page) < eventPage {
			break
		}
	}
	return events, nil
}
