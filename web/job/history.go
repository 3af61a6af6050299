package job

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"deepoj/host/judge"
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
		line := historyLine{At: e.At, After: afterText(e.At.Sub(begin))}
		line.Text, line.Trouble = tell(e, readEvent(e), tests, v)
		trouble = trouble || line.Trouble || e.Kind == judge.EventRejudge || e.Kind == judge.EventApplied
		lines = append(lines, line)
	}
	return lines, trouble
}

// tell puts one event into words. Tests is how many the attempt had judged.
func tell(e judge.Event, d eventData, tests int, v site.Viewer) (text string, trouble bool) {
	staff := func(format, arg string) string {
		if !v.Staff() || arg == "" {
			return ""
		}
		return fmt.Sprintf(format, arg)
	}
	judged := ""
	if tests > 0 {
		judged = " after " + site.Plural(tests, "test", "tests")
	}
	//exhaustive:ignore
	switch e.Kind {
	case judge.EventSubmitted:
		return "handed in", false
	case judge.EventDispatched:
		return "delivered", false
	case judge.EventClaimed:
		return fmt.Sprintf("attempt %d: claimed by a worker", e.AttemptID) + staff(" (%s)", d.Worker), false
	case judge.EventCompiled:
		if d.Compile != nil && !d.Compile.OK {
			return fmt.Sprintf("attempt %d: did not compile", e.AttemptID), false
		}
		if d.Compile != nil && d.Compile.Usage.CPU() > 0 {
			return fmt.Sprintf("attempt %d: compiled with %s of CPU time", e.AttemptID, judge.TimeText(d.Compile.Usage.CPU())), false
		}
		return fmt.Sprintf("attempt %d: ready to run", e.AttemptID), false
	case judge.EventRetry:
		return fmt.Sprintf("attempt %d: failed on our side%s; it is tried again", e.AttemptID, judged) + staff(": %s", d.Error), true
	case judge.EventReleased:
		return fmt.Sprintf("attempt %d: given back to the queue%s", e.AttemptID, judged) + staff(": %s", d.Error), false
	case judge.EventWorkerLost:
		return fmt.Sprintf("attempt %d: the worker was lost%s; it is tried again", e.AttemptID, judged), true
	case judge.EventPublishFailed:
		return "could not be delivered; it is tried again" + staff(": %s", d.Error), true
	case judge.EventFinished:
		return strings.TrimSpace(fmt.Sprintf("finished%s: %s", judged, d.Verdict)), false
	case judge.EventCancelled:
		text = "cancelled" + staff(" by %s", d.By)
		if d.Why != "" {
			text += ": " + d.Why
		}
		return text, false
	case judge.EventDead:
		return "given up after too many tries" + staff(": %s", d.Error), true
	case judge.EventApplied:
		return fmt.Sprintf("judged again with others (judging %d): %s", e.Generation, d.Verdict) + staff(", applied by %s", d.By), false
	case judge.EventRejudge:
		return fmt.Sprintf("to be judged again (judging %d)", e.Generation) + staff(" by %s", d.By), false
	}
	return eventText(e.Kind) + staff(" by %s", d.By), false
}

// eventText says what happened, where nothing else need be said than by whom.
func eventText(kind judge.EventKind) string {
	//exhaustive:ignore
	switch kind {
	case judge.EventPromoted:
		return "the pause is over"
	case judge.EventRedelivered:
		return "nobody took it in time; it is delivered again"
	case judge.EventRestored:
		return "restored"
	case judge.EventMoved:
		return "moved in the queue"
	}
	return string(kind)
}

// afterText writes the time since the beginning.
func afterText(d time.Duration) string {
	if d < time.Minute {
		return fmt.Sprintf("+%.2f s", d.Seconds())
	}
	if d < time.Hour {
		return fmt.Sprintf("+%.1f min", d.Minutes())
	}
	return fmt.Sprintf("+%.1f h", d.Hours())
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
