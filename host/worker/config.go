package worker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"deepoj/host/blob"
	"deepoj/host/judge"
	"deepoj/host/telemetry"
)

// Config says who a worker is and at which pace it works. Only Name and Languages are required.
type Config struct {
	// Name is the worker's name (WORKER_ID). A random boot id is appended, so
	// that twins, and one after the other, are never taken for each other.
	Name string

	// Pool is the pool it serves (WORKER_POOL). Defaults to "default".
	Pool string

	// Version of the program, for the list of workers.
	Version string

	// Calibration is how fast a core of this machine is, for the list of workers.
	Calibration float64

	// Slots is how many jobs are judged at once. Defaults to 1.
	Slots int

	// Lease is how long a claim lasts without a heartbeat (JOB_LEASE_SEC), at
	// least three heartbeats. Defaults to 60 seconds.
	Lease time.Duration

	// Heartbeat is the time between two renewals (JOB_HEARTBEAT_SEC). Defaults to 10 seconds.
	Heartbeat time.Duration

	// Grace is how long a stopping worker may go on with what it has begun;
	// then it gives it back. Defaults to 20 seconds.
	Grace time.Duration

	// ReceiveWait is how long one question for work waits. Defaults to 1 second.
	ReceiveWait time.Duration

	// ProgressEvery is how long the result of a single test waits at most
	// until it is stored. Defaults to 100 milliseconds.
	ProgressEvery time.Duration

	// BeatEvery is the time between two signs of life. Defaults to 3 seconds.
	BeatEvery time.Duration

	// ProbeEvery is the time between two looks at the tool chains, the
	// sandbox and all other needs. Defaults to 1 minute.
	ProbeEvery time.Duration

	// Languages returns what can be judged here. It is asked at the start,
	// every ProbeEvery, and when a tool turned out to be missing. Required.
	Languages func(ctx context.Context) []judge.Language

	// Compilers returns which sources of plugins can be compiled here, as far as that is
	// known, at once. Defaults to nothing known.
	Compilers func() []judge.Language

	// Sandbox is the need that every worker has: it runs something and returns a line about the sandbox for people,
	// or says why nothing can be run. Defaults to always well.
	Sandbox func(ctx context.Context) (string, error)

	// Needs are what judging needs besides, each of which may be away for a while. They are probed at the start,
	// every ProbeEvery, and when a job could not be judged, unless they are spare. Defaults to none.
	Needs []Need

	// Passing reports whether a job may have failed because something that judging needs was lost for a moment:
	// then it is judged once more at once. Defaults to never.
	Passing func(error) bool

	// Others execute the kinds of jobs that are not submissions. A job of a kind that is not here fails, and is
	// dead after its last try. Defaults to none.
	Others map[judge.Kind]Execute

	// Context adds the ids of a job to the context of its judging, for logs. Defaults to the context as it is.
	Context func(ctx context.Context, job judge.Claim) context.Context

	// Tracer makes the spans of attempts. Defaults to none.
	Tracer *telemetry.Tracer

	// Journal is a folder in which results are kept that the database has neither taken nor refused yet, so that
	// they survive this process (JOURNAL_DIR). Defaults to none: they are kept in memory.
	Journal string

	// Claimed is called after jobs were claimed: there is room in the queue. Defaults to nothing.
	Claimed func()

	// Log gets every refusal and failure. Defaults to none.
	Log *slog.Logger

	// Registerer gathers the figures. Defaults to none.
	Registerer prometheus.Registerer
}

// Execute does what a job asks for. Errors mean what those of a [Judger] mean.
type Execute func(ctx context.Context, job judge.Claim, progress func(judge.Progress)) (judge.Result, error)

