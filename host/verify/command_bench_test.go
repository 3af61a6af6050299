package verify_test

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
)

// tiny is a package as setters write them: a program in C, two in Python, ten tests, a
// validator of inputs and a checker.
var tiny = map[string]string{
	"problem.yaml": "name: Sum\nvalidation: custom\n", ".timelimit": "1\n",
	"problem_statement/problem.en.tex": "\\problemname{Sum}\n\nAdd two numbers.\n",
	"submissions/accepted/sum.c":       "#include <stdio.h>\nint main(void) { int a, b; if (scanf(\"%d%d\", &a, &b) != 2) return 1; printf(\"%d\\n\", a + b); }\n",
	"submissions/accepted/sum.py":      "a, b = map(int, input().split())\nprint(a + b)\n",
	"submissions/wrong_answer/less.py": "a, b = map(int, input().split())\nprint(a - b)\n",
	"input_validators/numbers.py":      "import re\nimport sys\nsys.exit(42 if re.fullmatch(r'\\d+ \\d+\\n', sys.stdin.read()) else 43)\n",
	"output_validators/same.c": "#include <stdio.h>\nint main(int argc, char **argv) { int a, b; FILE *f = argc > 2 ? fopen(argv[2], \"r\") : 0;\n" +
		"\tif (!f || fscanf(f, \"%d\", &a) != 1) return 1; return scanf(\"%d\", &b) == 1 && a == b ? 42 : 43; }\n",
}

