package room

import (
	"errors"
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"

	"deepoj/sandbox/internal/rootfs"
	"deepoj/sandbox/internal/wire"
)

// A session is what one client asks of its room, from the first request to the last.

// serve answers requests until the client hangs up, or another room goes on.
func (r *Room) serve(h Handover) error {
	r.movable = h.Movable
	if h.moved != nil {
		if err := r.takeOver(*h.moved); err != nil {
			return err
		}
	}
	err := r.prepare(h.Options)
	if h.moved == nil || h.moved.asked {
		ready := wire.Reply{}
		if err != nil {
			ready = wire.Failure(err)
		}
		if sent := r.reply(ready); sent != nil || err != nil {
			return sent
		}
		if h.moved != nil {
			Changing()
		}
	}
	if err != nil {
		return err
	}
	for !r.hungUp && r.next == nil {
		var q wire.Request
		files, err := wire.Receive(int(r.sock.Fd()), r.message[:], &q)
		_, bad := errors.AsType[*wire.MessageError](err)
		switch {
		case errors.Is(err, wire.ErrClosed):
			return nil
		case bad:
			err = r.reply(wire.Failure(err))
		case err == nil:
			err = r.handle(q, files)
		}
		wire.CloseAll(files)
		if err != nil {
			return err
		}
	}
	return nil
}

// prepare makes the box what its options say.
func (r *Room) prepare(o wire.BoxOptions) error {
	size, err := o.Tmp()
	if err != nil {
		return err
	}
	if size != r.tmpBytes {
		r.tmpBytes = size
		for _, path := range append([]string{"/box"}, rootfs.Writable...) {
			bytes := r.tmpBytes
			if path == "/box" {
				bytes = r.boxBytes()
			}
			err := unix.Mount("", path, "", unix.MS_REMOUNT|rootfs.PrivateFlags, "size="+strconv.FormatInt(bytes, 10))
			if err != nil {
				return fmt.Errorf("resize %s: %w", path, err)
			}
		}
	}
	r.locks = o.Locks
	if o.Writable {
		r.writable = true
		if r.host.largePages {
			if err := rootfs.SmallPages("/box"); err != nil {
				return err
			}
		}
		if err := os.Chown("/box", r.UID, r.UID); err != nil {
			return fmt.Errorf("make the box writable: %w", err)
		}
		if err := r.rule(); err != nil {
			return err
		}
	}
	return r.pool.fill(r.UID)
}

// handle answers one request. The error is one after which the room cannot go on.
func (r *Room) handle(q wire.Request, files []*os.File) error {
	if err := wire.CheckFiles(wire.BoxSlots(q), files); err != nil {
		if q.Op == wire.OpRun {
			return r.reply(wire.Reply{Result: &wire.Result{Verdict: wire.SE, Error: err.Error(), Driver: r.host.Driver.Name()}})
		}
		return r.reply(wire.Failure(err))
	}
	switch q.Op {
	case wire.OpRun:
		if q.Run == nil {
			return r.reply(wire.Failure(errors.New("a run without a command")))
		}
		res, err := r.run(q.Run, files)
		if err != nil {
			return errors.Join(err, r.reply(wire.Failure(err)))
		}
		r.ran = true
		if err := r.reply(wire.Reply{Result: &res}); err != nil {
			return err
		}
		if r.used && r.movable && !r.writable && !r.hungUp {
			return r.move(false)
		}
		return r.clean()
	case wire.OpRenew:
		switch {
		case r.writable:
			return r.reply(wire.Failure(errors.New("a Writable box keeps its room: open another one")))
		case r.ran && r.movable:
			return r.move(true)
		}
		return r.reply(wire.Reply{})
	case wire.OpPut:
		if err := r.put(files[0]); err != nil {
			return r.reply(wire.Failure(err))
		}
		return r.reply(wire.Reply{})
	case wire.OpCollect:
		f, err := r.collect(q.Globs, q.MaxBytes)
		if err != nil {
			return r.reply(wire.Failure(err))
		}
		return errors.Join(r.reply(wire.Reply{}, int(f.Fd())), f.Close())
	case wire.OpClean:
		return r.reply(wire.Reply{}) // every run is followed by clean
	case wire.OpCancel:
		return nil // came too late: the run had ended
	default:
		return r.reply(wire.Failure(fmt.Errorf("%q is no request of a box", q.Op)))
	}
}

// reply answers the client. One that has gone, or reads no answers, is no error, but ends the session.
func (r *Room) reply(v wire.Reply, fds ...int) error {
	err := wire.SendReply(int(r.sock.Fd()), v, fds...)
	if errors.Is(err, unix.EPIPE) || errors.Is(err, unix.ECONNRESET) || errors.Is(err, unix.EAGAIN) {
		r.hungUp = true
		return nil
	}
	return err
}