// Validate reports every field that is missing or out of range.
func (c Config) Validate() error {
	var errs []error
	if c.Name == "" {
		errs = append(errs, errors.New("Name is empty"))
	}
	if c.Languages == nil {
		errs = append(errs, errors.New("Languages is missing"))
	}
	if c.Slots < 0 {
		errs = append(errs, fmt.Errorf("Slots %d is negative", c.Slots))
	}
	for _, d := range []struct {
		name  string
		value time.Duration
	}{
		{"Lease", c.Lease},
		{"Heartbeat", c.Heartbeat},
		{"Grace", c.Grace},
		{"ReceiveWait", c.ReceiveWait},
		{"ProgressEvery", c.ProgressEvery},
		{"BeatEvery", c.BeatEvery},
		{"ProbeEvery", c.ProbeEvery},
	} {
		if d.value < 0 {
			errs = append(errs, fmt.Errorf("%s %s is negative", d.name, d.value))
		}
	}
	if d := c.withDefaults(); d.Lease < 3*d.Heartbeat {
		errs = append(errs, fmt.Errorf("Lease %s is shorter than three heartbeats of %s", d.Lease, d.Heartbeat))
	}
	return errors.Join(errs...)
}

func (c Config) withDefaults() Config {
	setDefault(&c.Pool, "default")
	setDefault(&c.Slots, 1)
	setDefault(&c.Lease, time.Minute)
	setDefault(&c.Heartbeat, 10*time.Second)
	setDefault(&c.Grace, 20*time.Second)
	setDefault(&c.ReceiveWait, time.Second)
	setDefault(&c.ProgressEvery, 100*time.Millisecond)
	setDefault(&c.BeatEvery, 3*time.Second)
	setDefault(&c.ProbeEvery, time.Minute)
	if c.Sandbox == nil {
		c.Sandbox = func(context.Context) (string, error) { return "", nil }
	}
	if c.Passing == nil {
		c.Passing = func(error) bool { return false }
	}
	if c.Context == nil {
		c.Context = func(ctx context.Context, _ judge.Claim) context.Context { return ctx }
	}
	if c.Claimed == nil {
		c.Claimed = func() {}
	}
	c.Log = cmp.Or(c.Log, slog.New(slog.DiscardHandler))
	return c
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// Store is what a worker asks of the database; in production a Queue of the package jobs answers.
type Store interface {
	Claim(ctx context.Context, ids []int64, owner, token string, lease time.Duration) ([]judge.Claim, []judge.RejectedError, error)
	Held(ctx context.Context, owner, token string) ([]judge.Attempt, error)
	Heartbeat(ctx context.Context, attempts []judge.Attempt, lease time.Duration) ([]int64, error)
	Progress(ctx context.Context, a judge.Attempt, ps []judge.Progress) error
	Finalize(ctx context.Context, a judge.Attempt, r judge.Result, last ...judge.Progress) error
	FinalizeThen(ctx context.Context, a judge.Attempt, r *judge.Result, last []judge.Progress, then func(error))
	Fail(ctx context.Context, a judge.Attempt, why string, counts bool) (judge.Status, error)
	Bury(ctx context.Context, a judge.Attempt, reason judge.Reason, detail string) error
	Malformed(ctx context.Context, jobID int64, reason judge.Reason) error
	OfferLanguages(ctx context.Context, languages []judge.Language) error
}

// Judger judges a submission on a version of its problem. An error is a failure of the platform and never the
// contestant's: the job is tried again, which counts unless the error is [ErrNotHere], or something that the worker
// needs is away. Judge returns soon after its context has ended.
type Judger interface {
	Judge(ctx context.Context, p judge.Payload, version blob.Digest, progress func(judge.Progress)) (judge.Result, error)
}

// Directory is where a worker says that it lives.
type Directory interface {
	Beat(ctx context.Context, w judge.WorkerInfo) error
	Gone(ctx context.Context, name string) error
}

// ErrNotHere marks a job that this worker cannot judge though another may: its tool chain is missing or has vanished.
// The job is given back without counting a try, and the worker looks again at what it is able to do. An error of a
// [Judger] says so with a method NotHere() bool.
var ErrNotHere = errors.New("cannot be judged on this worker")

// notHere reports whether err says that another worker may succeed.
func notHere(err error) bool {
	if errors.Is(err, ErrNotHere) {
		return true
	}
	e, ok := errors.AsType[interface {
		error
		NotHere() bool
	}](err)
	return ok && e.NotHere()
}
