// Package peers compares the queue with River and asynq.
//
// It is a module of its own, so that Deep-OJ depends on neither. All of it is
// tests: `make bench-queue` runs them. Ours is the real protocol (package sql,
// the worker and the dispatcher) with a judge that does nothing; the others are
// used as their documentation says, with the fastest calls they have. Of the
// environment, ONLY names the contestants that take part, STATEMENTS=1 prints
// what each SQL statement cost, and BACKLOG is the length of the long queue.
package peers
