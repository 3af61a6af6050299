// Package wire is what clients of the sandbox and what runs as root say to each other:
// the words, the messages, and the sockets that carry them. What comes from a client is
// checked here and nowhere else, before anything is done with it.
//
//	words.go              verdicts, limits, results, errors, and where there is a sandbox
//	config.go             how an agent works: defaults, and the most that may be asked for
//	protocol.go           the line of the Judge JSON protocol
//	messages.go           requests and replies
//	codec.go              how they are written
//	socket_linux.go       one message on a socket
//	descriptors_linux.go  what the descriptors of a message may be
//	pack_linux.go         files in a memory file
//	conn_linux.go         a connection, as its client and as whoever answers has it
//	session_linux.go      what follows on a request, likewise
package wire
