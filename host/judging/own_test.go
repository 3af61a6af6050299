package judging_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"deepoj/host/judge"
	"deepoj/host/judging/judgingtest"
)

// own runs a program on inputs of its own.
func own(t *testing.T, p judge.RunPayload, version string) (judge.Result, judge.RunReport, []judge.Progress) {
	t.Helper()
	p.SchemaVersion, p.ContentType = judge.PayloadVersion, judge.RunType
	payload, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	job := judge.Claim{Attempt: judge.Attempt{JobID: 1, Owner: "w1"}, Kind: judge.KindRun, Payload: payload, ProblemVersion: version}
	var told []judge.Progress
	r, err := judgingtest.Get(t).Judge.Run(t.Context(), job, func(x judge.Progress) { told = append(told, x) })
	if err != nil {
		t.Fatal(err)
	}
	var report judge.RunReport
	if len(r.Report) > 0 {
		if err := json.Unmarshal(r.Report, &report); err != nil {
			t.Fatal(err)
		}
	}
	return r, report, told
}

func script(text string, tests ...judge.RunTest) judge.RunPayload {
	if tests == nil {
		tests = []judge.RunTest{{}}
	}
	return judge.RunPayload{Language: "python", Sources: []judge.Source{{Name: "main.py", Text: text}}, Tests: tests}
}

func wants(input, output string) judge.RunTest {
	b := []byte(output)
	return judge.RunTest{Input: []byte(input), Expected: &b}
}

