package e2e

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"deepoj/host/judge"
	"deepoj/web/client"
)

// TestTheCommandLineGetsTheRightVerdict hands programs in as a user would, with
// `deepoj submit --wait`, to a Deep-OJ on its embedded default.
func TestTheCommandLineGetsTheRightVerdict(t *testing.T) {
	needRoot(t)
	data := filepath.Join(folder(t), "data")
	_, url, c := up(t, data, nil)
	available := map[string]bool{}
	ls, err := c.Languages(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range ls {
		available[l.ID] = l.Available
	}
	for _, id := range []string{"c", "cpp", "python", "go", "java", "javascript"} {
		if !available[id] {
			t.Errorf("language %s is not available", id)
		}
	}
	line := regexp.MustCompile(`^([A-Z]+)  ([\d.]+ m?s)  (\d+) KiB  submission \d+`)
	for _, p := range append(verdictPrograms, languagePrograms...) {
		t.Run(p.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), p.file)
			if err := os.WriteFile(file, []byte(p.text), 0o600); err != nil {
				t.Fatal(err)
			}
			out, errs, status := deepoj(t, nil, "submit", "--server", url, "--problem", "aplusb", "--language", p.language, file, "--wait")
			if !available[p.language] {
				if status != 1 || !strings.Contains(errs, "language") {
					t.Errorf("status %d, stderr %q: want a refusal that names the language", status, errs)
				}
				return
			}
			m := line.FindStringSubmatch(out)
			if m == nil {
				t.Fatalf("printed %q and %q, status %d", out, errs, status)
			}
			if m[1] != string(p.want) {
				t.Errorf("verdict %s, want %s:\n%s", m[1], p.want, out)
			}
			if want := map[bool]int{true: 0, false: 3}[p.want == judge.AC]; status != want {
				t.Errorf("exit status %d, want %d", status, want)
			}
			if p.want == judge.CE && !strings.Contains(out, "undeclared") && !strings.Contains(out, "SyntaxError") {
				t.Errorf("the compiler's words are missing:\n%s", out)
			}
			if kib, err := strconv.Atoi(m[3]); p.want == judge.MLE && (err != nil || kib < 100<<10) {
				t.Errorf("%s KiB were measured at a limit of 128 MiB", m[3])
			}
			if p.want == judge.TLE && m[2] == "0 ms" {
				t.Errorf("no time was measured: %q", out)
			}
		})
	}
	t.Run("a run on inputs of one's own", func(t *testing.T) {
		write := func(name, text string) string {
			path := filepath.Join(t.TempDir(), name)
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			return path
		}
		program, input := write("next.py", "import sys\nprint(int(input()) + len(sys.argv))\nprint('note', file=sys.stderr)\n"), write("in", "41\n")
		out, errs, status := deepoj(t, nil, "run", "--server", url, "--language", "python", program, "--input", input, "--arg", "x", "--expect", write("out", "43"))
		if status != 0 || out != "43\n" || !strings.Contains(errs, "note\n") || !strings.Contains(errs, "AC  ") {
			t.Errorf("status %d, printed %q and %q", status, out, errs)
		}
		if out, errs, status = deepoj(t, nil, "run", "--server", url, "--language", "python", program, "--input", input, "--expect", input); status != 3 || out != "42\n" || !strings.Contains(errs, "WA  ") {
			t.Errorf("another output than expected: status %d, printed %q and %q", status, out, errs)
		}
		sum := write("sum.py", "print(sum(map(int, input().split())))\n")
		if out, errs, status = deepoj(t, nil, "run", "--server", url, "--language", "python", "--problem", "aplusb", "--samples", sum); status != 0 || strings.Count(out, "AC  ") != strings.Count(out, "\n") {
			t.Errorf("the samples: status %d, printed %q and %q", status, out, errs)
		}
	})
	t.Run("the audit is all zeros", func(t *testing.T) {
		out, errs, status := deepoj(t, nil, "audit", "--data", data)
		if status != 0 || regexp.MustCompile(`[1-9]`).MatchString(out) || out == "" {
			t.Errorf("status %d:\n%s%s", status, out, errs)
		}
	})
}

// TestACompileErrorPointsAtTheLine asks the API where the compiler saw the error.
func TestACompileErrorPointsAtTheLine(t *testing.T) {
	needRoot(t)
	_, _, c := up(t, filepath.Join(folder(t), "data"), nil)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	lines := map[string]int{"c": 2, "cpp": 2, "go": 4, "java": 3}
	for _, p := range append(verdictPrograms, languagePrograms...) {
		line, told := lines[p.language]
		if p.want != judge.CE || !told {
			continue
		}
		t.Run(p.name, func(t *testing.T) {
			s := submitAndWait(ctx, t, c, "aplusb", p)
			if s.Result == nil || s.Result.Compile == nil {
				t.Fatalf("no compile report: %+v", s)
			}
			for _, d := range s.Result.Compile.Diagnostics {
				if d.Severity == "error" && d.Line == line && d.File == p.file {
					return
				}
			}
			t.Errorf("no error at %s:%d among %+v", p.file, line, s.Result.Compile.Diagnostics)
		})
	}
}

func submitAndWait(ctx context.Context, t testing.TB, c *client.Client, problem string, p program) *client.Submission {
	t.Helper()
	r, err := c.Submit(ctx, client.NewSubmission{Problem: problem, Language: p.language, Sources: []judge.Source{{Name: p.file, Text: p.text}}})
	if err != nil {
		t.Fatal(err)
	}
	s, err := c.Wait(ctx, r.JobID)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
