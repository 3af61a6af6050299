package agent

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

	"deepoj/sandbox/internal/room"
	"deepoj/sandbox/internal/wait"
	"deepoj/sandbox/internal/wire"
)

// Serve is the agent. It keeps rooms ready, answers the clients at the other end of conn, and returns nil when conn
// reaches its end or ctx ends, with nothing left behind. It sweeps what agents left that died otherwise. When something
// that was killed does not go, it returns an error at once, and the process must end. It must run as root, if only of a
// user namespace, and should have a process to itself.
func Serve(ctx context.Context, conn *os.File, cfg wire.Config) error {
	a, err := newAgent(ctx, cfg)
	if err != nil {
		err = fmt.Errorf("start the sandbox: %w", err)
		return errors.Join(err, refuse(conn, err))
	}
	err = a.serve(ctx, conn)
	if errors.Is(err, wait.ErrStuck) {
		// The end of this process removes more than it could. Its clients must not wait for that.
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
	buf := make([]byte, wire.MaxMessage)
	for {
		var q wire.Request
		files, err := wire.Receive(int(conn.Fd()), buf, &q)
		if _, bad := errors.AsType[*wire.MessageError](err); err != nil && !bad {
			return nil // nobody waits any more
		}
		wire.Refuse(files, why)
	}
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
	case broken := <-a.Broken:
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
	case broken := <-a.Broken:
		return errors.Join(err, broken)
	case <-time.After(wait.AgentPatience):
		return errors.Join(err, wait.Stuck("rooms"))
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
	for range a.Config.Slots + 1 {
		a.work.Go(func() { a.prepare(ctx) })
	}
	a.Log.InfoContext(ctx, "the sandbox is ready", slog.String("driver", a.Status.Driver), slog.Int("slots", a.Status.Slots))
	return wire.Listen(ctx, c.(*net.UnixConn), a.Log, func(q wire.Request, files []*os.File) {
		wire.CloseAll(files[1:]) // of what is no request of an agent
		a.work.Go(func() { a.answer(ctx, q, files[0]) })
	})
}

// answer answers one request on its own socket.
func (a *agent) answer(ctx context.Context, q wire.Request, sock *os.File) {
	var r wire.Reply
	switch q.Op {
	case wire.OpOpen:
		if q.Options == nil {
			q.Options = &wire.BoxOptions{}
		}
		a.open(ctx, *q.Options, sock)
		return // the room closes the socket
	case wire.OpStatus:
		s := a.Status
		s.SelfTest = a.check(ctx)
		r.Status = &s
	case wire.OpTool:
		t, err := a.Tools.Find(q.Tool)
		if err != nil {
			r = wire.Failure(err)
		} else {
			r.Tool = &t
		}
	default:
		r = wire.Failure(fmt.Errorf("%q is no request of an agent", q.Op))
	}
	err := wire.SendReply(int(sock.Fd()), r)
	if err := errors.Join(err, sock.Close()); err != nil && !errors.Is(err, unix.EPIPE) {
		a.Log.WarnContext(ctx, "a client got no answer", slog.String("op", q.Op), slog.Any("err", err))
	}
}

// open waits for a slot and a room, and lets the room serve the client.
func (a *agent) open(ctx context.Context, o wire.BoxOptions, sock *os.File) {
	refuse := func() { _ = sock.Close() } // the client sees that the agent is gone
	select {
	case a.slots <- struct{}{}:
	case <-ctx.Done():
		refuse()
		return
	}
	defer func() { <-a.slots }()
	core := a.loads.add()
	defer a.loads.remove(core)
	hangUp, err := shutdownAtEnd(ctx, sock)
	if err != nil {
		a.Log.ErrorContext(ctx, "a box cannot be opened", slog.Any("err", err))
		refuse()
		return
	}
	defer hangUp()
	for h := (&room.Handover{Sock: sock, Options: o, Core: core, Movable: true}); h != nil; {
		if wire.HungUp(int(h.Sock.Fd())) {
			h.Refuse()
			return
		}
		if h.Changes() {
			room.Changing()
		}
		var r *room.Room
		select {
		case r = <-a.ready:
		case <-ctx.Done():
			h.Refuse()
			return
		}
		r.Begin(*h)
		h = r.End()
		a.work.Go(func() { a.retire(ctx, r) })
	}
}

// loads counts the boxes on each core.
type loads struct {
	mu    sync.Mutex
	boxes []int
}

// add counts one box more on a core with as few as any, and returns it as an index.
func (l *loads) add() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	least := 0
	for core, n := range l.boxes {
		if n < l.boxes[least] {
			least = core
		}
	}
	l.boxes[least]++
	return least
}

// remove counts one box less on a core.
func (l *loads) remove(core int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.boxes[core]--
}

// shutdownAtEnd shuts the connection sock down when ctx ends, through a descriptor of its own: the room closes its own
// at a time of its choosing. What it returns must be called when the room is done.
func shutdownAtEnd(ctx context.Context, sock *os.File) (func(), error) {
	fd, err := unix.FcntlInt(sock.Fd(), unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return nil, fmt.Errorf("copy a descriptor: %w", err)
	}
	done := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(done)
		_ = unix.Shutdown(fd, unix.SHUT_RDWR) // fails when the client has gone
	})
	return func() {
		if !stop() {
			<-done
		}
		_ = unix.Close(fd) // nothing was written through it
	}, nil
}

// retire removes a room and gives its user id back.
func (a *agent) retire(ctx context.Context, r *room.Room) {
	if err := r.TearDown(); err != nil {
		a.Log.WarnContext(ctx, "a room left something behind", slog.String("room", r.Name), slog.Any("err", err))
		if errors.Is(err, wait.ErrStuck) {
			a.GiveUp(err)
			return // its user id is not free
		}
	}
	a.uids <- r.UID
}

// roomPause is how long to wait after a room could not be made.
const roomPause = 200 * time.Millisecond

// prepare makes rooms one after the other, each before a client asks for it. Several run at once: most of the time that
// a room takes is waiting for the kernel.
func (a *agent) prepare(ctx context.Context) {
	for {
		var uid int
		select {
		case uid = <-a.uids:
		case <-ctx.Done():
			return
		}
		r, err := a.New(uid)
		if errors.Is(err, wait.ErrStuck) {
			a.GiveUp(err)
			return
		}
		if err != nil {
			a.uids <- uid
			a.Log.ErrorContext(ctx, "no room could be made", slog.Any("err", err))
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
			r.Dismiss()
			a.retire(ctx, r)
			return
		}
	}
}
