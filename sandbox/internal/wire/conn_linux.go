package wire

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// FindTool asks where the tool with a logical name is. The error is [ErrNoTool] when there is none.
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

// Dial sends q, with one end of a new session and files, and returns the other end.
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

// Refuse answers a request with a failure, if it came with a socket for the answers, and closes its descriptors.
func Refuse(files []*os.File, why error) {
	if len(files) > 0 && SlotAnswers.Check(int(files[0].Fd())) == nil {
		_ = SendReply(int(files[0].Fd()), Failure(why)) // fails when the client has gone
	}
	CloseAll(files)
}

// Listen hands over the requests that come on a connection, until its end or that of ctx. The first descriptor of each
// is the socket for the answers. A message that makes no sense, or has descriptors of the wrong kind, is dropped, and
// its sender is told where that can be.
func Listen(ctx context.Context, c *net.UnixConn, log *slog.Logger, handle func(q Request, files []*os.File)) error {
	raw, err := c.SyscallConn()
	if err != nil {
		return fmt.Errorf("use the connection: %w", err)
	}
	buf := make([]byte, MaxMessage)
	for {
		var q Request
		var files []*os.File
		var got error
		err := raw.Read(func(fd uintptr) bool {
			files, got = Receive(int(fd), buf, &q)
			return !errors.Is(got, unix.EAGAIN)
		})
		if got == nil && err == nil {
			if got = CheckFiles(ConnSlots(q), files); got != nil {
				got = &MessageError{got}
			}
		}
		_, bad := errors.AsType[*MessageError](got)
		switch {
		case ctx.Err() != nil:
			CloseAll(files)
			return nil //nolint:nilerr // it was asked to stop
		case errors.Is(got, ErrClosed):
			return nil
		case err == nil && bad:
			log.WarnContext(ctx, "a client's request is dropped", slog.Any("err", got))
			Refuse(files, got)
			continue
		case err != nil || got != nil:
			return errors.Join(err, got)
		}
		handle(q, files)
	}
}
