package plugin

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/experimental"
	"github.com/tetratelabs/wazero/experimental/sysfs"
	"github.com/tetratelabs/wazero/sys"
	"golang.org/x/sys/unix"
)

// feedbackFiles are the files of the feedback folder that somebody reads.
var feedbackFiles = []string{partJudge, "teammessage.txt", "score.txt", "score_multiplier.txt", "nextpass.in", partTout}

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
	ctx := experimental.WithMemoryAllocator(context.Background(), s.memory)
	l, err := s.module(ctx, q.Dir)
	if err != nil {
		return reply{Fault: faultModule, Detail: err.Error()}, nil, nil
	}
	s.meter = &meter{limit: q.Fuel, output: q.OutputBytes}
	w, err := newWorld(s.meter, q.Files, files, q.Feedback)
	if err != nil {
		return reply{}, nil, fmt.Errorf("look at files: %w", err)
	}
	said := &talk{}
	in, err := s.stdin(q, blob, fds, live, said)
	if err != nil {
		return reply{}, nil, err
	}
	stdout, stderr := &sink{m: s.meter}, &sink{m: s.meter}
	var out io.Writer = stdout
	if q.Stdin == stdinLive {
		out = &mouth{m: s.meter, f: live[1], talk: said}
	}
	world := wazero.NewFSConfig().(sysfs.FSConfig).WithSysFSMount(w, "/")
	cfg := s.config.WithArgs(q.Args...).WithStdin(in).WithStdout(out).WithStderr(stderr).
		WithFSConfig(world).WithRandSource(&dice{m: s.meter})

	s.memory.allot(q.MemoryBytes)
	a := s.run(ctx, l, cfg)
	now := processTime()
	a.CPUNanos = int64(now - s.cpu)
	s.cpu = now
	if e, live := in.(*ear); live {
		a.HeardEnd = e.heardEnd
	}
	a.MemoryBytes, a.GrowsDenied = int64(s.memory.used), s.memory.denied
	if err := s.memory.wipe(); err != nil {
		return reply{}, nil, err
	}
	return a, a.collect(stdout, stderr, said, w), nil
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
func (s *server) stdin(q request, blob []byte, fds []int, live []*os.File, said *talk) (io.Reader, error) {
	switch q.Stdin {
	case stdinBlob:
		return &plainReader{m: s.meter, n: &node{host: none, data: blob}}, nil
	case stdinFile:
		n, err := hostNode(fds[0])
		if err != nil {
			return nil, fmt.Errorf("look at stdin: %w", err)
		}
		return &plainReader{m: s.meter, n: n}, nil
	case stdinLive:
		return &ear{m: s.meter, f: live[0], talk: said}, nil
	case stdinEmpty:
	}
	return bytes.NewReader(nil), nil
}

// run makes an instance, runs it to its end and throws it away.
func (s *server) run(ctx context.Context, l *loaded, cfg wazero.ModuleConfig) (a reply) {
	defer func() {
		// Only making the instance panics, when even its first memory is denied.
		if p := recover(); p != nil {
			a = reply{Fault: faultMemory, Detail: fmt.Sprint(p)}
		}
	}()
	guest, err := s.engine.InstantiateModule(ctx, l.module, cfg)
	if err == nil {
		s.meter.guest = guest
		_, err = guest.ExportedFunction(entryPoint).Call(ctx)
	}
	a.Fuel = s.meter.used()
	if guest != nil {
		err = errors.Join(err, guest.Close(ctx))
	}
	var exit *sys.ExitError
	switch {
	case s.meter.fault != faultNone:
		a.Fault = s.meter.fault
	case errors.As(err, &exit):
		a.Exit = exit.ExitCode()
	case err != nil:
		a.Fault, a.Detail = faultTrap, trap(err)
	}
	return a
}

// trap shortens what the engine says of a trap.
func trap(err error) string {
	text := strings.TrimPrefix(err.Error(), "wasm error: ")
	text, _, _ = strings.Cut(text, "\nGo runtime stack trace:")
	return text[:min(len(text), maxDetail)]
}

// collect puts what the guest wrote into one blob.
func (a *reply) collect(stdout, stderr *sink, said *talk, w *world) []byte {
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
	for _, name := range feedbackFiles {
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
func processTime() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &t); err != nil {
		return 0 // the clock always exists on Linux
	}
	return time.Duration(t.Nano())
}
