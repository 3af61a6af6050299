// Package kafka hands the feed's records to where they belong, in order: to Kafka, to a file of lines, or to standard
// output.
//
//	sink.go      what a sink is, and records
//	config.go    how Kafka is reached
//	producer.go  sends batches to Kafka
//	topics.go    what Kafka says of the topics, and those that are made
//	position.go  what a transaction says of how far the feed is
//	lines.go     files of lines, and standard output
package kafka

import "context"

// Record is what consumers get.
type Record struct {
	Topic      string
	Key, Value []byte
	ID         string // the event's, for dead letters
}

// Sink takes records in the order in which they are sent.
type Sink interface {
	// Open reaches the sink, which it does anew after an error. The position is that of the newest batch that the sink
	// has, where the sink itself keeps it, which only exactly-once delivery does; else it is nil.
	Open(ctx context.Context) (position []byte, err error)

	// Send hands over a batch and returns when the sink has all of it. After an error, a part of the batch may be there;
	// the sink is opened again, and gets the same batch.
	Send(ctx context.Context, batch []Record, position []byte) error

	// Close lets go of what is under way.
	Close() error
}

// FinalError is an error of a sink that does not end by waiting.
type FinalError struct{ Err error }

func (e *FinalError) Error() string { return e.Err.Error() }

// Unwrap returns what it is about.
func (e *FinalError) Unwrap() error { return e.Err }
