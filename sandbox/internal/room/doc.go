// Package room makes rooms and runs programs in them: the namespaces, the root and the
// control groups of one box, and the thread that lives there.
//
//	host_linux.go      what all rooms of a process share
//	room_linux.go      the life of a room
//	thread_linux.go    its thread, from before there is the room
//	reaper_linux.go    the first process of its namespace
//	session_linux.go   what its client asks
//	move_linux.go      how a session goes on in another room
//	files_linux.go     what is put and collected
//	show_linux.go      tool chains that are shown
//	share_linux.go     what a box may keep in memory
//	run_linux.go       the start of a program
//	limits_linux.go    its limits, and those of this process
//	priority_linux.go  who goes before programs
//	counter_linux.go   its process id
//	input_linux.go     what it reads
//	drain_linux.go     what it writes
//	pool_linux.go      streams made in advance
//	watch_linux.go     its end
//	clean_linux.go     what is done after it
//	once_linux.go      a room for only one run
package room