// smallFolder writes the package.
func smallFolder(b *testing.B) (dir string, tests []string) {
	b.Helper()
	dir = filepath.Join(b.TempDir(), "sum")
	files := map[string]string{}
	maps.Copy(files, tiny)
	for i := range 10 {
		name := fmt.Sprintf("data/secret/%02d", i)
		if i < 2 {
			name = fmt.Sprintf("data/sample/%d", i+1)
		}
		files[name+".in"], files[name+".ans"] = fmt.Sprintf("%d 1\n", i+1), fmt.Sprintf("%d\n", i+2)
		tests = append(tests, filepath.Join(dir, name))
	}
	for name, text := range files {
		full := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	for up := dir; up != os.TempDir() && up != "/"; up = filepath.Dir(up) { // another account reads it
		if err := os.Chmod(up, 0o755); err != nil {
			break
		}
	}
	slices.Sort(tests)
	return dir, tests
}

// python is what programs in Python are run by in the sandbox, too.
const python = "/usr/bin/python3"

// cost is what a command took.
type cost struct{ wall, cpu time.Duration }

// timedRun runs a command and what it starts to its end.
func timedRun(name string, args []string, in, out string, env ...string) (cost, string, error) {
	c := exec.Command(name, args...)
	c.Env = append(os.Environ(), env...)
	var said bytes.Buffer
	c.Stderr = &said
	if in != "" {
		f, err := os.Open(in)
		if err != nil {
			return cost{}, "", err
		}
		defer f.Close()
		c.Stdin = f
	}
	c.Stdout = &said
	if out != "" {
		f, err := os.Create(out)
		if err != nil {
			return cost{}, "", err
		}
		defer f.Close()
		c.Stdout = f
	}
	begun := time.Now()
	err := c.Run()
	took := cost{wall: time.Since(begun)}
	if c.ProcessState != nil {
		took.cpu = c.ProcessState.UserTime() + c.ProcessState.SystemTime()
		if c.ProcessState.Exited() {
			err = nil // who asks knows what the status means
		}
	}
	return took, said.String(), err
}

// plainly runs the programs of the package on the tests, two at once, as a shell would:
// each is started, and nobody contains it. Wrong programs run until the first answer
// that is wrong.
func plainly(b *testing.B, dir string, tests []string) cost {
	b.Helper()
	built := b.TempDir()
	compiled := func(source string) string {
		out := filepath.Join(built, filepath.Base(source))
		if said, err := exec.Command("gcc", "-O2", "-o", out, filepath.Join(dir, source)).CombinedOutput(); err != nil {
			b.Fatalf("gcc: %v: %s", err, said)
		}
		return out
	}
	sum, checker := compiled("submissions/accepted/sum.c"), compiled("output_validators/same.c")
	var mu sync.Mutex
	var total cost
	run := func(name string, args []string, in, out string) error {
		c, _, err := timedRun(name, args, in, out)
		mu.Lock()
		total.cpu += c.cpu
		mu.Unlock()
		return err
	}
	begun := time.Now()
	var g errgroup.Group
	g.SetLimit(2)
	for i, t := range tests {
		g.Go(func() error {
			return run(python, []string{filepath.Join(dir, "input_validators/numbers.py")}, t+".in", "")
		})
		for n, program := range [][]string{{sum}, {python, filepath.Join(dir, "submissions/accepted/sum.py")}, {python, filepath.Join(dir, "submissions/wrong_answer/less.py")}} {
			if n == 2 && i > 0 {
				continue
			}
			out := filepath.Join(built, fmt.Sprintf("%d.%d", i, n))
			g.Go(func() error {
				if err := run(program[0], program[1:], t+".in", out); err != nil {
					return err
				}
				return run(checker, []string{t + ".in", t + ".ans", built + "/"}, out, "")
			})
		}
	}
	if err := g.Wait(); err != nil {
		b.Fatal(err)
	}
	total.wall = time.Since(begun)
	return total
}

// BenchmarkVerifyCommand is `deepoj problem verify` of a small package, again and again,
// against its programs by plain fork and exec, and against problemtools where
// PROBLEMTOOLS names its folder. What is compared runs in turn, and the best of each
// counts: everything else on the machine only adds to it. Of problemtools statements are
// left out, which need TeX.
func BenchmarkVerifyCommand(b *testing.B) {
	const rounds, mostCPU, mostOfPeer = 9, 500 * time.Millisecond, 0.7
	exe, err := filepath.Abs(filepath.Join("..", "..", "bin", "deepoj"))
	if _, missing := os.Stat(exe); err != nil || missing != nil {
		b.Fatal("bin/deepoj is missing: run make build")
	}
	dir, tests := smallFolder(b)
	peer := os.Getenv("PROBLEMTOOLS")
	for b.Loop() {
		best := map[string]cost{}
		note := func(name string, c cost) {
			if old, ok := best[name]; !ok {
				best[name] = c
			} else {
				best[name] = cost{min(old.wall, c.wall), min(old.cpu, c.cpu)}
			}
		}
		for range rounds {
			c, said, err := timedRun(exe, []string{"problem", "verify", dir}, "", "")
			if err != nil || !strings.Contains(said, "slowest accepted") || strings.Contains(said, "!!") {
				b.Fatalf("%v: %s", err, said)
			}
			note("deepoj", c)
			note("plain", plainly(b, dir, tests))
			if peer != "" {
				c, said, err := timedRun(python, []string{"-m", "problemtools.verifyproblem", "-p", "config", "data", "validators", "submissions", "--", dir}, "", "", "PYTHONPATH="+peer)
				if err != nil || !strings.Contains(said, "0 errors") {
					b.Fatalf("problemtools: %v: %s", err, said)
				}
				note("peer", c)
			}
		}
		own, plain := best["deepoj"], best["plain"]
		over := own.cpu - plain.cpu
		fmt.Printf("\nproblem verify: %.2f s, %.2f s of CPU; the same programs plainly: %.2f s, %.2f s of CPU: %.2f× the wall-clock time, %.2f s of CPU over them (at most %.2f s)\n",
			own.wall.Seconds(), own.cpu.Seconds(), plain.wall.Seconds(), plain.cpu.Seconds(), float64(own.wall)/float64(plain.wall), over.Seconds(), mostCPU.Seconds())
		if over > mostCPU {
			b.Errorf("verify took %s of CPU over the programs' own, more than %s", over, mostCPU)
		}
		if peer == "" {
			continue
		}
		ratio := float64(own.wall) / float64(best["peer"].wall)
		fmt.Printf("problemtools: %.2f s, %.2f s of CPU: problem verify takes %.2f× its wall-clock time (at most %.2f×)\n",
			best["peer"].wall.Seconds(), best["peer"].cpu.Seconds(), ratio, mostOfPeer)
		if ratio > mostOfPeer {
			b.Errorf("verify takes %.2f times as long as problemtools, more than %.2f", ratio, mostOfPeer)
		}
	}
}
