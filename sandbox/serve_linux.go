package sandbox

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// Serve is the agent. It keeps rooms ready, answers the clients at the other end
// of conn, and returns nil when conn reaches its end or ctx ends, with nothing
// left behind. It sweeps what agents left that died otherwise. When something that
// was killed does not go, it returns an error at once, and the process must end with
// [ExitStatus]. It must run as root, if only of a user namespace (see [Spawn]), and
// should have a process to itself.
func Serve(ctx context.Context, conn *os.File, cfg Config) error {
	a, err := newAgent(ctx, cfg)
	if err != nil {
		err = fmt.Errorf("start the sandbox: %w", err)
		return errors.Join(err, refuse(conn, err))
	}
	err = a.serve(ctx, conn)
	if errors.Is(err, errStuck) {
		// The end of this process removes more than it could. Its clients must not
		// wait for that.
		_ = unix.Shutdown(int(conn.Fd()), unix.SHUT_RDWR)
		return fmt.Errorf("serve the sandbox: %w", err)
	}
	if err := errors.Join(err, a.close()); err != nil {
		return fmt.Errorf("serve the sandbox: %w", err)
	}
	return nil
}

// refuse tells the clients that wait for an answer why there is none.
func refuse(conn *os.File, why error) error {
	if err := unix.SetNonblock(int(conn.Fd()), true); err != nil {
		return fmt.Errorf("use the connection: %w", err)
	}
	buf := make([]byte, maxMessage)
	for {
		var q request
		files, err := receiveMessage(int(conn.Fd()), buf, &q)
		if _, bad := errors.AsType[*messageError](err); err != nil && !bad {
			return nil // nobody waits any more
		}
		tell(files, why)
	}
}

// tell answers a request with a failure, if it came with a socket for the answers, and
// closes its descriptors.
func tell(files []*os.File, why error) {
	if len(files) > 0 && slotAnswers.check(int(files[0].Fd())) == nil {
		_ = sendReply(int(files[0].Fd()), failure(why)) // fails when the client has gone
	}
	closeAll(files)
}

// serve answers requests until the end, and then ends every room.
func (a *agent) serve(ctx context.Context, conn *os.File) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	listened := make(chan error, 1)
	go func() { listened <- a.listen(ctx, conn) }()
	var err error
	select {
	case err = <-listened:
	case broken := <-a.broken:
		return broken
	}
	cancel()
	ended := make(chan struct{})
	go func() {
		a.work.Wait()
		close(ended)
	}()
	select {
	case <-ended:
		return err
	case broken := <-a.broken:
		return errors.Join(err, broken)
	case <-time.After(agentPatience):
		return errors.Join(err, stuck("rooms"))
	}
}

// listen makes rooms and answers requests until the end.
func (a *agent) listen(ctx context.Context, conn *os.File) error {
	c, err := net.FileConn(conn)
	if err != nil {
		return fmt.Errorf("use the connection: %w", err)
	}
	stop := context.AfterFunc(ctx, func() { _ = c.Close() }) // ends the loop below
	defer stop()
	for range a.cfg.Slots + 1 {
		a.work.Go(func() { a.prepare(ctx) })
	}
	a.log.InfoContext(ctx, "the sandbox is ready", slog.String("driver", a.status.Driver), slog.Int("slots", a.status.Slots))
	return listen(ctx, c.(*net.UnixConn), a.log, func(q request, files []*os.File) {
		closeAll(files[1:]) // of what is no request of an agent
		a.work.Go(func() { a.answer(ctx, q, files[0]) })
	})
}

// listen hands over the requests that come on a connection, until its end or that
// of ctx. The first descriptor of each is the socket for the answers. A message that
// makes no sense, or has descriptors of the wrong kind, is dropped, and its sender is
// told where that can be.
func listen(ctx context.Context, c *net.UnixConn, log *slog.Logger, handle func(q request, files []*os.File)) error {
	raw, err := c.SyscallConn()
	if err != nil {
		return fmt.Errorf("use the connection: %w", err)
	}
	buf := make([]byte, maxMessage)
	for {
		var q request
		var files []*os.File
		var got error
		err := raw.Read(func(fd uintptr) bool {
			files, got = receiveMessage(int(fd), buf, &q)
			return !errors.Is(got, unix.EAGAIN)
		})
		if got == nil && err == nil {
			if got = checkFiles(lineSlots(q), files); got != nil {
				got = &messageError{got}
			}
		}
		_, bad := errors.AsType[*messageError](got)
		switch {
		case ctx.Err() != nil:
			closeAll(files)
			return nil //nolint:nilerr // it was asked to stop
		case errors.Is(got, errClosed):
			return nil
		case err == nil && bad:
			log.WarnContext(ctx, "a client's request is dropped", slog.Any("err", got))
			tell(files, got)
			continue
		case err != nil || got != nil:
			return errors.Join(err, got)
		}
		handle(q, files)
	}
}

