//go:build size

// These tests are for `make verify-size`: they say something only of a machine with little else to do, with all that is
// embedded at hand.

package main

import (
	"cmp"
	"debug/elf"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"deepoj/plugins"
)

// maxSize bounds the stripped program for Linux on amd64, in bytes.
const maxSize = 60_000_000

// maxStart bounds the CPU time of `deepoj version`, as a multiple of that of an empty Go program.
const maxStart = 3.0

// compile builds a package for Linux on amd64, as it is installed but for more flags, and returns the program.
func compile(t *testing.T, pkg string, flags ...string) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "program")
	cmd := exec.CommandContext(t.Context(), "go", append(append([]string{"build", "-trimpath", "-buildvcs=false", "-o", program}, flags...), pkg)...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH=amd64")
	if said, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build %s: %v\n%s", pkg, err, said)
	}
	return program
}

func TestTheStrippedProgramIsSmall(t *testing.T) {
	if _, err := plugins.Languages(); err != nil {
		t.Fatal(err)
	}
	stripped := compile(t, ".", "-ldflags=-s -w")
	info, err := os.Stat(stripped)
	if err != nil {
		t.Fatal(err)
	}
	whole, err := elf.Open(stripped)
	if err != nil {
		t.Fatal(err)
	}
	defer whole.Close()
	sections, rest := map[string]int64{}, info.Size()
	for _, s := range whole.Sections {
		if s.Type == elf.SHT_PROGBITS && s.FileSize > 100_000 {
			sections[s.Name] = int64(s.FileSize)
			rest -= int64(s.FileSize)
		}
	}
	sections["other"] = rest
	t.Logf("%d bytes stripped, at most %d; of these\n%s\ncode by where it comes from\n%s", info.Size(), maxSize,
		table(sections, len(sections)), table(functions(t, compile(t, ".")), 20))
	if info.Size() > maxSize {
		t.Errorf("the stripped program has %d bytes, more than %d", info.Size(), maxSize)
	}
}

// origin is what a symbol's package begins with: a module that we require, by two or three of its parts, or the first
// part of a package of the standard library.
var origin = regexp.MustCompile(`^(?:go:|type:\.eq\.\*?|type:)?((?:github\.com|google\.golang\.org|go\.opentelemetry\.io|golang\.org)/[\w.-]+(?:/[\w-]+)?|[\w.-]+)`)

// functions returns the bytes of the functions in a program with symbols, by module.
func functions(t *testing.T, program string) map[string]int64 {
	t.Helper()
	f, err := elf.Open(program)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	symbols, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	sizes := map[string]int64{}
	for _, s := range symbols {
		if elf.ST_TYPE(s.Info) != elf.STT_FUNC {
			continue
		}
		from := "?"
		if m := origin.FindStringSubmatch(s.Name); m != nil {
			from = m[1]
			if !strings.Contains(from, "/") {
				from, _, _ = strings.Cut(from, ".") // the package without the function
			}
		}
		sizes[from] += int64(s.Size)
	}
	return sizes
}

// table writes the largest rows, in megabytes, and the sum of the others.
func table(sizes map[string]int64, rows int) string {
	var b strings.Builder
	names := slices.SortedFunc(maps.Keys(sizes), func(a, b string) int { return cmp.Or(cmp.Compare(sizes[b], sizes[a]), cmp.Compare(a, b)) })
	var others int64
	for i, name := range names {
		if i < rows {
			fmt.Fprintf(&b, "%8.2f MB  %s\n", float64(sizes[name])/1e6, name)
		} else {
			others += sizes[name]
		}
	}
	if len(names) > rows {
		fmt.Fprintf(&b, "%8.2f MB  %d others\n", float64(others)/1e6, len(names)-rows)
	}
	return b.String()
}

func TestVersionStartsAsQuicklyAsAProgramThatDoesNothing(t *testing.T) {
	nothing := filepath.Join(t.TempDir(), "nothing.go")
	if err := os.WriteFile(nothing, []byte("package main\n\nfunc main() {}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	programs := [][]string{{compile(t, nothing, "-ldflags=-s -w")}, {compile(t, ".", "-ldflags=-s -w"), "version"}}
	const turns = 61
	var took [2][]time.Duration
	for range turns {
		for i, p := range programs {
			cmd := exec.CommandContext(t.Context(), p[0], p[1:]...)
			if err := cmd.Run(); err != nil {
				t.Fatalf("%q: %v", p, err)
			}
			took[i] = append(took[i], cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
		}
	}
	slices.Sort(took[0])
	slices.Sort(took[1])
	ratio := float64(took[1][turns/2]) / float64(took[0][turns/2])
	t.Logf("CPU time of `deepoj version`: %.2f× that of an empty program, at most %.1f×", ratio, maxStart)
	if ratio > maxStart {
		t.Errorf("`deepoj version` takes %.2f times the CPU time of an empty program, more than %.1f times", ratio, maxStart)
	}
}
