// Package scheduler moves jobs from the database to the workers, and back when a worker or the queue loses them.
//
// A [Dispatcher] publishes ready jobs in the order of the queue, a small window at a time, so that the order is decided
// late and little can be lost. A [Reclaimer] takes jobs from workers whose lease ran out. A [Redriver] makes jobs ready
// whose time has come, and those again that were delivered and never claimed. A [Switch] delivers over Redis streams
// while Redis answers and straight from PostgreSQL while it does not. A [Retirer] deletes what need not be kept any
// longer. An [Observer] measures all of it.
//
// Any number of each may run at once, in one process or in several: every step is one statement that skips what another
// one holds. None of them decides about a verdict, and none loses a job by stopping at any moment.
//
// Its files:
//
//	dispatcher.go  jobs to streams
//	notes.go       where jobs lie in streams, for people
//	window.go      how many may be there at a time, and which shards a dispatcher holds
//	reclaimer.go   jobs of lost workers
//	redriver.go    jobs whose time has come, and lost deliveries
//	switch.go      streams or PostgreSQL
//	retirer.go     what need not be kept
//	slots.go       what the database keeps for change feeds
//	observer.go    what is measured, and what of the steps is counted
package scheduler

import (
	"deepoj/queue"
	"deepoj/sql/jobs"
)

// The production implementations of the seams.
var (
	_ Outbox        = (*jobs.Queue)(nil)
	_ Reaper        = (*jobs.Queue)(nil)
	_ Redelivery    = (*jobs.Queue)(nil)
	_ Figures       = (*jobs.Queue)(nil)
	_ Retention     = (*jobs.Queue)(nil)
	_ Streams       = (*queue.Streams)(nil)
	_ Cleaner       = (*queue.Streams)(nil)
	_ StreamFigures = (*queue.Streams)(nil)
)