// answer answers one request on its own socket.
func (a *agent) answer(ctx context.Context, q request, sock *os.File) {
	var r reply
	switch q.Op {
	case opOpen:
		if q.Options == nil {
			q.Options = &BoxOptions{}
		}
		a.open(ctx, *q.Options, sock)
		return // the room closes the socket
	case opStatus:
		s := a.status
		s.SelfTest = a.check(ctx)
		r.Status = &s
	case opTool:
		t, err := a.tools.find(q.Tool)
		if err != nil {
			r = failure(err)
		} else {
			r.Tool = &t
		}
	default:
		r = failure(fmt.Errorf("%q is no request of an agent", q.Op))
	}
	err := sendReply(int(sock.Fd()), r)
	if err := errors.Join(err, sock.Close()); err != nil && !errors.Is(err, unix.EPIPE) {
		a.log.WarnContext(ctx, "a client got no answer", slog.String("op", q.Op), slog.Any("err", err))
	}
}

// open waits for a place and a room, and lets the room serve the client.
func (a *agent) open(ctx context.Context, o BoxOptions, sock *os.File) {
	refuse := func() { _ = sock.Close() } // the client sees that the agent is gone
	select {
	case a.places <- struct{}{}:
	case <-ctx.Done():
		refuse()
		return
	}
	defer func() { <-a.places }()
	core := a.seats.take()
	defer a.seats.leave(core)
	hangUp, err := cutter(ctx, sock)
	if err != nil {
		a.log.ErrorContext(ctx, "a box cannot be opened", slog.Any("err", err))
		refuse()
		return
	}
	defer hangUp()
	for h := (&handover{sock: sock, options: o, core: core, movable: true}); h != nil; {
		if hungUp(int(h.sock.Fd())) {
			h.refuse()
			return
		}
		var r *room
		select {
		case r = <-a.ready:
		case <-ctx.Done():
			h.refuse()
			return
		}
		r.sessions <- *h
		<-r.left
		h = r.next
		a.work.Go(func() { a.retire(ctx, r) })
	}
}

// seats counts the boxes on each core.
type seats struct {
	mu    sync.Mutex
	boxes []int
}

// take returns a core, as an index, with as few boxes as any.
func (s *seats) take() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	least := 0
	for core, n := range s.boxes {
		if n < s.boxes[least] {
			least = core
		}
	}
	s.boxes[least]++
	return least
}

func (s *seats) leave(core int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.boxes[core]--
}

// cutter ends the connection sock when ctx ends, through a descriptor of its own:
// the room closes its own at a time of its choosing. What it returns must be
// called when the room is done.
func cutter(ctx context.Context, sock *os.File) (func(), error) {
	fd, err := unix.FcntlInt(sock.Fd(), unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return nil, fmt.Errorf("copy a descriptor: %w", err)
	}
	cut := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(cut)
		_ = unix.Shutdown(fd, unix.SHUT_RDWR) // fails when the client has gone
	})
	return func() {
		if !stop() {
			<-cut
		}
		_ = unix.Close(fd) // nothing was written through it
	}, nil
}

// retire removes a room and gives its user id back.
func (a *agent) retire(ctx context.Context, r *room) {
	if err := r.tearDown(); err != nil {
		a.log.WarnContext(ctx, "a room left something behind", slog.String("room", r.name), slog.Any("err", err))
		if errors.Is(err, errStuck) {
			a.giveUp(err)
			return // its user id is not free
		}
	}
	a.uids <- r.uid
}

// roomPause is how long to wait after a room could not be made.
const roomPause = 200 * time.Millisecond

// prepare makes rooms one after the other, each before a client asks for it.
// Several run at once: most of the time that a room takes is waiting for the
// kernel.
func (a *agent) prepare(ctx context.Context) {
	for {
		var uid int
		select {
		case uid = <-a.uids:
		case <-ctx.Done():
			return
		}
		r, err := a.newRoom(uid)
		if errors.Is(err, errStuck) {
			a.giveUp(err)
			return
		}
		if err != nil {
			a.uids <- uid
			a.log.ErrorContext(ctx, "no room could be made", slog.Any("err", err))
			select {
			case <-time.After(roomPause):
				continue
			case <-ctx.Done():
				return
			}
		}
		select {
		case a.ready <- r:
		case <-ctx.Done():
			close(r.sessions)
			a.retire(ctx, r)
			return
		}
	}
}
