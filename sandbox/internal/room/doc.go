// Package room makes rooms and runs programs in them: the namespaces, the root and the
// control groups of one box, and the thread that lives there.
//
//	host_linux.go      what all rooms of a process share
//	room_linux.go      the life of a room
//	thread_linux.go    its thread, from before there is the room, and the first process of its namespace
//	network_linux.go   its network namespace
//	session_linux.go   what its client asks
//	move_linux.go      how a session goes on in another room
//	files_linux.go     what is put and collected
//	show_linux.go      tool chains that are shown, and what a box may keep in memory
//	run_linux.go       the start of a program
//	limits_linux.go    the limits of a program, those of this process, who goes first, and process ids
//	drain_linux.go     what it writes
//	pool_linux.go      streams made in advance, and what a program reads
//	watch_linux.go     its end
//	memory_linux.go    its memory, for people
//	clean_linux.go     what is done after it
//	once_linux.go      a room for only one run
package room
