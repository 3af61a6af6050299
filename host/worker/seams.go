package worker

import (
	"context"
	"errors"
	"time"

	"deepoj/host/blob"
	"deepoj/host/judge"
)

// Store is what a worker asks of the database; in production a Store of the package sql answers.
type Store interface {
	Claim(ctx context.Context, ids []int64, owner, token string, lease time.Duration) ([]judge.Claim, []judge.RejectedError, error)
	Held(ctx context.Context, owner, token string) ([]judge.Attempt, error)
	Heartbeat(ctx context.Context, attempts []judge.Attempt, lease time.Duration) ([]int64, error)
	Progress(ctx context.Context, a judge.Attempt, ps []judge.Progress) error
	Finalize(ctx context.Context, a judge.Attempt, r judge.Result) error
	FinalizeThen(ctx context.Context, a judge.Attempt, r *judge.Result, then func(error))
	Fail(ctx context.Context, a judge.Attempt, why string, counts bool) (judge.Status, error)
	Bury(ctx context.Context, a judge.Attempt, reason judge.Reason, detail string) error
	Malformed(ctx context.Context, jobID int64, reason judge.Reason) error
	OfferLanguages(ctx context.Context, languages []judge.Language) error
}

// Judger judges a submission on a version of its problem. An error is a failure
// of the platform and never the contestant's: the job is tried again, which
// counts unless the error is [ErrNotHere], or something that the worker needs is away. Judge returns soon after its context
// has ended.
type Judger interface {
	Judge(ctx context.Context, p judge.Payload, version blob.Digest, progress func(judge.Progress)) (judge.Result, error)
}

// Directory is where a worker says that it lives.
type Directory interface {
	Beat(ctx context.Context, w judge.WorkerInfo) error
	Gone(ctx context.Context, name string) error
}

// ErrNotHere marks a job that this worker cannot judge though another may: its
// tool chain is missing or has vanished. The job is given back without counting
// a try, and the worker looks again at what it is able to do. An error of a
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
