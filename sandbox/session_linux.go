package sandbox

import (
	"errors"
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// A session is what one client asks of its room, from the first request to the
// last.

// serve answers requests until the client hangs up, or another room goes on.
func (r *room) serve(h handover) error {
	r.movable = h.movable
	if h.moved != nil {
		if err := r.takeOver(*h.moved); err != nil {
			return err
		}
	}
	err := r.prepare(h.options)
	if h.moved == nil || h.moved.asked {
		ready := reply{}
		if err != nil {
			ready = failure(err)
		}
		if sent := r.reply(ready); sent != nil || err != nil {
			return sent
		}
	}
	if err != nil {
		return err
	}
	for !r.hungUp && r.next == nil {
		var q request
		files, err := receiveMessage(int(r.sock.Fd()), r.buf, &q)
		_, bad := errors.AsType[*messageError](err)
		switch {
		case errors.Is(err, errClosed):
			return nil
		case bad:
			err = r.reply(failure(err))
		case err == nil:
			err = r.handle(q, files)
		}
		closeAll(files)
		if err != nil {
			return err
		}
	}
	return nil
}

// prepare makes the box what its options say.
func (r *room) prepare(o BoxOptions) error {
	size, err := o.tmp()
	if err != nil {
		return err
	}
	if size != r.tmpBytes {
		r.tmpBytes = size
		for _, path := range append([]string{"/box"}, writable...) {
			bytes := r.tmpBytes
			if path == "/box" {
				bytes = r.boxBytes()
			}
			err := unix.Mount("", path, "", unix.MS_REMOUNT|privateFlags, "size="+strconv.FormatInt(bytes, 10))
			if err != nil {
				return fmt.Errorf("resize %s: %w", path, err)
			}
		}
	}
	r.locks = o.Locks
	if o.Writable {
		r.writable = true
		if err := os.Chown("/box", r.uid, r.uid); err != nil {
			return fmt.Errorf("make the box writable: %w", err)
		}
		if err := r.rule(); err != nil {
			return err
		}
	}
	return r.stock.fill(r.uid)
}

// tmp returns how many bytes each private folder may hold.
func (o BoxOptions) tmp() (int64, error) {
	switch {
	case o.TmpBytes < 0 || o.TmpBytes > maxBytes:
		return 0, fmt.Errorf("TmpBytes %d is not between 0 and %d", o.TmpBytes, int64(maxBytes))
	case o.TmpBytes == 0:
		return defaultTmp, nil
	default:
		return o.TmpBytes, nil
	}
}

// handle answers one request. The error is one after which the room cannot go
// on.
func (r *room) handle(q request, files []*os.File) error {
	if err := checkFiles(boxSlots(q), files); err != nil {
		if q.Op == opRun {
			return r.reply(reply{Result: &Result{Verdict: SE, Error: err.Error(), Driver: r.agent.driver.name()}})
		}
		return r.reply(failure(err))
	}
	switch q.Op {
	case opRun:
		if q.Run == nil {
			return r.reply(failure(errors.New("a run without a command")))
		}
		res, err := r.run(q.Run, files)
		if err != nil {
			return errors.Join(err, r.reply(failure(err)))
		}
		r.ran = true
		if err := r.reply(reply{Result: &res}); err != nil {
			return err
		}
		if r.used && r.movable && !r.writable && !r.hungUp {
			return r.move(false)
		}
		return r.clean()
	case opRenew:
		switch {
		case r.writable:
			return r.reply(failure(errors.New("a Writable box keeps its room: open another one")))
		case r.ran && r.movable:
			return r.move(true)
		}
		return r.reply(reply{})
	case opPut:
		if err := r.put(files[0]); err != nil {
			return r.reply(failure(err))
		}
		return r.reply(reply{})
	case opCollect:
		f, err := r.collect(q.Globs, q.MaxBytes)
		if err != nil {
			return r.reply(failure(err))
		}
		return errors.Join(r.reply(reply{}, int(f.Fd())), f.Close())
	case opClean:
		return r.reply(reply{}) // every run is followed by clean
	case opCancel:
		return nil // came too late: the run had ended
	default:
		return r.reply(failure(fmt.Errorf("%q is no request of a box", q.Op)))
	}
}

// reply answers the client. One that has gone, or reads no answers, is no error, but
// ends the session.
func (r *room) reply(v reply, fds ...int) error {
	err := sendReply(int(r.sock.Fd()), v, fds...)
	if errors.Is(err, unix.EPIPE) || errors.Is(err, unix.ECONNRESET) || errors.Is(err, unix.EAGAIN) {
		r.hungUp = true
		return nil
	}
	return err
}
