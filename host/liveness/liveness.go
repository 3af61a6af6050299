// Package liveness says which workers are alive.
//
// The default keeps the answer in PostgreSQL, which the workers need anyway; [Etcd] keeps it in etcd, where there are
// many workers. Nothing is decided by liveness: a lease in package jobs says who may write a verdict, and liveness says
// only whom to count on for new work.
package liveness

import (
	"context"
	"time"

	"deepoj/host/judge"
	"deepoj/sql/jobs"
)

// DefaultAge is how long ago a live worker was seen at most: three missed beats of the default pace and a bit.
const DefaultAge = 10 * time.Second

// Directory is where workers say that they live.
type Directory interface {
	// Beat records that a worker lives, and what it is able to do.
	Beat(ctx context.Context, w judge.WorkerInfo) error

	// Gone forgets a worker that stopped in order.
	Gone(ctx context.Context, name string) error

	// Workers returns the workers that live.
	Workers(ctx context.Context) ([]judge.WorkerInfo, error)
}

// Postgres is a [Directory] in the database: a worker lives as long as its
// newest beat is young by the database's clock.
type Postgres struct {
	queue *jobs.Queue
	age   time.Duration
}

// NewPostgres returns the directory in the database of queue. A worker lives that was seen within age; 0 means
// [DefaultAge].
func NewPostgres(queue *jobs.Queue, age time.Duration) *Postgres {
	if age <= 0 {
		age = DefaultAge
	}
	return &Postgres{queue: queue, age: age}
}

// Beat implements [Directory].
func (p *Postgres) Beat(ctx context.Context, w judge.WorkerInfo) error {
	return p.queue.WorkerBeat(ctx, w)
}

// Gone implements [Directory].
func (p *Postgres) Gone(ctx context.Context, name string) error {
	return p.queue.WorkerGone(ctx, name)
}

// Workers implements [Directory].
func (p *Postgres) Workers(ctx context.Context) ([]judge.WorkerInfo, error) {
	return p.queue.Workers(ctx, p.age)
}
