package sandbox_test

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"deepoj/sandbox"
	"deepoj/sandbox/internal/room"
	"deepoj/sandbox/internal/wire"
)

// whether others are served afterwards.
func (a *attacker) talkNonsense() error {
	line, err := a.agent()
	if err != nil {
		return err
	}
	random := rand.New(rand.NewPCG(1, 2)) // the same each time
	noise := func(n int) []byte {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(random.Uint32())
		}
		return b
	}
	run, err := wire.Encode(wire.Request{Op: wire.OpRun, Run: &anyRun})
	if err != nil {
		return err
	}
	type bad struct {
		name    string
		message []byte
	}
	all := []bad{
		{"nothing", nil},
		{"a brace", []byte("{")},
		{"a byte", []byte{wire.CodedRun}},
		{"an unknown kind", []byte{200, 1, 2}},
		{"deep JSON", []byte(`{"run":` + strings.Repeat("[", 100_000))},
		{"deep objects", []byte(strings.Repeat(`{"run":`, 18_000))},
		{"many brackets", []byte(strings.Repeat("[", 100_000))},
		{"JSON of another type", []byte(`{"op":7}`)},
		{"a long number", []byte(`{"op":"open","options":{"TmpBytes":1e999}}`)},
		{"a message that is too long", make([]byte, wire.MaxMessage+1)},
		{"a long word", message(wire.Request{Op: strings.Repeat("\x01", 20_000)})},
		{"a run with a tail", append(slices.Clone(run), 0)},
		{"a count that is too large", append([]byte{wire.CodedRun}, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f)},
	}
	for n := range len(run) {
		all = append(all, bad{fmt.Sprintf("the first %d bytes of a run", n), run[:n]})
	}
	for n := range 200 {
		b := noise(1 + n*7)
		if n%2 == 0 {
			b[0] = wire.CodedRun
		} else if n%3 == 0 {
			b[0] = '{'
		}
		all = append(all, bad{fmt.Sprintf("%d random bytes", len(b)), b})
	}
	for name, sock := range map[string]int{"the agent": line, "the keeper": attackerDoor} {
		served := func() error {
			answers, r, _, err := ask(sock, message(wire.Request{Op: wire.OpTool, Tool: "sh"}))
			if err != nil || r.Tool == nil {
				return fmt.Errorf("%s serves nobody any more: %s", name, answerOf(r, err))
			}
			return unix.Close(answers)
		}
		for _, m := range all {
			answers, r, _, err := ask(sock, m.message)
			a.note("to "+name+", "+m.name, true, answerOf(r, err))
			_ = unix.Close(answers)
			if err := say(sock, m.message); err != nil { // and to nobody
				return err
			}
			if err := served(); err != nil {
				return fmt.Errorf("after %s: %w", m.name, err)
			}
		}
		for _, n := range []int{wire.MaxFDs + 1, 100, 253} {
			ours, theirs, err := wire.SocketPair()
			if err != nil {
				return err
			}
			if err := say(sock, message(wire.Request{Op: wire.OpStatus}), slices.Repeat([]int{theirs}, n)...); err != nil {
				return err
			}
			_ = unix.Close(theirs)
			r, _, err := hear(ours)
			a.note(fmt.Sprintf("to %s, %d descriptors", name, n), true, answerOf(r, err))
			if err := errors.Join(unix.Close(ours), served()); err != nil {
				return err
			}
		}
	}
	return a.talkNonsenseInABox(line, run, all[0].message, all[1].message, all[4].message, all[8].message, all[10].message, noise(1000))
}

// talkNonsenseInABox says messages between two runs and in the middle of one.
func (a *attacker) talkNonsenseInABox(line int, run []byte, messages ...[]byte) error {
	box, err := a.box(line, sandbox.BoxOptions{})
	if err != nil {
		return err
	}
	defer unix.Close(box)
	long := anyRun
	long.Program, long.Args = "/bin/sleep", []string{"50"}
	for i, m := range messages {
		if err := say(box, m); err != nil {
			return err
		}
		r, _, err := hear(box)
		a.note(fmt.Sprintf("in a box, message %d", i), true, answerOf(r, err))
		if err := say(box, message(wire.Request{Op: wire.OpRun, Run: &long})); err != nil {
			return err
		}
		if err := say(box, m); err != nil {
			return err
		}
		r, _, err = hear(box)
		a.note(fmt.Sprintf("in a run, message %d", i), true, answerOf(r, err))
		if r.Result == nil { // it came before the run had begun, and was answered by itself
			return fmt.Errorf("in a run, message %d: %s", i, answerOf(r, err))
		}
		if err := say(box, run); err != nil {
			return err
		}
		r, _, err = hear(box)
		a.note(fmt.Sprintf("in a box, a run after message %d", i), false, answerOf(r, err))
	}
	return nil
}

