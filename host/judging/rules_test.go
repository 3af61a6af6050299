package judging_test

import (
	"context"
	"errors"
	"maps"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"deepoj/host/blob"
	"deepoj/host/judge"
	"deepoj/host/judging"
	"deepoj/host/judging/blame"
	"deepoj/host/judging/judgingtest"
	"deepoj/host/problem"
	"deepoj/host/problem/importing"
	"deepoj/plugins"
	"deepoj/sandbox"
)

// echo is a package whose programs must print their input; files go over it, and
// an empty text removes one.
func echo(t testing.TB, files map[string]string) *problem.Package {
	t.Helper()
	all := map[string]string{
		"problem.yaml": "name: Echo\nlimits: {memory: 128, output: 1, code: 4}\n", ".timelimit": "1",
		"data/sample/1.in": "1\n", "data/sample/1.ans": "1\n", "data/secret/1.in": "2\n", "data/secret/1.ans": "2\n",
	}
	maps.Copy(all, files)
	fsys := fstest.MapFS{}
	for name, text := range all {
		if text != "" {
			fsys[name] = &fstest.MapFile{Data: []byte(text), Mode: 0o644}
		}
	}
	pkg, _, err := importing.Read(fsys)
	if err != nil {
		t.Fatal(err)
	}
	pkg.Slug = "echo"
	if _, err := pkg.Save(t.Context(), judgingtest.Get(t).Blobs); err != nil {
		t.Fatal(err)
	}
	return pkg
}

const cat = "import sys\nsys.stdout.write(sys.stdin.read())\n"

// python is a submission in Python.
func python(text string) judge.Payload {
	return judge.Payload{Problem: "echo", Language: "python", Sources: []judge.Source{{Name: "my program.py", Text: text}}}
}

