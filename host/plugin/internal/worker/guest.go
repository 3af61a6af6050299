package worker

import (
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"deepoj/host/plugin/dialogue"
	"deepoj/host/plugin/internal/fuel"
	"deepoj/host/plugin/internal/wasi"
	"deepoj/host/plugin/internal/wire"
)

// feedbackFiles are the files of the feedback folder that somebody reads.
var feedbackFiles = []string{wire.PartJudge, "teammessage.txt", "score.txt", "score_multiplier.txt", wire.PartNextPass, wire.PartTout}

// call calls a guest and returns its reply with the blob. It closes the descriptors, so that a program sees the end of
// its interactor. An error ends the worker.
func (s *server) call(q wire.Request, blob []byte, fds []int) (wire.Reply, []byte, error) {
	files := fds[:len(q.Files)]
	var live []*os.File
	if fds = fds[len(q.Files):]; q.Stdin == wire.StdinLive {
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
		return wire.Reply{Fault: wire.FaultModule, Detail: err.Error()}, nil, nil
	}
	w := wasi.NewWorld(&fuel.Meter{Limit: q.Fuel, Output: q.OutputBytes, Until: fuel.Until(q.CPUNanos, s.cpu)}, q.Files, files, q.Feedback)
	s.world, w.Args = w, q.Args
	if err := w.Lay(q.Kept, blob); err != nil {
		return wire.Reply{}, nil, err
	}
	said := &dialogue.Transcript{}
	in, err := w.Stdin(q, blob, fds, live, said)
	if err != nil {
		return wire.Reply{}, nil, err
	}
	stdout, stderr := fuel.NewSink(w.Meter), fuel.NewSink(w.Meter)
	var out io.Writer = stdout
	if q.Stdin == wire.StdinLive {
		out = in.(*wasi.Ear).Mouth(live[1])
	}
	w.Connect(in, out, stderr)
	s.memory.allot(q.MemoryBytes)
	a, err := s.run(ctx, l)
	if err != nil {
		return wire.Reply{}, nil, err
	}
	ended := fuel.MachineTime()
	now := fuel.ProcessTime()
	a.CPUNanos = int64(now - s.cpu)
	s.cpu = now
	if e, live := in.(*wasi.Ear); live {
		a.LastNanos, a.HeardNanos, a.EndedNanos = int64(e.HeardLast), int64(e.HeardEnd), int64(ended)
		a.Flooded = e.Flooded()
	}
	a.MemoryBytes, a.GrowsDenied = int64(s.memory.used), s.memory.denied
	if err := s.memory.wipe(); err != nil {
		return wire.Reply{}, nil, err
	}
	return a, collect(&a, stdout, stderr, said, w, q.Keep), nil
}

// run runs an instance to its end. An error ends the worker.
func (s *server) run(ctx context.Context, l *loaded) (a wire.Reply, err error) {
	m := s.world.Meter
	g, failed := s.instance(ctx, l)
	if failed == nil {
		m.Guest = g.module
		failed = g.start.CallWithStack(ctx, nil)
	}
	a.Fuel = m.Used()
	code, ended := wasi.ExitCode(failed)
	switch {
	case m.Fault != wire.FaultNone:
		a.Fault = m.Fault
	case errors.Is(failed, errNoMemory):
		a.Fault, a.Detail = wire.FaultMemory, failed.Error()
	case ended:
		a.Exit = code
	default:
		a.Fault, a.Detail = wire.FaultTrap, trap(failed)
	}
	if g == nil {
		return a, nil
	}
	return a, l.leave(ctx, g, a.Fault == wire.FaultNone)
}

// trap shortens what the engine says of a trap.
func trap(err error) string {
	text := strings.TrimPrefix(err.Error(), "wasm error: ")
	text, _, _ = strings.Cut(text, "\nGo runtime stack trace:")
	return text[:min(len(text), wire.MaxDetail)]
}

// collect puts what the guest wrote into one blob.
func collect(a *wire.Reply, stdout, stderr *fuel.Sink, said *dialogue.Transcript, w *wasi.World, keep bool) []byte {
	var blob []byte
	add := func(name string, data []byte) {
		a.Parts = append(a.Parts, wire.Part{Name: name, Bytes: len(data)})
		blob = append(blob, data...)
	}
	add(wire.PartStdout, stdout.Bytes())
	add(wire.PartStderr, stderr.Bytes())
	if len(said.Bytes()) > 0 {
		add(wire.PartTalk, said.Bytes())
	}
	names := feedbackFiles
	if keep {
		names = w.FeedbackNames()
	}
	for _, name := range names {
		if !w.Feedback {
			break
		}
		if data, ok := w.Written(name); ok {
			add(name, data)
		}
	}
	return blob
}
