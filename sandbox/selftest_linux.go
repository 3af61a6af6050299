package sandbox

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// selfTestStatus is the exit status of the self-test's program.
const selfTestStatus = 7

// selfTestPatience is how long the self-test may take on a slow machine.
const selfTestPatience = time.Minute

// selfTestFresh is for how long a self-test that passed is believed.
const selfTestFresh = 10 * time.Second

// health remembers the last self-test.
type health struct {
	mu     sync.Mutex
	passed time.Time
}

// check says what is wrong with the agent, "" if nothing is. It tests anew when
// the last test is not fresh.
func (a *agent) check(ctx context.Context) string {
	a.health.mu.Lock()
	defer a.health.mu.Unlock()
	if time.Since(a.health.passed) < selfTestFresh {
		return ""
	}
	if err := a.selfTest(ctx); err != nil {
		return err.Error()
	}
	a.health.passed = time.Now()
	return ""
}

// selfTest makes one room and runs the smallest programs in it, so that an agent
// that starts is one that works.
func (a *agent) selfTest(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, selfTestPatience)
	defer cancel()
	b, leave, err := a.oneBox(ctx, BoxOptions{})
	if err != nil {
		return fmt.Errorf("test the sandbox: %w", err)
	}
	if err := errors.Join(tryBox(ctx, b), leave()); err != nil {
		return fmt.Errorf("test the sandbox: %w", err)
	}
	return nil
}

// tryBox runs programs that exit, spin, and use memory.
func tryBox(ctx context.Context, b *Box) error {
	for _, t := range []struct {
		name string
		code []byte
		want Verdict
		exit int
	}{
		{"exits with status 7", exitCode, RE, selfTestStatus},
		{"uses CPU time for ever", spinCode, TLE, 0},
		{"uses memory for ever", hogCode, MLE, 0},
	} {
		err := b.Put(ctx, File{Path: "selftest", Mode: 0o755, Data: smallProgram(t.code)})
		if err != nil {
			return err
		}
		limits := Limits{CPU: 50 * time.Millisecond, Wall: selfTestPatience / 4, MemoryBytes: 16 << 20}
		if t.want != TLE {
			limits.CPU = 10 * time.Second
		}
		res, err := b.Run(ctx, Cmd{Program: "./selftest", Limits: limits})
		if err != nil {
			return err
		}
		if res.Verdict != t.want || res.ExitCode != t.exit {
			return fmt.Errorf("a program that %s ended as %s with status %d and not as %s: %s", t.name, res.Verdict, res.ExitCode, t.want, res.Error)
		}
	}
	return nil
}
