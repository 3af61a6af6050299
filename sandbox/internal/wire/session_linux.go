package wire

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

// Session is the client's end of one socket pair.
type Session struct {
	Conn *net.UnixConn
	mu   sync.Mutex // one request at a time
}

// NewSession returns the session at the end fd of a socket pair, which it takes.
func NewSession(fd int) (*Session, error) {
	f := os.NewFile(uintptr(fd), "session")
	conn, err := net.FileConn(f)
	if err := errors.Join(err, f.Close()); err != nil {
		return nil, fmt.Errorf("make a session: %w", err)
	}
	return &Session{Conn: conn.(*net.UnixConn)}, nil
}

// Send writes one message.
func (s *Session) Send(v any, fds ...int) error {
	b, oob, err := pack(v, fds)
	if err != nil {
		return err
	}
	if _, _, err := s.Conn.WriteMsgUnix(b, oob, nil); err != nil {
		if errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET) {
			return ErrAgentGone
		}
		return fmt.Errorf("send to the sandbox agent: %w", err)
	}
	return nil
}

// Receive waits for one reply until ctx ends.
func (s *Session) Receive(ctx context.Context) (Reply, []*os.File, error) {
	ended := onEnd(ctx, func() {
		_ = s.Conn.SetReadDeadline(time.Unix(1, 0)) // fails only when closed, which also ends the read
	})
	r, files, err := s.Read()
	if !ended() {
		return r, files, err
	}
	if err != nil {
		return Reply{}, nil, context.Cause(ctx)
	}
	return r, files, s.Conn.SetReadDeadline(time.Time{})
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

// buffers are for messages. Every session would otherwise leave one to the garbage collector.
var buffers = sync.Pool{New: func() any { return new([MaxMessage]byte) }}

func (s *Session) Read() (Reply, []*os.File, error) {
	buf := buffers.Get().(*[MaxMessage]byte)
	defer buffers.Put(buf)
	oob := make([]byte, unix.CmsgSpace(4*MaxFDs))
	n, oobn, _, _, err := s.Conn.ReadMsgUnix(buf[:], oob)
	if err != nil || n == 0 {
		if err == nil || errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) {
			return Reply{}, nil, ErrAgentGone
		}
		return Reply{}, nil, fmt.Errorf("hear from the sandbox agent: %w", err)
	}
	files, err := Rights(oob[:oobn])
	if err != nil {
		return Reply{}, nil, err
	}
	var r Reply
	if err := Decode(buf[:n], &r); err != nil {
		CloseAll(files)
		return Reply{}, nil, fmt.Errorf("read what the sandbox agent said: %w", err)
	}
	return r, files, r.err()
}

// CancelGrace is how long a cancelled run may take to be gone before the box is given up.
const CancelGrace = 15 * time.Second

// Call makes one request and waits for its reply. When ctx ends it asks the
// agent to stop, and gives the box up if that takes too long.
func (s *Session) Call(ctx context.Context, q Request, sent func(), files ...*os.File) (Reply, []*os.File, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := context.Cause(ctx); err != nil {
		return Reply{}, nil, err
	}
	fds, err := Descriptors(files)
	if err != nil {
		return Reply{}, nil, err
	}
	err = s.Send(q, fds...)
	if sent != nil {
		sent()
	}
	if err != nil {
		return Reply{}, nil, err
	}
	ended := onEnd(ctx, func() {
		_ = s.Send(Request{Op: OpCancel})                       // gone is as good as cancelled
		_ = s.Conn.SetReadDeadline(time.Now().Add(CancelGrace)) // fails only when closed
	})
	r, passed, err := s.Read()
	if ended() {
		CloseAll(passed)
		return Reply{}, nil, errors.Join(context.Cause(ctx), s.Conn.SetReadDeadline(time.Time{}))
	}
	return r, passed, err
}

// Close ends the session. It may be called again.
func (s *Session) Close() error {
	if err := s.Conn.Close(); !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}
