// Package runner runs programs in boxes for whoever compiles, checks or judges: in
// turn with others or alone, into files without names, seen in traces and figures.
//
//	sandbox.go   what is asked of the sandbox
//	runner.go    the runner, its files and its figures
//	turns.go     who runs beside others, and who alone
//	compiler.go  compilers that waited for a CPU
//	streams.go   what a tool writes
//	text.go      what programs wrote, as text for people
package runner

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/semaphore"

	"deepoj/host/judge"
	"deepoj/host/platform"
	"deepoj/host/telemetry"
	"deepoj/sandbox"
)

// What is kept of what programs write, in bytes.
const (
	KeptStderr  = 64 << 10
	KeptCompile = 64 << 10 // of what a compiler says
	KeptWords   = 2 << 10  // for people
)

// Runner is what all runs on this machine share. It may be used by several goroutines.
type Runner struct {
	temp   string              // folder for files that have no name
	spare  chan *os.File       // in memory, that were given back
	places *semaphore.Weighted // of what runs or compiles at the same time
	reruns prometheus.Counter
	cut    *prometheus.CounterVec // by stream
}

// New returns a Runner with a folder for its files. Its metrics go to reg.
func New(temp string, reg prometheus.Registerer) (*Runner, error) {
	if err := os.MkdirAll(temp, 0o700); err != nil {
		return nil, err
	}
	r := &Runner{
		temp: temp, spare: make(chan *os.File, mostSpare), places: semaphore.NewWeighted(everybody),
		reruns: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "judging_reruns_total", Help: "Runs repeated alone because they were beyond their CPU limit by less than a tenth, or waited for a CPU until the clock ran out.",
		}),
		cut: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "judge_output_truncated_total", Help: "Outputs of programs and compilers of which only the beginning was kept, by stream.",
		}, []string{"stream"}),
	}
	for _, stream := range []string{stdout, stderr} {
		r.cut.WithLabelValues(stream)
	}
	return r, errors.Join(reg.Register(r.reruns), reg.Register(r.cut))
}

// Values of the label "stream".
const (
	stdout = "stdout"
	stderr = "stderr"
)

// CountRerun counts a run that is made again.
func (r *Runner) CountRerun() { r.reruns.Inc() }

// CountCut counts what a run wrote beyond what was kept. Standard output is
// kept up to the limit on output, if not cut earlier.
func (r *Runner) CountCut(c sandbox.Cmd, ran sandbox.Result) {
	if ran.StdoutTruncated || c.Limits.OutputBytes > 0 && ran.StdoutBytes > c.Limits.OutputBytes {
		r.cut.WithLabelValues(stdout).Inc()
	}
	if ran.StderrTruncated {
		r.cut.WithLabelValues(stderr).Inc()
	}
}

const (
	// mostSpare is how many files that were given back are kept.
	mostSpare = 32
	// mostInMemory is how many bytes may be written to a file in memory. Packages allow 8 MiB unless they say otherwise.
	mostInMemory = 16 << 20
	inMemory     = "output"
)

// Output returns an empty file without a name for at most limit bytes, 0 for any number: in memory if that is little,
// because to write to a file on disk and empty it costs 28 µs a test. Whoever gets it closes it, or gives it back.
func (r *Runner) Output(limit int64) (*os.File, error) {
	if limit <= 0 || limit > mostInMemory {
		return r.Scratch()
	}
	select {
	case f := <-r.spare:
		return f, nil
	default:
		return platform.MemoryFile(inMemory)
	}
}

// Scratch returns an empty file without a name, which the caller closes.
func (r *Runner) Scratch() (*os.File, error) {
	f, err := os.CreateTemp(r.temp, "*")
	if err != nil {
		return nil, fmt.Errorf("make a temporary file: %w", err)
	}
	if err := os.Remove(f.Name()); err != nil {
		return nil, errors.Join(fmt.Errorf("make a temporary file: %w", err), f.Close())
	}
	return f, nil
}

// GiveBack gives what Output returned to whoever needs the next one. Nobody else may have it any more, be it only to
// read.
func (r *Runner) GiveBack(f *os.File) error {
	if f.Name() != inMemory {
		return f.Close()
	}
	if err := Rewind(f); err != nil {
		return errors.Join(err, f.Close())
	}
	select {
	case r.spare <- f:
		return nil
	default:
		return f.Close()
	}
}

// Starved reports whether a run met its wall-clock limit while it waited for a CPU for a good part of the time.
func Starved(r sandbox.Result) bool {
	const part = 10
	return r.Verdict == sandbox.TLE && r.OverWall && r.Pressure > r.Wall/part
}

// Usage is what a run used.
func Usage(r sandbox.Result) judge.Usage {
	return judge.UsageOf(r.CPU, r.Wall, r.MemoryBytes>>10)
}

// Patience is how much longer a second run may take on the clock than the first
// was allowed to, where that waited for a CPU.
const Patience = 6

// Lenience is how long a program of the judges may wait for a CPU, as far as its CPU time does not say.
const Lenience = 30 * time.Second

// RunIn runs a command in a box when its turn comes, beside others.
func (r *Runner) RunIn(ctx context.Context, box *sandbox.Box, c sandbox.Cmd) (sandbox.Result, error) {
	return r.inTurn(ctx, box.Run, c)
}

func (r *Runner) inTurn(ctx context.Context, run func(context.Context, sandbox.Cmd) (sandbox.Result, error), c sandbox.Cmd) (sandbox.Result, error) {
	leave, err := r.Join(ctx)
	if err != nil {
		return sandbox.Result{}, err
	}
	defer leave()
	return Traced(ctx, run, c)
}

// Traced runs a command in a box and shows it in the trace of the job.
func Traced(ctx context.Context, run func(context.Context, sandbox.Cmd) (sandbox.Result, error), c sandbox.Cmd) (sandbox.Result, error) {
	ctx, span := telemetry.Start(ctx, "sandbox run")
	ran, err := run(ctx, c)
	span.Text("verdict", string(ran.Verdict))
	span.Number("cpu_ms", ran.CPU.Milliseconds())
	span.Number("cpu_us", ran.CPU.Microseconds())
	span.Number("memory_kib", ran.MemoryBytes>>10)
	span.End(err)
	return ran, err
}