// judged judges a submission that gives a result.
func judged(t testing.TB, j *judging.Judge, p judge.Payload, pkg *problem.Package) judge.Result {
	t.Helper()
	r, err := j.Judge(t.Context(), p, pkg.Version, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// verdicts are the verdicts of the tests, "-" for those that were left out.
func verdicts(r judge.Result) string {
	var all []string
	for _, t := range r.Tests {
		v := string(t.Verdict)
		if v == "" {
			v = "-"
		}
		if t.Reused {
			v += "="
		}
		all = append(all, v)
	}
	return strings.Join(all, " ")
}

// counted returns a Judge whose metrics can be read.
func counted(t *testing.T, change func(*judging.Config)) (*judging.Judge, func(name string) float64) {
	t.Helper()
	reg := prometheus.NewRegistry()
	j, err := judgingtest.Get(t).Open(func(c *judging.Config) {
		c.Registerer = reg
		if change != nil {
			change(c)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return j, func(name string) float64 {
		families, err := reg.Gather()
		if err != nil {
			t.Fatal(err)
		}
		total := 0.0
		for _, f := range families {
			if f.GetName() == name {
				for _, m := range f.GetMetric() {
					total += m.GetCounter().GetValue()
				}
			}
		}
		return total
	}
}

func TestOutputOfWhichOnlyTheBeginningIsKeptIsCounted(t *testing.T) {
	t.Parallel()
	const name = "judge_output_truncated_total"
	j, count := counted(t, nil)
	pkg := echo(t, map[string]string{
		"problem.yaml": "name: Echo\nlimits:\n  output: 1\n", "data/secret/1.in": "1\n", "data/secret/1.ans": "1\n",
	})
	if r := judged(t, j, python(cat), pkg); r.Verdict != judge.AC || count(name) != 0 {
		t.Errorf("after a short output: %s and %g counted", r.Verdict, count(name))
	}
	const talks = "import sys\nsys.stderr.write('x' * (1 << 20))\nprint(1)\n"
	if r := judged(t, j, python(talks), pkg); r.Verdict != judge.AC || count(name) != 1 {
		t.Errorf("after a long stderr: %s and %g counted, want 1", r.Verdict, count(name))
	}
	const floods = "print('1' * (2 << 20))\n"
	if r := judged(t, j, python(floods), pkg); r.Verdict != judge.OLE || count(name) != 2 {
		t.Errorf("after a long output: %s and %g counted, want 2", r.Verdict, count(name))
	}
}

func TestADistinctTestIsRunOnceAndScoredManyTimes(t *testing.T) {
	t.Parallel()
	j, count := counted(t, nil)
	pkg := echo(t, map[string]string{
		"problem.yaml":              "name: Echo\ntype: scoring\n",
		"data/testdata.yaml":        "on_reject: continue\ngrader_flags: ignore_sample\n",
		"data/secret/testdata.yaml": "on_reject: continue\n",
		"data/secret/1.in":          "", "data/secret/1.ans": "",
		"data/secret/a/testdata.yaml": "accept_score: 10\ngrader_flags: min\n",
		"data/secret/a/1.in":          "1\n", "data/secret/a/1.ans": "1\n", "data/secret/a/2.in": "2\n", "data/secret/a/2.ans": "2\n",
		"data/secret/b/testdata.yaml": "accept_score: 20\ngrader_flags: min\n",
		"data/secret/b/1.in":          "1\n", "data/secret/b/1.ans": "1\n", "data/secret/b/2.in": "2\n", "data/secret/b/2.ans": "2\n",
		"data/secret/b/3.in": "1\n", "data/secret/b/3.ans": "another answer\n",
	})
	r := judged(t, j, python(cat), pkg)
	if got := verdicts(r); got != "AC AC= AC AC= AC= WA" {
		t.Errorf("tests are %s", got)
	}
	if n := count("judging_runs_total"); n != 3 {
		t.Errorf("%g runs, want one for each of the 3 distinct tests", n)
	}
	if r.Score == nil || *r.Score != 10 || r.MaxScore == nil || *r.MaxScore != 30 || r.Groups[0].Formula != "sum(10)" {
		t.Errorf("score %v of %v by %s", r.Score, r.MaxScore, r.Groups[0].Formula)
	}
	var names []string
	for _, g := range r.Groups {
		names = append(names, g.Name)
	}
	if got := strings.Join(names, " "); got != " sample secret secret/a secret/b" {
		t.Errorf("groups are %q", got)
	}
}

// What runs ahead on other cores changes nothing.
func TestTestsAfterTheDecisionAreLeftOutOnAnyNumberOfCores(t *testing.T) {
	t.Parallel()
	files := map[string]string{}
	for _, n := range []string{"1", "2", "3", "4", "5", "6", "7", "8"} {
		files["data/secret/"+n+".in"], files["data/secret/"+n+".ans"] = n+"\n", n+"\n"
	}
	files["data/secret/3.ans"] = "other\n"
	pkg := echo(t, files)
	for _, cores := range []int{1, 2} {
		j, _ := counted(t, func(c *judging.Config) { c.Cores = cores })
		var steps []string
		r, err := j.Judge(t.Context(), python(cat), pkg.Version, func(p judge.Progress) {
			if p.Test != nil {
				steps = append(steps, p.Test.Name+string(p.Test.Verdict))
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := verdicts(r); got != "AC AC= AC WA - - - - -" || r.Verdict != judge.WA {
			t.Errorf("on %d cores: %s, tests %s", cores, r.Verdict, got)
		}
		if got := strings.Join(steps, " "); got != "sample/1AC secret/1AC secret/2AC secret/3WA" {
			t.Errorf("on %d cores the steps are %q", cores, got)
		}
		if !strings.Contains(r.Message, "test 4 of 9") {
			t.Errorf("the message is %q", r.Message)
		}
	}
}

func TestACheckerThatFailsIsAJudgingErrorAndNeverAWrongAnswer(t *testing.T) {
	t.Parallel()
	base := "name: Echo\nvalidation: custom\nlimits: {validation_time: 1, validation_memory: 64}\n"
	tests := map[string]struct{ checker, note string }{
		"it ends with status 0":   {"int main(void) { return 0; }", "exit status 0"},
		"it ends with status 1":   {"int main(void) { return 1; }", "exit status 1"},
		"it traps":                {"int main(void) { __builtin_trap(); }", "trapped"},
		"it never ends":           {"int main(void) { for (volatile int i = 0;; i++) {} }", "fuel"},
		"it takes all memory":     {"#include <stdlib.h>\nint main(void) { for (;;) { volatile char *p = malloc(1 << 20); if (!p) abort(); *p = 1; } }", "memory"},
		"it does not compile":     {"int main(void) { return undeclared; }", "does not compile"},
		"it reads no file it has": {"#include <stdio.h>\n#include <stdlib.h>\nint main(void) { if (!fopen(\"/etc/passwd\", \"r\")) abort(); return 42; }", "trapped"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pkg := echo(t, map[string]string{"problem.yaml": base, "output_validators/check.c": tt.checker})
			r := judged(t, judgingtest.Get(t).Judge, python(cat), pkg)
			if r.Verdict != judge.JE || !strings.Contains(r.JudgeNote, tt.note) {
				t.Errorf("verdict %s, note %q: want JE and %q", r.Verdict, r.JudgeNote, tt.note)
			}
			if strings.Contains(r.Message, "check") || r.Message == "" {
				t.Errorf("the contestant is told %q", r.Message)
			}
		})
	}
}

func TestACheckerOfThePackageDecidesAndGivesPoints(t *testing.T) {
	t.Parallel()
	const points = `#include <stdio.h>
#include <string.h>
int main(int argc, char **argv)
{
	char path[64], word[16] = "";
	double points = 0;
	if (argc != 6 || strcmp(argv[4], "a") || strcmp(argv[5], "b"))
		return 1;
	snprintf(path, sizeof path, "%sscore.txt", argv[3]);
	FILE *f = fopen(path, "w");
	scanf("%15s %lf", word, &points);
	fprintf(f, "%g\n", points);
	fclose(f);
	return strcmp(word, "good") ? 43 : 42;
}`
	pkg := echo(t, map[string]string{
		"problem.yaml":              "name: Echo\ntype: scoring\nvalidation: custom score\nvalidator_flags: a\n",
		"data/testdata.yaml":        "on_reject: continue\noutput_validator_flags: b\nrange: 0 100\n",
		"output_validators/check.c": points,
		"data/sample/1.in":          "good 1.5\n", "data/secret/1.in": "good 20\n", "data/secret/2.in": "bad 3\n", "data/secret/2.ans": "x\n",
	})
	r := judged(t, judgingtest.Get(t).Judge, python(cat), pkg)
	if r.Verdict != judge.WA || r.Score == nil || *r.Score != 24.5 || r.MaxScore == nil || *r.MaxScore != 100 {
		t.Errorf("verdict %s, score %v of %v: %s", r.Verdict, r.Score, r.MaxScore, r.JudgeNote)
	}
	tokens, err := plugins.Checker("tokens")
	if err != nil {
		t.Fatal(err)
	}
	pkg = echo(t, map[string]string{"problem.yaml": "name: Echo\nvalidation: custom\n", "output_validators/tokens.wasm": string(tokens)})
	if r := judged(t, judgingtest.Get(t).Judge, python(cat), pkg); r.Verdict != judge.AC {
		t.Errorf("with a module: %s %s", r.Verdict, r.JudgeNote)
	}
	pkg = echo(t, map[string]string{"problem.yaml": "name: Echo\nvalidation: custom\n", "output_validators/tokens.wasm": "not a module"})
	if r := judged(t, judgingtest.Get(t).Judge, python(cat), pkg); r.Verdict != judge.JE {
		t.Errorf("with a module that is none: %s", r.Verdict)
	}
}

func TestAllCheckersMustAccept(t *testing.T) {
	t.Parallel()
	pkg := echo(t, map[string]string{
		"problem.yaml":          "name: Echo\nvalidation: custom\n",
		"output_validators/a.c": "int main(void) { return 42; }", "output_validators/b/b.c": "int main(void) { return 43; }",
	})
	if r := judged(t, judgingtest.Get(t).Judge, python(cat), pkg); r.Verdict != judge.WA {
		t.Errorf("verdict %s", r.Verdict)
	}
}

func TestWhatWasCompiledOnceIsNotCompiledAgain(t *testing.T) {
	t.Parallel()
	pkg := echo(t, nil)
	p := judge.Payload{Problem: "echo", Language: "cpp", Sources: []judge.Source{{Name: "a.cpp", Text: "#include <iostream>\nint main() { std::cout << std::cin.rdbuf(); }\n"}}}
	dir := t.TempDir()
	for range 2 { // the second as after a restart
		j, count := counted(t, func(c *judging.Config) { c.CacheDir = dir })
		for range 2 {
			if r := judged(t, j, p, pkg); r.Verdict != judge.AC || !r.Compile.OK || r.Tool == "" || !strings.HasPrefix(r.Adapter, "sha256:") {
				t.Errorf("result is %+v", r)
			}
		}
		if n := count("judging_builds_total"); n != 2 {
			t.Errorf("%g builds", n)
		}
	}
	entries, err := filepath.Glob(filepath.Join(dir, "built", "*"))
	if err != nil || len(entries) != 1 {
		t.Errorf("the cache holds %q, %v: want one program", entries, err)
	}
}

func TestWhatProgramsWriteIsCleaned(t *testing.T) {
	t.Parallel()
	pkg := echo(t, nil)
	r := judged(t, judgingtest.Get(t).Judge, python("import sys\nsys.stdout.buffer.write(b'\\0\\xff' * 9000)\nsys.stderr.buffer.write(b'\\0\\xfe')\nsys.exit(1)\n"), pkg)
	if r.Verdict != judge.RE || len(r.Tests[0].Output) == 0 || len(r.Tests[0].Output) > 64<<10 {
		t.Errorf("verdict %s, %d bytes of output", r.Verdict, len(r.Tests[0].Output))
	}
	for _, s := range []string{r.Tests[0].Output, r.Tests[0].JudgeNote, r.Message} {
		if strings.ContainsRune(s, 0) || strings.ToValidUTF8(s, "") != s {
			t.Errorf("%q is not clean", s)
		}
	}
}

func TestACodeLimitIsACompileError(t *testing.T) {
	t.Parallel()
	r := judged(t, judgingtest.Get(t).Judge, python("#"+strings.Repeat("x", 5000)), echo(t, nil))
	if r.Verdict != judge.CE || !strings.Contains(r.Message, "5001 bytes, more than the 4096") {
		t.Errorf("verdict %s: %s", r.Verdict, r.Message)
	}
}

func TestAFactorGivesALanguageMoreTime(t *testing.T) {
	t.Parallel()
	pkg := echo(t, nil)
	burn := python("import time\nwhile time.process_time() < 1.5: pass\n" + cat)
	if r := judged(t, judgingtest.Get(t).Judge, burn, pkg); r.Verdict != judge.TLE {
		t.Errorf("without a factor: %s", r.Verdict)
	}
	j, _ := counted(t, func(c *judging.Config) { c.Factors = map[string]float64{"python": 3} })
	if r := judged(t, j, burn, pkg); r.Verdict != judge.AC {
		t.Errorf("with a factor: %s %s", r.Verdict, r.Message)
	}
}

func TestFailuresOfThePlatformAreErrors(t *testing.T) {
	t.Parallel()
	m := judgingtest.Get(t)
	pkg := echo(t, nil)
	if _, err := m.Judge.Judge(t.Context(), python(cat), blob.Of([]byte("no file of any test")), nil); !errors.Is(err, blob.ErrNotFound) {
		t.Errorf("an unknown version: %v", err)
	}
	cobol := python(cat)
	cobol.Language = "cobol"
	_, err := m.Judge.Judge(t.Context(), cobol, pkg.Version, nil)
	if missing, ok := errors.AsType[*blame.UnavailableError](err); !ok || !missing.NotHere() {
		t.Errorf("an unknown language: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	_, err = m.Judge.Judge(ctx, python("while True: pass\n"), pkg.Version, func(judge.Progress) { cancel() })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("a lost lease: %v", err)
	}
}

func TestADeadAgentIsAnErrorAndNoVerdict(t *testing.T) {
	t.Parallel()
	m := judgingtest.Get(t)
	pkg := echo(t, nil)
	p, a, err := judgingtest.Spawn(sandbox.Config{Slots: 1, FirstUID: 62000, CgroupRoot: "deepoj-judging-dead"})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	j, err := m.Open(func(c *judging.Config) { c.Sandbox = a })
	if err != nil {
		t.Fatal(err)
	}
	killed := make(chan error, 1)
	_, err = j.Judge(t.Context(), python("import time\ntime.sleep(60)\n"), pkg.Version, func(judge.Progress) {
		go func() {
			<-time.After(300 * time.Millisecond) // in the middle of the run
			killed <- p.Close()
		}()
	})
	if err == nil {
		t.Error("a verdict came out of a dead sandbox")
	}
	<-killed
}
