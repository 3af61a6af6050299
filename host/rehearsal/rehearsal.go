// Package rehearsal hands a recorded contest in again, at its own times, with the verdicts of the record or to be judged: to try
// a server, a hall and those who run it before the day.
//
// With the verdicts of the record it is a worker: it claims what it has handed in, and no other worker does, as it is in a pool of
// its own.
package rehearsal

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"deepoj/host/contest"
	"deepoj/host/judge"
	"deepoj/host/restore"
	"deepoj/sql"
)

// Pool is where what is handed in waits that has a verdict already.
const Pool = "rehearsal"

// Config says how a contest is handed in again.
type Config struct {
	Round *judge.Round // in which: that of the contest afresh, with its clock
	Judge bool         // workers judge, in the place of the record

	// Tell is called now and then, and at the end. Nil = nobody is told.
	Tell func(Progress)
}

// Progress is how far a rehearsal is.
type Progress struct {
	At       time.Duration // contest time
	HandedIn int
	Judged   int // with the verdicts of the record
}

// run is a rehearsal that is under way.
type run struct {
	cfg   Config
	db    *sql.DB
	clock contest.Clock

	owner, token string
	jobs         map[int]int64 // that were handed in and have no verdict yet, by submission
	people       map[string]int64
	progress     Progress
	told         time.Time
}

// The pace of a rehearsal.
const (
	atOnce  = 100              // submissions in one statement
	lease   = 10 * time.Minute // far more than a verdict takes that is known
	telling = 5 * time.Second
	ending  = time.Minute // for what a stop has to wait for
)

// Run hands the contest in, step by step, until all is done or ctx ends. What it has handed in and not judged by then it
// withdraws.
func Run(ctx context.Context, db *sql.DB, c *restore.Contest, cfg Config) (Progress, error) {
	r := &run{
		cfg: cfg, db: db, clock: contest.ClockOf(cfg.Round), owner: "rehearsal-" + rand.Text()[:8], token: uuid(), jobs: map[int]int64{}, people: map[string]int64{},
	}
	for _, p := range c.Past.Participants {
		is, err := db.Rounds.Participant(ctx, cfg.Round.Space, p.Code)
		if err != nil {
			return r.progress, err
		}
		r.people[p.Code] = is.ID
	}
	err := r.steps(ctx, c)
	if !cfg.Judge {
		err = errors.Join(err, r.withdraw(ctx))
	}
	r.tell(true)
	return r.progress, err
}

// uuid is a random UUID, version 4 (RFC 9562).
func uuid() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// steps takes all steps, each at its time. Those of one kind that are due together are taken together.
func (r *run) steps(ctx context.Context, c *restore.Contest) error {
	steps := c.Steps()
	for i := 0; i < len(steps); {
		if err := r.wait(ctx, steps[i].At); err != nil {
			return err
		}
		now := r.clock.At(time.Now())
		n := i + 1
		for n < len(steps) && n-i < atOnce && steps[n].At <= now && (steps[n].Result == nil) == (steps[i].Result == nil) {
			n++
		}
		if err := r.take(ctx, c, steps[i:n]); err != nil {
			return err
		}
		r.progress.At = steps[n-1].At
		r.tell(false)
		i = n
	}
	return nil
}

// take takes steps of one kind. A stop lets them end: nobody could say which of them had been taken.
func (r *run) take(ctx context.Context, c *restore.Contest, steps []restore.Step) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), ending)
	defer cancel()
	if steps[0].Result == nil {
		return r.handIn(ctx, c, steps)
	}
	return r.judge(ctx, steps)
}

// wait waits until the contest time is at least d.
func (r *run) wait(ctx context.Context, d time.Duration) error {
	for {
		left := time.Until(r.clock.When(d))
		if left <= 0 {
			return context.Cause(ctx)
		}
		r.tell(false)
		timer := time.NewTimer(min(left, telling))
		select {
		case <-ctx.Done():
			timer.Stop()
			return context.Cause(ctx)
		case <-timer.C:
		}
	}
}

func (r *run) tell(last bool) {
	if r.cfg.Tell != nil && (last || time.Since(r.told) >= telling) {
		r.told = time.Now()
		r.progress.At = max(r.progress.At, r.clock.At(r.told))
		r.cfg.Tell(r.progress)
	}
}

func (r *run) handIn(ctx context.Context, c *restore.Contest, steps []restore.Step) error {
	pool := Pool
	if r.cfg.Judge {
		pool = ""
	}
	jobs := make([]sql.NewJob, len(steps))
	for i, step := range steps {
		s := &c.Past.Submissions[step.Submission]
		jobs[i] = sql.NewJob{
			Problem: s.Problem, Language: s.Language, Sources: s.Sources, Pool: pool, Round: r.cfg.Round.ID, Participant: r.people[s.Participant], At: r.clock.When(step.At),
		}
	}
	receipts, err := r.db.Site.SubmitMany(ctx, jobs)
	if err != nil {
		return fmt.Errorf("hand in what came at %v: %w", steps[0].At, err)
	}
	for i, step := range steps {
		r.jobs[step.Submission] = receipts[i].JobID
	}
	r.progress.HandedIn += len(steps)
	return nil
}

// judge gives submissions the verdicts of the record.
func (r *run) judge(ctx context.Context, steps []restore.Step) error {
	if r.cfg.Judge {
		return nil
	}
	results := map[int64]*judge.Result{}
	var ids []int64
	for _, step := range steps {
		id := r.jobs[step.Submission]
		ids, results[id] = append(ids, id), step.Result
	}
	claims, rejected, err := r.db.Queue.Claim(ctx, ids, r.owner, r.token, lease)
	if err != nil {
		return err
	}
	if len(rejected) > 0 {
		return fmt.Errorf("job %d: %w", rejected[0].JobID, &rejected[0])
	}
	for _, step := range steps {
		delete(r.jobs, step.Submission)
	}
	ends := make(chan error, len(claims))
	for _, claim := range claims {
		result := *results[claim.JobID]
		result.Worker = r.owner
		r.db.Queue.FinalizeThen(ctx, claim.Attempt, &result, nil, func(err error) { ends <- err })
	}
	for range claims {
		err = errors.Join(err, <-ends)
	}
	r.progress.Judged += len(claims)
	return err
}

// withdraw takes back what has no verdict in the record, also after a stop.
func (r *run) withdraw(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), ending)
	defer cancel()
	var errs []error
	for _, id := range r.jobs {
		errs = append(errs, r.db.Site.Withdraw(ctx, id, r.owner, "it has no verdict in the record"))
	}
	return errors.Join(errs...)
}
