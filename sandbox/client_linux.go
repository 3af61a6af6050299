package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Agent is a client of a sandbox agent. It is safe for concurrent use.
type Agent struct {
	line
	status Status
}

// Dial talks to the agent at the other end of conn, which [Process.Conn] made
// and a child process may have inherited. The children of this process do not inherit
// it from here on. The agent keeps conn open until Close.
func Dial(conn *os.File) (*Agent, error) {
	if err := closeOnExec(conn); err != nil {
		return nil, fmt.Errorf("dial the sandbox agent: %w", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	return dial(ctx, conn)
}

func dial(ctx context.Context, conn *os.File) (*Agent, error) {
	a := &Agent{line: line{conn}}
	s, err := a.Status(ctx)
	if err != nil {
		return nil, err
	}
	a.status = s
	return a, nil
}

// Alive reports whether the agent is still there.
func (a *Agent) Alive() bool {
	alive := false
	raw, err := a.conn.SyscallConn()
	if err == nil {
		err = raw.Control(func(fd uintptr) {
			fds := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
			_, err := unix.Poll(fds, 0)
			alive = (err == nil || errors.Is(err, unix.EINTR)) && fds[0].Revents&unix.POLLHUP == 0
		})
	}
	return alive && err == nil
}

// Close closes the connection. Open boxes stay open.
func (a *Agent) Close() error { return a.conn.Close() }

// Slots returns how many boxes may be open at once.
func (a *Agent) Slots() int { return a.status.Slots }

// Cores returns how many cores one box can use at once.
func (a *Agent) Cores() int { return len(a.status.Cores) }

// Status asks the agent what it is able to do.
func (a *Agent) Status(ctx context.Context) (Status, error) {
	r, files, err := a.ask(ctx, request{Op: opStatus})
	closeAll(files)
	if err != nil {
		return Status{}, fmt.Errorf("ask the sandbox agent for its status: %w", err)
	}
	if r.Status == nil {
		return Status{}, errors.New("the sandbox agent sent no status")
	}
	return *r.Status, nil
}

// Tool returns where the tool with a logical name such as "g++" is. The error
// is [ErrNoTool] when there is none.
func (a *Agent) Tool(ctx context.Context, name string) (Tool, error) { return a.findTool(ctx, name) }

func (l line) findTool(ctx context.Context, name string) (Tool, error) {
	r, files, err := l.ask(ctx, request{Op: opTool, Tool: name})
	closeAll(files)
	if err != nil {
		return Tool{}, fmt.Errorf("look up the tool %s: %w", name, err)
	}
	if r.Tool == nil {
		return Tool{}, errors.New("the sandbox agent sent no tool")
	}
	return *r.Tool, nil
}

// Box opens a box that the program cannot write to but in /tmp and /dev/shm. It
// waits for a free one.
func (a *Agent) Box(ctx context.Context) (*Box, error) { return a.OpenBox(ctx, BoxOptions{}) }

// OpenBox opens a box. It waits for a free one until ctx ends.
func (a *Agent) OpenBox(ctx context.Context, o BoxOptions) (*Box, error) {
	s, err := a.dial(request{Op: opOpen, Options: &o})
	if err != nil {
		return nil, fmt.Errorf("open a box: %w", err)
	}
	if _, _, err := s.receive(ctx); err != nil {
		_ = s.conn.Close() // the error that matters is the other one
		return nil, fmt.Errorf("open a box: %w", err)
	}
	return &Box{&agentBox{s}}, nil
}

// line is a connection on which each request brings a session of its own.
type line struct{ conn *os.File }

// ask makes one request and waits for the answer.
func (l line) ask(ctx context.Context, q request) (reply, []*os.File, error) {
	s, err := l.dial(q)
	if err != nil {
		return reply{}, nil, err
	}
	r, files, err := s.receive(ctx)
	if err := errors.Join(err, s.conn.Close()); err != nil {
		closeAll(files)
		return reply{}, nil, err
	}
	return r, files, nil
}

// dial sends q, with one end of a new session and files, and returns the other
// end.
func (l line) dial(q request, files ...*os.File) (*session, error) {
	ours, theirs, err := socketPair()
	if err != nil {
		return nil, err
	}
	defer unix.Close(theirs)
	s, err := newSession(ours)
	if err != nil {
		return nil, err
	}
	var sent error
	fds, err := descriptors(files)
	if err == nil {
		var raw syscall.RawConn
		if raw, err = l.conn.SyscallConn(); err == nil {
			err = raw.Control(func(fd uintptr) { sent = sendMessage(int(fd), q, append([]int{theirs}, fds...)...) })
		}
	}
	if err := errors.Join(err, sent); err != nil {
		_ = s.conn.Close() // nothing was sent
		if errors.Is(err, syscall.EPIPE) || errors.Is(err, os.ErrClosed) || errors.Is(err, syscall.ECONNREFUSED) {
			err = ErrAgentGone
		}
		return nil, err
	}
	return s, nil
}

// descriptors returns the descriptors of files, which must stay open.
func descriptors(files []*os.File) ([]int, error) {
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

// session is the client's end of one socket pair.
type session struct {
	conn *net.UnixConn
	mu   sync.Mutex // one request at a time
	buf  []byte
}

// newSession returns the session at the end fd of a socket pair, which it takes.
func newSession(fd int) (*session, error) {
	f := os.NewFile(uintptr(fd), "session")
	conn, err := net.FileConn(f)
	if err := errors.Join(err, f.Close()); err != nil {
		return nil, fmt.Errorf("make a session: %w", err)
	}
	return &session{conn: conn.(*net.UnixConn)}, nil
}

// send writes one message.
func (s *session) send(v any, fds ...int) error {
	b, err := encode(v)
	if err != nil {
		return fmt.Errorf("encode a message: %w", err)
	}
	if len(b) > maxMessage {
		return unfit("a command of %d bytes is longer than %d", len(b), maxMessage)
	}
	var oob []byte
	if len(fds) > 0 {
		oob = unix.UnixRights(fds...)
	}
	if _, _, err := s.conn.WriteMsgUnix(b, oob, nil); err != nil {
		if errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET) {
			return ErrAgentGone
		}
		return fmt.Errorf("send to the sandbox agent: %w", err)
	}
	return nil
}

// receive waits for one reply until ctx ends.
func (s *session) receive(ctx context.Context) (reply, []*os.File, error) {
	ended := onEnd(ctx, func() {
		_ = s.conn.SetReadDeadline(time.Unix(1, 0)) // fails only when closed, which also ends the read
	})
	r, files, err := s.read()
	if !ended() {
		return r, files, err
	}
	if err != nil {
		return reply{}, nil, context.Cause(ctx)
	}
	return r, files, s.conn.SetReadDeadline(time.Time{})
}

// onEnd calls fn when ctx ends. What it returns must be called: it reports whether
// fn was called, which has returned then, so that it does nothing to what follows.
func onEnd(ctx context.Context, fn func()) (ended func() bool) {
	done := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(done)
		fn()
	})
	return func() bool {
		if stop() {
			return false
		}
		<-done
		return true
	}
}

func (s *session) read() (reply, []*os.File, error) {
	if s.buf == nil {
		s.buf = make([]byte, maxMessage)
	}
	oob := make([]byte, unix.CmsgSpace(4*maxFDs))
	n, oobn, _, _, err := s.conn.ReadMsgUnix(s.buf, oob)
	if err != nil || n == 0 {
		if err == nil || errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) {
			return reply{}, nil, ErrAgentGone
		}
		return reply{}, nil, fmt.Errorf("hear from the sandbox agent: %w", err)
	}
	files, err := rights(oob[:oobn])
	if err != nil {
		return reply{}, nil, err
	}
	var r reply
	if err := decode(s.buf[:n], &r); err != nil {
		closeAll(files)
		return reply{}, nil, fmt.Errorf("read what the sandbox agent said: %w", err)
	}
	return r, files, r.err()
}
