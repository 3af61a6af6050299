// Package worker does the work of the queue: it receives tickets, claims their
// jobs, has them judged, and records the results.
//
// A ticket grants nothing. A worker owns a job from a successful claim until the database says otherwise, and proves
// every write with the attempt that the claim gave it. It renews its leases while it works; a lease that is lost stops
// the work at once, without a write and without an acknowledgement. When the database cannot be reached for as long as
// a lease lasts, the worker stops by its own clock, because another may have the job by then.
//
// A finished result is kept until the database has taken it or refused it, also over the end of the process when there
// is a folder for it. A message is acknowledged only after the commit that decided about its job. A failure of the
// platform is never a verdict: the job is given to another try, and a worker that is being stopped gives back what it
// cannot finish.
//
// The package knows neither sandbox nor plugins: judging is one function.
//
// Its files:
//
//	worker.go    receives tickets and has them worked on
//	slots.go     who has a slot, who waits for one, and how much more is asked for
//	config.go    its configuration, and what it asks of database, queue and judge
//	claim.go     makes jobs its own
//	run.go       a claimed job on its way to a result
//	progress.go  what is reported of a run meanwhile
//	finish.go    results, failures, and what is given back
//	journal.go   results that the database has not answered yet
//	fit.go       needs, without which it takes no jobs
//	beat.go      heartbeats: of jobs, and of the worker
//	metrics.go   figures
package worker
