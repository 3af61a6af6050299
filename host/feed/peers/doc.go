// Package peers compares the change feed with what else brings events from PostgreSQL to Kafka.
//
// It is a module of its own, so that Deep-OJ does not depend on what it is compared with. All of it is tests: `make
// bench-feed` runs them. Those who are compared are processes of their own that drain the same backlog in turn: the feed,
// with every record fsynced in its write-ahead log; the usual way, which is the public parser pglogrepl with maps and
// encoding/json and the same Kafka client, without a log; and pg_recvlogical, which throws away what it receives and is
// the floor. The broker is a process, too, made anew for each.
//
// Of the environment, EVENTS is the length of a backlog, and AWAY how long Kafka is away, such as 5m.
//
//	roles_test.go       processes: the broker and the feed
//	usual_test.go       the usual way
//	house_test.go       PostgreSQL, its events, and children
//	throughput_test.go  backlogs
//	steady_test.go      lag at a steady rate, and Kafka away
package peers
