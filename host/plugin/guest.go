package plugin

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// feedbackFiles are the files of the feedback folder that somebody reads.
var feedbackFiles = []string{partJudge, "teammessage.txt", "score.txt", "score_multiplier.txt", nextPass, partTout}

// maxDetail is how much of a trap's description is kept.
const maxDetail = 2 << 10

// call calls a guest and returns its reply with the blob. It closes the
// descriptors, so that a program sees the end of its interactor. An error ends
// the worker.
func (s *server) call(q request, blob []byte, fds []int) (reply, []byte, error) {
	files := fds[:len(q.Files)]
	var live []*os.File
	if fds = fds[len(q.Files):]; q.Stdin == stdinLive {
		for _, fd := range fds {
			live = append(live, os.NewFile(uintptr(fd), "program"))
		}
		fds = nil
	}
	defer func() {
		for _, fd := range slices.Concat(files, fds) {
			_ = unix.Close(fd) // only read
		}
		for _, f := range live {
			_ = f.Close() // a pipe
		}
	}()
	ctx := context.Background()
	l, err := s.module(ctx, q.Dir)
	if err != nil {
		return reply{Fault: faultModule, Detail: err.Error()}, nil, nil
	}
	w := newWorld(&meter{limit: q.Fuel, output: q.OutputBytes, until: until(q.CPUNanos, s.cpu)}, q.Files, files, q.Feedback)
	s.world, w.args = w, q.Args
	if err := w.lay(q.Kept, blob); err != nil {
		return reply{}, nil, err
	}
	said := &Transcript{}
	in, err := w.stdin(q, blob, fds, live, said)
	if err != nil {
		return reply{}, nil, err
	}
	stdout, stderr := &sink{m: w.m}, &sink{m: w.m}
	var out io.Writer = stdout
	if q.Stdin == stdinLive {
		out = &mouth{m: w.m, f: live[1], ear: in.(*ear), talk: said}
	}
	w.connect(in, out, stderr)
	s.memory.allot(q.MemoryBytes)
	a, err := s.run(ctx, l)
	if err != nil {
		return reply{}, nil, err
	}
	ended := machineTime()
	now := processTime()
	a.CPUNanos = int64(now - s.cpu)
	s.cpu = now
	if e, live := in.(*ear); live {
		a.LastNanos, a.HeardNanos, a.EndedNanos = int64(e.heardLast), int64(e.heardEnd), int64(ended)
		a.Flooded = e.since > FloodBytes
	}
	a.MemoryBytes, a.GrowsDenied = int64(s.memory.used), s.memory.denied
	if err := s.memory.wipe(); err != nil {
		return reply{}, nil, err
	}
	return a, a.collect(stdout, stderr, said, w, q.Keep), nil
}

// descriptors is how many descriptors follow those of the files.
func (s stdin) descriptors() int {
	switch s {
	case stdinFile:
		return 1
	case stdinLive:
		return 2
	case stdinEmpty, stdinBlob:
	}
	return 0
}

// stdin returns what the guest reads.
func (w *world) stdin(q request, blob []byte, fds []int, live []*os.File, said *Transcript) (io.Reader, error) {
	switch q.Stdin {
	case stdinBlob:
		return &plainReader{m: w.m, n: &node{host: none, data: blob}}, nil
	case stdinFile:
		n := &node{host: fds[0], size: unknown}
		if n.measure() != errnoSuccess {
			return nil, errors.New("the size of stdin is unknown")
		}
		return &plainReader{m: w.m, n: n}, nil
	case stdinLive:
		return &ear{m: w.m, f: live[0], talk: said, most: q.SaidBytes}, nil
	case stdinEmpty:
	}
	return bytes.NewReader(nil), nil
}

// run runs an instance to its end. An error ends the worker.
func (s *server) run(ctx context.Context, l *loaded) (a reply, err error) {
	m := s.world.m
	g, failed := s.instance(ctx, l)
	if failed == nil {
		m.guest = g.module
		failed = g.start.CallWithStack(ctx, nil)
	}
	a.Fuel = m.used()
	code, ended := exitCode(failed)
	switch {
	case m.fault != faultNone:
		a.Fault = m.fault
	case errors.Is(failed, errNoMemory):
		a.Fault, a.Detail = faultMemory, failed.Error()
	case ended:
		a.Exit = code
	default:
		a.Fault, a.Detail = faultTrap, trap(failed)
	}
	if g == nil {
		return a, nil
	}
	return a, l.leave(ctx, g, a.Fault == faultNone && s.memory.used == g.size)
}

// trap shortens what the engine says of a trap.
func trap(err error) string {
	text := strings.TrimPrefix(err.Error(), "wasm error: ")
	text, _, _ = strings.Cut(text, "\nGo runtime stack trace:")
	return text[:min(len(text), maxDetail)]
}

// collect puts what the guest wrote into one blob.
func (a *reply) collect(stdout, stderr *sink, said *Transcript, w *world, keep bool) []byte {
	var blob []byte
	add := func(name string, data []byte) {
		a.Parts = append(a.Parts, part{name, len(data)})
		blob = append(blob, data...)
	}
	add(partStdout, stdout.data)
	add(partStderr, stderr.data)
	if len(said.text) > 0 {
		add(partTalk, said.text)
	}
	names := feedbackFiles
	if keep {
		names = w.feedbackNames()
	}
	for _, name := range names {
		if !w.feedback {
			break
		}
		if data, ok := w.written(name); ok {
			add(name, data)
		}
	}
	return blob
}

// processTime returns the processor time of this process.
func processTime() time.Duration { return clock(unix.CLOCK_PROCESS_CPUTIME_ID) }

// machineTime returns the time by the machine's monotonic clock.
func machineTime() time.Duration { return clock(unix.CLOCK_MONOTONIC) }

func clock(id int32) time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(id, &t); err != nil {
		return 0 // both clocks always exist on Linux
	}
	return time.Duration(t.Nano())
}