func TestARunTellsWhatTheProgramDid(t *testing.T) {
	t.Parallel()
	with := func(p judge.RunPayload, change func(*judge.RunPayload)) judge.RunPayload {
		change(&p)
		return p
	}
	cProgram := func(text string) judge.RunPayload {
		return judge.RunPayload{Language: "c", Sources: []judge.Source{{Name: "main.c", Text: text}}, Tests: []judge.RunTest{{}}}
	}
	type want struct {
		verdict        judge.Verdict
		stdout, stderr string
		exit, signal   int
		says           string // in the message or the compiler's output
	}
	for name, tt := range map[string]struct {
		run  judge.RunPayload
		want want
	}{
		"it echoes its input":                 {script(cat, judge.RunTest{Input: []byte("1\n")}), want{verdict: judge.AC, stdout: "1\n"}},
		"any output is right without another": {script("print('hello')"), want{verdict: judge.AC, stdout: "hello\n"}},
		"bytes come out as they are":          {script("import sys\nsys.stdout.buffer.write(bytes([255, 0, 10]))"), want{verdict: judge.AC, stdout: "\xff\x00\n"}},
		"blanks at the ends do not count":     {script("print('1 \\n2\\t\\n\\n')", wants("", "1\n2")), want{verdict: judge.AC, stdout: "1 \n2\t\n\n\n"}},
		"blanks within a line count":          {script("print('1  2')", wants("", "1 2")), want{verdict: judge.WA, stdout: "1  2\n"}},
		"a line too many counts":              {script("print('1\\n2')", wants("", "1")), want{verdict: judge.WA, stdout: "1\n2\n"}},
		"an exit status":                      {script("import sys\nprint('x', file=sys.stderr)\nsys.exit(7)"), want{verdict: judge.RE, stderr: "x\n", exit: 7}},
		"a signal":                            {script("import os, signal\nos.kill(os.getpid(), signal.SIGABRT)"), want{verdict: judge.RE, signal: 6}},
		"it never ends":                       {with(script("while True: pass"), func(p *judge.RunPayload) { p.Limits.CPUMillis = 200 }), want{verdict: judge.TLE, says: "more than 200ms"}},
		"it sleeps":                           {with(script("import time\ntime.sleep(60)"), func(p *judge.RunPayload) { p.Limits.WallMillis = 300 }), want{verdict: judge.TLE, says: "on the clock"}},
		"it writes too much":                  {with(script("print('x' * 5000, end='')"), func(p *judge.RunPayload) { p.Limits.OutputKiB = 4 }), want{verdict: judge.OLE, says: "4 KiB"}},
		"it wants too much memory":            {with(cProgram("#include <stdlib.h>\n#include <string.h>\nint main(void) { volatile char *p = malloc(64 << 20); for (long i = 0; i < 64 << 20; i += 512) p[i] = 1; return p[9]; }"), func(p *judge.RunPayload) { p.Limits.MemoryKiB = 16 << 10 }), want{verdict: judge.MLE, says: "16 MiB"}},
		"it does not compile":                 {cProgram("int main(void) { return x; }"), want{verdict: judge.CE, says: "undeclared"}},
		"it has arguments":                    {with(script("import sys\nprint(sys.argv[1:])"), func(p *judge.RunPayload) { p.Args = []string{"a b", "c"} }), want{verdict: judge.AC, stdout: "['a b', 'c']\n"}},
		"the compiler has arguments":          {with(cProgram("#include <stdio.h>\nint main(void) { puts(WORD); }"), func(p *judge.RunPayload) { p.Options = []string{`-DWORD="opted"`} }), want{verdict: judge.AC, stdout: "opted\n"}},
		"a file lies beside it, and it writes": {with(script("open('new', 'w').write(open('dir/data').read())\nprint(open('new').read())"), func(p *judge.RunPayload) {
			p.Writable, p.Files = true, []judge.RunFile{{Name: "dir/data", Data: []byte("given")}}
		}), want{verdict: judge.AC, stdout: "given\n"}},
		"a header lies beside it": {with(cProgram("#include \"h/x.h\"\n#include <stdio.h>\nint main(void) { puts(X); }"), func(p *judge.RunPayload) {
			p.Files = []judge.RunFile{{Name: "h/x.h", Data: []byte("#define X \"headed\"\n")}}
		}), want{verdict: judge.AC, stdout: "headed\n"}},
		"both streams are one": {with(script("import sys\nprint('b', file=sys.stderr)"), func(p *judge.RunPayload) { p.MergeStderr = true }), want{verdict: judge.AC, stdout: "b\n"}},
		"scripts compile and run": {judge.RunPayload{Writable: true, Tests: []judge.RunTest{{Input: []byte("in")}}, Files: []judge.RunFile{
			{Name: "src/main.c", Data: []byte("#include <stdio.h>\nint main(void) { int c; while ((c = getchar()) != EOF) putchar(c); puts(\"!\"); }")},
			{Name: "compile", Data: []byte("gcc -o prog src/main.c\n")},
			{Name: "run", Data: []byte("./prog\n")},
		}}, want{verdict: judge.AC, stdout: "in!\n"}},
		"scripts that do not compile": {judge.RunPayload{Writable: true, Tests: []judge.RunTest{{}}, Files: []judge.RunFile{
			{Name: "compile", Data: []byte("echo no such thing; exit 3\n")}, {Name: "run", Data: []byte("true\n")},
		}}, want{verdict: judge.CE, says: "no such thing"}},
		"scripts without one to run": {judge.RunPayload{Tests: []judge.RunTest{{}}}, want{verdict: judge.CE, says: "no file run"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, report, told := own(t, tt.run, "")
			says := r.Message
			if r.Compile != nil {
				says += r.Compile.Output
			}
			got := want{verdict: r.Verdict, says: tt.want.says}
			if tt.want.says == "" {
				says = ""
			}
			if len(r.Tests) > 0 {
				got.exit, got.signal = r.Tests[0].ExitCode, r.Tests[0].ExitSignal
				if got.verdict != judge.TLE && got.verdict != judge.MLE && got.verdict != judge.OLE {
					got.stdout, got.stderr = string(report.Outputs[0].Stdout), string(report.Outputs[0].Stderr)
				} else {
					got.exit, got.signal = 0, 0
				}
			}
			if got != tt.want || !strings.Contains(says, tt.want.says) {
				t.Errorf("got %+v, want %+v: %s; %+v", got, tt.want, says, report)
			}
			if len(told) != 1+len(r.Tests) || told[0].Kind != judge.EventCompiled || r.Worker != "w1" {
				t.Errorf("%d steps were told of %d tests, by %q", len(told), len(r.Tests), r.Worker)
			}
		})
	}
}

