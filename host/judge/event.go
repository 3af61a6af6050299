package judge

import (
	"encoding/json"
	"slices"
	"time"
)

// EventKind says what happened to a job.
type EventKind string

// What the queue tells of a job.
const (
	EventSubmitted     EventKind = "submitted"      // it was handed in
	EventDispatched    EventKind = "dispatched"     // it was given to a stream
	EventPublishFailed EventKind = "publish_failed" // the stream did not take it
	EventPromoted      EventKind = "promoted"       // the pause after a failure is over
	EventRedelivered   EventKind = "redelivered"    // nobody took it from the stream in time
	EventClaimed       EventKind = "claimed"        // a worker took it
	EventRetry         EventKind = "retry"          // the attempt failed on our side
	EventReleased      EventKind = "released"       // the worker gave it back
	EventWorkerLost    EventKind = "worker_lost"    // the worker said nothing for too long
	EventFinished      EventKind = "finished"       // it has a result
	EventImported      EventKind = "imported"       // it came with its result, which nobody judged here
	EventCancelled     EventKind = "cancelled"      // it was withdrawn
	EventRestored      EventKind = "restored"       // that was taken back
	EventDead          EventKind = "dead"           // it was given up
	EventRejudge       EventKind = "rejudge"        // it is to be judged again
	EventApplied       EventKind = "applied"        // the result of a rejudge set became its own
	EventMoved         EventKind = "moved"          // it has another place in the queue
)

// What the attempt that is under way tells of its work: see [Progress].
const (
	EventCompiled EventKind = "compiled"
	EventTest     EventKind = "test"
	EventFinding  EventKind = "finding"
	EventStage    EventKind = "stage"
)

// EventKinds returns every kind of event, in about the order in which they happen.
func EventKinds() []EventKind {
	return []EventKind{
		EventSubmitted, EventDispatched, EventPublishFailed, EventPromoted, EventRedelivered, EventClaimed,
		EventCompiled, EventTest, EventFinding, EventStage,
		EventRetry, EventReleased, EventWorkerLost, EventFinished, EventImported, EventCancelled, EventRestored, EventDead,
		EventRejudge, EventApplied, EventMoved,
	}
}

// Progress reports whether the kind is a step of an attempt, which workers tell.
func (k EventKind) Progress() bool {
	//exhaustive:ignore
	switch k {
	case EventCompiled, EventTest, EventFinding, EventStage:
		return true
	}
	return false
}

// Status returns the status that a job has after an event of this kind; most kinds change none, and return "".
func (k EventKind) Status() Status {
	//exhaustive:ignore
	switch k {
	case EventSubmitted, EventRetry, EventReleased, EventWorkerLost, EventRejudge, EventRestored:
		return Pending
	case EventClaimed:
		return Running
	case EventFinished, EventImported:
		return Finished
	case EventCancelled:
		return Cancelled
	case EventDead:
		return Dead
	}
	return ""
}

// Event is one transition or step of a job, as the live page sees it.
type Event struct {
	ID         int64           `json:"id"`
	JobID      int64           `json:"job_id"`
	Generation int32           `json:"generation"`
	AttemptID  int32           `json:"attempt_id"`
	Kind       EventKind       `json:"kind"`
	Data       json.RawMessage `json:"data,omitempty"`
	At         time.Time       `json:"at"`
}

// StatusAfter returns the status of a job to which these events have happened, in this order.
func StatusAfter(events []Event) (status Status) {
	for _, e := range slices.Backward(events) {
		if status = e.Kind.Status(); status != "" {
			break
		}
	}
	return status
}

// Progress is what judging reports while it works; the worker stores it as events
// of its kind, one of those that [EventKind.Progress] names.
type Progress struct {
	Kind    EventKind
	Compile *Compile        // with EventCompiled
	Test    *TestResult     // with EventTest
	Total   int             // number of tests that will be judged, where known
	Finding json.RawMessage // with EventFinding and EventStage: JSON that the job's kind defines
}
