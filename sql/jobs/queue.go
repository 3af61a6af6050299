// Package jobs is the queue in PostgreSQL: it delivers jobs that were stored, has workers earn attempts of them, and
// decides whose result counts.
//
// A worker earns the right to write a verdict by claiming an attempt here and keeps it only while that attempt is the
// newest and its lease is alive by the database's clock (see [Queue.Finalize]). A job that is not finished has exactly
// one queue row and a finished one has none; [Queue.Audit] proves it at any moment.
//
// Dispatcher, workers and sweepers use it. Who hands jobs in and steers them does so in package sql, on the same database,
// and cannot reach what is here.
//
// Its files:
//
//	queue.go     the queue
//	outbox.go    picks jobs for the streams, and makes them ready
//	delivery.go  hands out work without Redis
//	shard.go     which dispatcher holds which shard
//	claim.go     makes attempts
//	fence.go     which attempts may write, and why others may not
//	finalize.go  records results, and attempts without one
//	reap.go      takes jobs from lost workers
//	rejudge.go   starts new generations
//	workers.go   workers that live, and the languages that they offer
//	retire.go    deletes what need not be kept
//	slots.go     what the server keeps for change feeds
//	audit.go     counts violations of the protocol, and what waits
package jobs

import (
	"context"
	"sync"
	"time"

	"deepoj/sql/internal/pg"
)

// ChannelOutbox tells that work is waiting: see [Queue.Listen].
const ChannelOutbox = pg.ChannelOutbox

// Queue delivers jobs, and decides about their attempts. It is safe for concurrent use.
type Queue struct {
	db      *pg.DB
	grouped sync.Map // queue → until when it is taken to look at groups
	finals  pg.Coalescer[final, struct{}]
}

// New returns the queue in the database.
func New(db *pg.DB) *Queue {
	q := &Queue{db: db}
	q.finals = pg.Coalescer[final, struct{}]{Do: q.finalizeTogether, Lanes: 2, Limit: 256, Time: 10 * time.Second}
	return q
}

// Listen calls fn for what is sent on channel, by this process or another, until
// ctx ends; then it returns nil. It calls fn("") after every (re)connect.
func (q *Queue) Listen(ctx context.Context, channel string, fn func(payload string)) error {
	return q.db.Listen(ctx, channel, fn)
}