func TestARunHasSeveralTests(t *testing.T) {
	t.Parallel()
	p := script(cat, wants("1\n", "1\n"), wants("2\n", "3\n"), judge.RunTest{Input: []byte("4\n")})
	p.Repeat = 2
	r, report, _ := own(t, p, "")
	if r.Verdict != judge.WA || verdicts(r) != "AC WA AC" || string(report.Outputs[2].Stdout) != "4\n" || r.Tests[0].Usage.MemoryKiB == 0 {
		t.Errorf("%s with %s: %+v", r.Verdict, verdicts(r), report.Outputs)
	}
}

func TestARunOfSamplesIsCheckedAsASubmission(t *testing.T) {
	t.Parallel()
	pkg := echo(t, map[string]string{
		"problem.yaml":      "name: Echo\nvalidation: default\nvalidator_flags: float_tolerance 0.1\nlimits: {memory: 128, output: 1, code: 4}\n",
		"data/sample/1.ans": "1.05\n", "data/sample/2.in": "5\n", "data/sample/2.ans": "6\n",
	})
	p := script(cat)
	p.Tests, p.Problem, p.Samples = nil, "echo", true
	r, report, _ := own(t, p, string(pkg.Version))
	if verdicts(r) != "AC WA" || r.Verdict != judge.WA || r.Tests[1].Name != "sample/2" || string(report.Outputs[1].Stdout) != "5\n" {
		t.Errorf("%s with %s: %+v %+v", r.Verdict, verdicts(r), r.Tests, report)
	}
	p.Samples, p.Tests = false, []judge.RunTest{{Input: []byte("own\n")}}
	p.Sources[0].Text = strings.Repeat("#", 5<<10)
	if r, _, _ := own(t, p, string(pkg.Version)); r.Verdict != judge.CE || !strings.Contains(r.Message, "more than the 4096") {
		t.Errorf("the problem's bound on sources does not hold: %s %s", r.Verdict, r.Message)
	}
}

func TestWhatAProgramWroteIsGoneForTheNextHoweverItEnded(t *testing.T) {
	t.Parallel()
	j := judgingtest.Get(t).Judge
	claim := func(p judge.RunPayload) judge.Claim {
		p.SchemaVersion, p.ContentType = judge.PayloadVersion, judge.RunType
		payload, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		return judge.Claim{Attempt: judge.Attempt{JobID: 1, Owner: "w1"}, Kind: judge.KindRun, Payload: payload}
	}
	talker := claim(script("import sys, time\nwhile True: print('secret', flush=True); print('secret', file=sys.stderr, flush=True); time.sleep(0.001)"))
	loud := claim(script("import sys; print('secret'); print('secret', file=sys.stderr)"))
	quiet := claim(script("pass", judge.RunTest{}, judge.RunTest{}, judge.RunTest{}))
	silent := func() {
		r, err := j.Run(t.Context(), quiet, func(judge.Progress) {})
		var report judge.RunReport
		if err == nil {
			err = json.Unmarshal(r.Report, &report)
		}
		if err != nil || len(report.Outputs) != 3 || slices.ContainsFunc(report.Outputs, func(o judge.RunOutput) bool { return len(o.Stdout)+len(o.Stderr) > 0 }) {
			t.Errorf("a program that writes nothing has written: %s, %v", r.Report, err)
		}
	}
	var all sync.WaitGroup
	all.Go(func() {
		for i := range 12 { // cut off at any moment
			ctx, cancel := context.WithTimeout(t.Context(), time.Duration(50+40*i)*time.Millisecond)
			if r, err := j.Run(ctx, talker, func(judge.Progress) {}); err == nil {
				t.Errorf("a run that goes on for ever has ended: %s", r.Verdict)
			}
			cancel()
			if r, err := j.Run(t.Context(), loud, func(judge.Progress) {}); err != nil || r.Verdict != judge.AC { // its files are given back
				t.Errorf("a run that ends well is %s, %v", r.Verdict, err)
			}
			silent()
		}
	})
	all.Go(func() {
		for range 12 {
			silent()
		}
	})
	all.Wait()
}
