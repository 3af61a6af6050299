package judge

import (
	"errors"
	"fmt"
	"time"
)

// DefaultQueue and DefaultPool are the names that exist from the start.
const (
	DefaultQueue = "default"
	DefaultPool  = "default"
)

// The orders within a group of a queue.
const (
	FIFO = "fifo"
	LIFO = "lifo" // the newest first, unless an older one has waited for MaxWait
)

// Queue is how a queue behaves. Zero fields have the defaults of the queue "default".
type Queue struct {
	Name       string
	Paused     bool          // gives no work
	Ordering   string        // within one group: FIFO (default) or LIFO
	MaxWait    time.Duration // a job that waited longer keeps its place in a LIFO queue; default 15 minutes
	Spacing    time.Duration // step of a group's virtual clock; default 1 second
	Redeliver  time.Duration // deadline of a delivery that nobody claims; default 30 seconds
	MaxTries   int           // default 5
	GroupLimit int           // delivered or running jobs per group; 0 = no limit
	MaxBacklog int           // waiting jobs; 0 = no limit
}

// CoursePreset returns the settings for a course: everybody's newest submission
// first, and turns that are a minute apart.
func CoursePreset(name string) Queue {
	return Queue{Name: name, Ordering: LIFO, Spacing: time.Minute}
}

// Validate reports every field that is out of range.
func (q Queue) Validate() error {
	var errs []error
	if q.Name == "" {
		errs = append(errs, errors.New("Name is empty"))
	}
	if q.Ordering != "" && q.Ordering != FIFO && q.Ordering != LIFO {
		errs = append(errs, fmt.Errorf("Ordering %q is neither fifo nor lifo", q.Ordering))
	}
	for name, d := range map[string]time.Duration{"MaxWait": q.MaxWait, "Spacing": q.Spacing, "Redeliver": q.Redeliver} {
		if d < 0 {
			errs = append(errs, fmt.Errorf("%s %s is negative", name, d))
		}
	}
	for name, n := range map[string]int{"MaxTries": q.MaxTries, "GroupLimit": q.GroupLimit, "MaxBacklog": q.MaxBacklog} {
		if n < 0 {
			errs = append(errs, fmt.Errorf("%s %d is negative", name, n))
		}
	}
	return errors.Join(errs...)
}

// Waiting is a job that waits in a queue.
type Waiting struct {
	JobID     int64
	State     string // R ready, S scheduled, D delivered and not claimed
	Lane      Lane
	Priority  int32
	Rank      time.Time // its place among those of its lane and priority
	Since     time.Time
	NotBefore time.Time // it is not taken earlier
	Delayed   bool      // put back by hand
}

// QueueRow is an unfinished job in the queue, for staff.
type QueueRow struct {
	JobID     int64
	Kind      Kind
	Author    string
	Problem   string // "" for kinds without one
	Title     string // of the problem
	Language  string
	Lane      Lane
	Priority  int32
	State     string    // R ready, S scheduled, D delivered, L running
	Rank      time.Time // its turn within lane and priority
	NotBefore time.Time // it is not taken earlier
	Since     time.Time // when it began to wait
	Delayed   bool      // put back by hand
	AttemptID int32
	Tries     int32
	InSet     bool   // judged for a rejudge set
	Worker    string // who has it; "" unless it runs
	LastError string
}

// Shown returns the status as [Job.Shown] does.
func (r QueueRow) Shown() string {
	if r.State == "L" {
		return shown(Running, r.State, r.Tries)
	}
	return shown(Pending, r.State, r.Tries)
}

// QueueStats describes the queues for metrics.
type QueueStats struct {
	Lanes       map[Lane]int64 // waiting jobs by lane
	Pending     int64          // waiting jobs: ready or scheduled
	Delivered   int64          // delivered but not claimed
	Running     int64
	Oldest      time.Duration // age of the oldest unfinished job
	DeadLetters int64         // unresolved
	Judged      int64         // results of the last minute
}
