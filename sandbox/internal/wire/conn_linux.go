package wire

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// FindTool asks where the tool with a logical name is. The error is [ErrNoTool] when
// there is none.
func (l Conn) FindTool(ctx context.Context, name string) (Tool, error) {
	r, files, err := l.Ask(ctx, Request{Op: OpTool, Tool: name})
	CloseAll(files)
	if err != nil {
		return Tool{}, fmt.Errorf("look up the tool %s: %w", name, err)
	}
	if r.Tool == nil {
		return Tool{}, errors.New("the sandbox agent sent no tool")
	}
	return *r.Tool, nil
}

// Conn is a connection on which each request brings a session of its own.
type Conn struct{ File *os.File }

// Ask makes one request and waits for the answer.
func (l Conn) Ask(ctx context.Context, q Request) (Reply, []*os.File, error) {
	s, err := l.Dial(q)
	if err != nil {
		return Reply{}, nil, err
	}
	r, files, err := s.Receive(ctx)
	if err := errors.Join(err, s.Conn.Close()); err != nil {
		CloseAll(files)
		return Reply{}, nil, err
	}
	return r, files, nil
}

// Dial sends q, with one end of a new session and files, and returns the other
// end.
func (l Conn) Dial(q Request, files ...*os.File) (*Session, error) {
	ours, theirs, err := SocketPair()
	if err != nil {
		return nil, err
	}
	defer unix.Close(theirs)
	s, err := NewSession(ours)
	if err != nil {
		return nil, err
	}
	var sent error
	fds, err := Descriptors(files)
	if err == nil {
		var raw syscall.RawConn
		if raw, err = l.File.SyscallConn(); err == nil {
			err = raw.Control(func(fd uintptr) { sent = send(int(fd), q, append([]int{theirs}, fds...)...) })
		}
	}
	if err := errors.Join(err, sent); err != nil {
		_ = s.Conn.Close() // nothing was sent
		if errors.Is(err, syscall.EPIPE) || errors.Is(err, os.ErrClosed) || errors.Is(err, syscall.ECONNREFUSED) {
			err = ErrAgentGone
		}
		return nil, err
	}
	return s, nil
}

// Descriptors returns the descriptors of files, which must stay open.
func Descriptors(files []*os.File) ([]int, error) {
	fds := make([]int, len(files))
	for i, f := range files {
		raw, err := f.SyscallConn()
		if err == nil {
			err = raw.Control(func(fd uintptr) { fds[i] = int(fd) })
		}
		if err != nil {
			return nil, fmt.Errorf("pass %s: %w", f.Name(), err)
		}
	}
	return fds, nil
}

// Alive reports whether the other end is still there.
func (l Conn) Alive() bool {
	alive := false
	raw, err := l.File.SyscallConn()
	if err == nil {
		err = raw.Control(func(fd uintptr) {
			fds := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
			_, err := unix.Poll(fds, 0)
			alive = (err == nil || errors.Is(err, unix.EINTR)) && fds[0].Revents&unix.POLLHUP == 0
		})
	}
	return alive && err == nil
}

// Close closes this end. Sessions go on.
func (l Conn) Close() error { return l.File.Close() }
