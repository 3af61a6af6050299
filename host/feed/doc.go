// Package feed moves what a source tells into a sink: through a write-ahead log, in order and without a hole.
//
// Sessions with the source append what comes to the log, and never wait for the sink. A reader brings what is durable
// from the log to workers, which make events of it; a ring puts those back into order; and one sender sends them. What
// the source told after a snapshot began waits in the log until the snapshot is out. The source is acknowledged what is
// durable, and the log keeps what the checkpoint does not say to be in the sink.
//
//	source.go   what a source is
//	options.go  what a feed is told
//	setup.go    makes that of an operator's settings
//	feed.go     runs a feed
//	resume.go   finds out how far it had come
//	session.go  receives from the source
//	pause.go    between two tries
//	queue.go    a snapshot on its way from the source to the sender
//	gate.go     what has to wait for a snapshot
//	stream.go   from the log over the workers to the ring
//	budget.go   bounds the bytes on that way
//	sender.go   sends
//	status.go   how a feed is
//	watch.go    says it in the log
//	metrics.go  says it to Prometheus
package feed
