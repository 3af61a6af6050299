package judging

import (
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"deepoj/host/judging/jury"
	"deepoj/host/plugin"
	"deepoj/sandbox"
)

// conversation is what came of a program and its interactor.
type conversation struct {
	ran  sandbox.Result // empty if the program was ended because nothing depended on it any more
	said plugin.Judgement

	// first says that the program was first to end. One that fails at the moment at
	// which its last words are rejected was not.
	first bool
}

// settled reports whether the interactor has rejected before the program's end.
func (c conversation) settled() bool { return jury.Rejects(c.said.Opinion) && !c.first }

// unnoticed is how long after the end of its words the end of a program may be seen.
// One that goes on for longer has only closed its output.
const unnoticed = 250 * time.Millisecond

// programFirst reports whether the program ended before an interactor that is a plugin.
func programFirst(ran sandbox.Result, said plugin.Judgement) bool {
	switch {
	case ran.Verdict == "":
		return false
	case said.HeardEnd > 0 && ran.Ended < said.HeardEnd+unnoticed:
		return true
	case ran.Verdict == sandbox.RE && ran.Ended < said.Heard+sandbox.SameMoment:
		return ran.Ended+sandbox.SameMoment < said.Ended
	}
	return ran.Ended < said.Ended
}

// leftover hears what a program says when its interactor has ended, so that the program
// neither waits for somebody to listen nor fails because nobody does.
type leftover struct{ f *os.File } // another descriptor of what the interactor reads

// keep makes a leftover of the end of a pipe that the interactor will read.
func keep(from *os.File) (*leftover, error) {
	raw, err := from.SyscallConn()
	fd := -1
	if err == nil {
		var inner error
		err = raw.Control(func(own uintptr) { fd, inner = unix.FcntlInt(own, unix.F_DUPFD_CLOEXEC, 0) })
		err = errors.Join(err, inner)
	}
	if err != nil {
		return nil, fmt.Errorf("join a program and its interactor: %w", err)
	}
	return &leftover{os.NewFile(uintptr(fd), "leftover")}, nil
}

// close lets the program learn that nobody listens.
func (l *leftover) close() error {
	if err := l.f.Close(); !errors.Is(err, os.ErrClosed) {
		return err
	}
	return nil
}

// hear hears the program to its end. If it says more than limit, much is called.
func (l *leftover) hear(limit int64, much func()) {
	b := make([]byte, 32<<10)
	for heard := int64(0); heard <= limit; {
		n, err := l.f.Read(b)
		heard += int64(n)
		if err != nil {
			return
		}
	}
	much()
}
