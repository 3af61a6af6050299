package judge

import (
	"strings"
	"time"
)

// Job is a job of any kind as people see it: who asked for it, where it stands and what came of it. What it was asked
// is with its kind: [Submission], [Run], [SetterJob].
type Job struct {
	JobID      int64
	Kind       Kind
	Queue      string
	Author     string // user name; "guest" for the loopback guest
	Status     Status
	QueueState string // R, S, D, L while unfinished, else ""
	Generation int32
	AttemptID  int32
	Tries      int32
	MaxTries   int32
	TraceID    string
	Created    time.Time
	Started    *time.Time
	Finished   *time.Time
	LastError  string  // see Withdrawal for one that was cancelled
	Result     *Result // of a submission's live generation, else of the newest; nil while there is none
}

// Standing returns the job itself, of whatever embeds it.
func (j *Job) Standing() *Job { return j }

// Shown returns the status as the HTTP API spells it: PENDING, DISPATCHED,
// RUNNING, RETRYING, FINISHED, CANCELLED or DEAD.
func (j *Job) Shown() string { return shown(j.Status, j.QueueState, j.Tries) }

func shown(status Status, queueState string, tries int32) string {
	switch {
	case status != Pending:
		return strings.ToUpper(string(status))
	case queueState == "D":
		return "DISPATCHED"
	case tries > 0:
		return "RETRYING"
	}
	return "PENDING"
}

// Verdict returns that of the result; "" while there is none.
func (j *Job) Verdict() Verdict {
	if j.Result == nil {
		return ""
	}
	return j.Result.Verdict
}

// Withdrawal says who cancelled a job, and why in their words, or "".
type Withdrawal struct{ By, Why string }

// Withdrawal returns who cancelled the job. It is zero for one that nobody cancelled,
// or that was cancelled before this was kept.
func (j *Job) Withdrawal() (w Withdrawal) {
	if j.Status == Cancelled {
		w.By, w.Why, _ = strings.Cut(j.LastError, "\n")
	}
	return w
}
