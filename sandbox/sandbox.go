// Package sandbox runs one command under limits and says what it used and how it ended.
//
// It speaks of commands, never of contests: a run is OK, or it hit a limit (TLE, MLE, OLE), or it failed (RE), or the
// platform failed (SE). Whether an output is right is somebody else's business.
//
// A root process, the agent, keeps rooms ready: locked threads that already live in their own namespaces, root file
// system and control groups. A client ([Dial], [Client], [Box]) needs no privilege. It hands over descriptors and
// relative names only; every path of the host is opened by the agent from its own configuration.
//
// This package is all that a client needs. What runs as root is in packages below
// internal, which only package oneshot reaches: it starts the agent.
//
// README.md in this folder is the threat model: what is defended, against whom, by which layer, and what is not.
package sandbox

import "os"

// Cmd is one command to run in a [Box]. Exactly one of Tool and Program is set.
// All of Args, Env and the names together may have 128 KiB.
type Cmd struct {
	// Tool is a logical name such as "g++"; the agent knows where it is.
	Tool string

	// Program is a path relative to the working directory /box, such as "./main", or an absolute path in the box.
	Program string

	// Args are the arguments after the program's name.
	Args []string

	// Env are additions to the environment as KEY=value. The environment holds PATH, HOME=/tmp and LANG=C.UTF-8 by
	// itself, which entries may replace, and nothing of the host's.
	Env []string

	// Stdin is what the program reads; nil is empty. A file or memfd is read from offset 0 (also by several runs at
	// once), a pipe is handed to the program as it is.
	Stdin *os.File

	// Stdout and Stderr receive what the program writes, up to StdoutLimit and StderrLimit, from the file's current
	// offset. They may be files, memfds or pipes. Neither these nor Stdin may be a folder, a device, a socket, or a
	// file that the kernel makes up, such as those of /proc. Nil counts the bytes and drops them.
	Stdout, Stderr *os.File

	// StdoutLimit and StderrLimit are how many bytes are kept; draining goes on beyond. Default: 256 KiB and 1 MiB;
	// negative: everything, which Limits.OutputBytes bounds.
	StdoutLimit, StderrLimit int64

	// ExtraTools are logical names of more tools that must be readable and
	// found on PATH, such as "gcc" for rustc's linker.
	ExtraTools []string

	// Limits bound the run.
	Limits Limits
}

// PairResult is the outcome of two programs that talk to each other.
type PairResult struct {
	A, B Result

	// FirstA reports whether A's program ended first. Where somebody hears them, one that
	// fails within [SameMoment] of its last words did not if B's ends as soon after that.
	FirstA bool
}
