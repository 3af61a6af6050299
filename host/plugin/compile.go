package plugin

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"syscall"
	"time"

	"deepoj/host/plugin/internal/wire"
)

// compileTries is how often a compile child is started that somebody kills.
const compileTries = 2

// compile compiles the module in dir in a child process, since small modules can
// cost gigabytes and minutes, and nothing in this process could stop that. One that
// is compiled anew was compiled before.
func (r *Runtime) compile(ctx context.Context, dir string, anew bool) error {
	select {
	case r.compiling <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-r.compiling }()
	from := time.Now()
	defer func() { r.metrics.compileSeconds.Observe(time.Since(from).Seconds()) }()
	for try := 1; ; try++ {
		again, err := r.compileOnce(ctx, dir, anew)
		if !again || try == compileTries {
			return err
		}
	}
}

// compileOnce reports, with the error, whether it is worth to try again.
func (r *Runtime) compileOnce(ctx context.Context, dir string, anew bool) (again bool, err error) {
	p, err := r.spawner.spawn(wire.CompileCommand, wire.Limits{Dir: dir, Again: anew, DataBytes: r.cfg.CompileBytes, CPU: r.cfg.CompileCPU})
	if err != nil {
		return false, err
	}
	patient, cancel := context.WithTimeoutCause(ctx, r.cfg.Patience, ErrPatience)
	defer cancel()
	if err := p.wait(patient); ctx.Err() != nil {
		return false, ctx.Err()
	} else if err != nil {
		return false, r.tooCostly("it took longer than " + r.cfg.Patience.String())
	}
	var exit *exec.ExitError
	switch {
	case p.err == nil:
		return false, nil
	case !errors.As(p.err, &exit):
		return false, fmt.Errorf("compile module: %w", p.err)
	case exit.ExitCode() == wire.ExitInvalid:
		return false, &Refusal{Rule: "invalid", Offender: cut(p.stdout.String(), wire.MaxDetail), Remedy: "the module does not validate: build it anew with a current compiler"}
	case exit.ExitCode() == wire.ExitBroken:
		return false, fmt.Errorf("compile module: %s", p.lastWords())
	}
	status, ok := exit.Sys().(syscall.WaitStatus)
	killed := ok && status.Signal() == syscall.SIGKILL && exit.UserTime()+exit.SystemTime() < r.cfg.CompileCPU-time.Second/2
	return killed, r.tooCostly(p.lastWords())
}

// tooCostly refuses a module that cannot be compiled within the limits.
func (r *Runtime) tooCostly(how string) *Refusal {
	return &Refusal{
		Rule:     "compile-cost",
		Offender: fmt.Sprintf("compiling it within %s and %d MiB failed: %s", r.cfg.CompileCPU, r.cfg.CompileBytes>>20, how),
		Remedy:   "split large functions, or build with optimization for size",
	}
}

// cut shortens s to n bytes.
func cut(s string, n int) string { return s[:min(len(s), n)] }
