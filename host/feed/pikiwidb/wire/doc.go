// Package wire is what a PikiwiDB (Pika) master and a replica of it say to each other, as bytes.
//
// There are two conversations, each on a port of its own: replication at the master's port plus [ReplicationSpan], and
// the copy of a dump at its port plus [CopySpan]. Both send frames, a length of four bytes, big-endian, and a message of
// protobuf (proto2) in it:
//
//	frame.go    frames
//	field.go    fields of messages, by protowire
//	request.go  what a replica asks for, and how it acknowledges
//	answer.go   what a master answers, and the binlog that it sends
//	copy.go     the copy of a dump, both sides
//	item.go     an item of the binlog: a head of 34 bytes and a command in the protocol of Redis
//
// Both sides are here, because a test plays the master. What is decoded is bounded by the frame that it came in; a
// message that lacks a required field, has one twice, or has one with a value that means nothing is refused.
package wire