// fillMemory puts more into a box than its share, and has more copied for it.
func (a *attacker) fillMemory() error {
	line, err := a.agent()
	if err != nil {
		return err
	}
	var si unix.Sysinfo_t
	if err := unix.Sysinfo(&si); err != nil {
		return err
	}
	_, r, _, err := ask(line, message(wire.Request{Op: wire.OpStatus}))
	if err != nil || r.Status == nil {
		return fmt.Errorf("no status: %s", answerOf(r, err))
	}
	share := max(int64(si.Totalram)*int64(si.Unit)/int64(2*r.Status.Slots), room.LeastShare)
	// sparse returns a memory file with an index and size bytes that take no memory.
	sparse := func(size int64) (*os.File, error) {
		f, err := wire.MemoryFile("sparse")
		if err != nil {
			return nil, err
		}
		index := []wire.PackedFile{{Path: "one", Mode: 0o644, Size: size / 2}, {Path: "two", Mode: 0o644, Size: size - size/2}}
		if err := wire.PackIndex(f, index); err != nil {
			return nil, err
		}
		at, err := f.Seek(0, io.SeekCurrent)
		if err != nil {
			return nil, err
		}
		return f, errors.Join(f.Truncate(at+size), wire.Seal(f))
	}
	for _, size := range []int64{share + 1<<20, 1 << 45, 8 << 20} {
		if a.succeeded() {
			return nil // what is larger would take all of the machine's memory
		}
		f, err := sparse(size)
		if err != nil {
			return err
		}
		for name, o := range map[string]sandbox.BoxOptions{"an ordinary box": {}, "a box with much room": {TmpBytes: 1 << 40}, "a box to write to": {TmpBytes: 1 << 40, Writable: true}} {
			box, err := a.box(line, o)
			if err != nil {
				return err
			}
			if err := say(box, message(wire.Request{Op: wire.OpPut}), int(f.Fd())); err != nil {
				return err
			}
			r, _, err := hear(box)
			a.note(fmt.Sprintf("%d bytes are put into %s", size, name), size > share, answerOf(r, err))
			q := withStream(0, false)
			if err := say(box, message(wire.Request{Op: wire.OpRun, Run: &q}), int(f.Fd())); err != nil {
				return err
			}
			r, _, err = hear(box)
			a.note(fmt.Sprintf("%d bytes are the input in %s", size, name), size > share, answerOf(r, err))
			_ = unix.Close(box)
		}
		_ = f.Close()
	}
	return a.collectHoles(line, share)
}

// succeeded reports whether something was accepted that must be refused.
func (a *attacker) succeeded() bool {
	return slices.ContainsFunc(a.findings, func(f finding) bool { return f.Bad && f.Answer == "accepted" })
}

// collectHoles makes a file of holes in a box, and wants it collected.
func (a *attacker) collectHoles(line int, share int64) error {
	box, err := a.box(line, sandbox.BoxOptions{Writable: true})
	if err != nil {
		return err
	}
	defer unix.Close(box)
	q := anyRun
	q.Program, q.Args = "/usr/bin/truncate", []string{"-s", fmt.Sprint(share + 1<<20), "holes"}
	q.Limits.FileBytes = wire.MaxBytes
	if err := say(box, message(wire.Request{Op: wire.OpRun, Run: &q})); err != nil {
		return err
	}
	r, _, err := hear(box)
	a.note("a file of holes is made", false, answerOf(r, err))
	if err := say(box, message(wire.Request{Op: wire.OpCollect, Globs: []string{"**"}, MaxBytes: 1 << 60})); err != nil {
		return err
	}
	r, _, err = hear(box)
	a.note("a file of holes is collected", true, answerOf(r, err))
	return nil
}

// readNothing asks without end and reads no answer: in a box, and with a socket for
// the answer that is full from the beginning.
func (a *attacker) readNothing() error {
	line, err := a.agent()
	if err != nil {
		return err
	}
	box, err := a.box(line, sandbox.BoxOptions{})
	if err != nil {
		return err
	}
	for {
		err := unix.Sendmsg(box, message(wire.Request{Op: wire.OpClean}), nil, nil, unix.MSG_NOSIGNAL|unix.MSG_DONTWAIT)
		if errors.Is(err, unix.EAGAIN) { // let it answer
			fds := []unix.PollFd{{Fd: int32(box), Events: unix.POLLOUT}}
			n, perr := unix.Poll(fds, int(attackerPatience.Milliseconds()))
			if n == 0 && perr == nil {
				a.note("a box is asked without end", true, "it waits")
				break
			}
			continue
		}
		if err != nil {
			a.note("a box is asked without end", true, err.Error())
			break
		}
	}
	for range 50 {
		for _, sock := range []int{line, attackerDoor} {
			ours, theirs, err := wire.SocketPair()
			if err != nil {
				return err
			}
			for unix.Sendmsg(theirs, make([]byte, 1000), nil, nil, unix.MSG_NOSIGNAL|unix.MSG_DONTWAIT) == nil {
			}
			if err := say(sock, message(wire.Request{Op: wire.OpTool, Tool: "sh"}), theirs); err != nil {
				return err
			}
			_, _ = ours, unix.Close(theirs) // and nobody reads
		}
	}
	_, r, _, err := ask(line, message(wire.Request{Op: wire.OpTool, Tool: "sh"}))
	a.note("somebody else asks", false, answerOf(r, err))
	return nil
}
