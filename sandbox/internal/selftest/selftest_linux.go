// Package selftest tries whether a sandbox ends programs as it should.
package selftest

import (
	"fmt"
	"time"

	"deepoj/sandbox/internal/elf"
	"deepoj/sandbox/internal/wire"
)

// Patience is how long a self-test may take on a slow machine.
const Patience = time.Minute

// Run has run run programs that exit, spin, and use memory, and says which of them did not end as it should.
func Run(run func(program []byte, limits wire.Limits) (wire.Result, error)) error {
	for _, t := range []struct {
		name string
		code []byte
		want wire.Verdict
		exit int
	}{
		{"exits with status 7", elf.Exit, wire.RE, elf.ExitStatus},
		{"uses CPU time for ever", elf.Spin, wire.TLE, 0},
		{"uses memory for ever", elf.Hog, wire.MLE, 0},
	} {
		limits := wire.Limits{CPU: 50 * time.Millisecond, Wall: Patience / 4, MemoryBytes: 16 << 20}
		if t.want != wire.TLE {
			limits.CPU = 10 * time.Second
		}
		res, err := run(elf.Executable(t.code), limits)
		if err != nil {
			return err
		}
		if res.Verdict != t.want || res.ExitCode != t.exit {
			return fmt.Errorf("a program that %s ended as %s with status %d and not as %s: %s", t.name, res.Verdict, res.ExitCode, t.want, res.Error)
		}
	}
	return nil
}
