// Package worker does the work of the queue: it receives tickets, claims their
// jobs, has them judged, and records the results.
//
// A ticket grants nothing. A worker owns a job from a successful claim until the
// database says otherwise, and proves every write with the attempt that the
// claim gave it. It renews its leases while it works; a lease that is lost stops
// the work at once, without a write and without an acknowledgement. When the
// database cannot be reached for as long as a lease lasts, the worker stops by
// its own clock, because another may have the job by then.
//
// A finished result is kept until the database has taken it or refused it, also
// over the end of the process when there is a folder for it. A
// message is acknowledged only after the commit that decided about its job. A
// failure of the platform is never a verdict: the job is given to another try,
// and a worker that is being stopped gives back what it cannot finish.
//
// The package knows neither sandbox nor plugins: judging is one function.
package worker
