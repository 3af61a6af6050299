package verify_test

import (
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deepoj/host/judging/judgingtest"
	"deepoj/host/problem"
	"deepoj/host/verify"
)

// polygon is a package of Polygon that doubles numbers, without the tests that a
// generator makes. Tests and assets go into its problem.xml, files over it.
func polygon(judging, tests, assets string, files map[string]string) map[string]string {
	all := map[string]string{
		"problem.xml": `<problem short-name="double"><names><name language="english" value="Double"/></names>
<judging ` + judging + `><testset name="tests"><time-limit>1000</time-limit><memory-limit>268435456</memory-limit>
<input-path-pattern>tests/%02d</input-path-pattern><answer-path-pattern>tests/%02d.a</answer-path-pattern>` + tests + `</testset></judging>
<files><executables><executable><source path="files/gen.py" type="python.3"/></executable></executables></files>
<assets>` + assets + `</assets></problem>`,
		"files/gen.py":     "import sys\nprint(sys.argv[1])\n",
		"solutions/all.py": right,
	}
	maps.Copy(all, files)
	return all
}

const (
	words    = `<checker name="std::wcmp.cpp" type="testlib"><source path="files/check.cpp" type="cpp.g++17"/></checker>`
	mainOnly = `<solutions><solution tag="main"><source path="solutions/all.py" type="python.3"/></solution></solutions>`
)

// made makes the tests of a package.
func made(t *testing.T, files map[string]string) (*problem.Package, error) {
	t.Helper()
	return verify.Finish(t.Context(), verify.Config{Judge: judgingtest.Get(t).Judge}, stored(t, files))
}

func TestAPackageOfPolygonIsMadeAndProved(t *testing.T) {
	t.Parallel()
	const tests = `<tests><test method="manual" sample="true"/>
<test method="generated" cmd="gen 5" group="1" points="10"/><test method="generated" cmd="gen '-7'" group="1" points="20"/>
<test method="generated" cmd="gen 1000" group="2" points="30"/><test method="generated" cmd="gen 2000" group="2" points="40"/></tests>
<groups><group name="1" points-policy="complete-group"/><group name="2" points-policy="each-test"><dependencies><dependency group="1"/></dependencies></group></groups>`
	assets := words + "<solutions>"
	for name, tag := range map[string]string{
		"all": "main", "small": "wrong-answer", "positive": "wrong-answer", "loop": "time-limit-exceeded", "raises": "failed", "liar": "accepted",
	} {
		assets += `<solution tag="` + tag + `"><source path="solutions/` + name + `.py" type="python.3"/></solution>`
	}
	const start = "n = int(open('double.in').read())\nout = open('double.out', 'w')\n"
	pkg, err := made(t, polygon(`input-file="double.in" output-file="double.out"`, tests, assets+"</solutions>", map[string]string{
		"tests/01":              "1\n",
		"solutions/all.py":      start + "print(2 * n, file=out)\n",
		"solutions/small.py":    start + "print(2 * n if n < 1500 else 0, file=out)\n",
		"solutions/positive.py": start + "print(2 * abs(n), file=out)\n",
		"solutions/loop.py":     start + forever,
		"solutions/raises.py":   start + "1 // 0\n",
		"solutions/liar.py":     "print(2 * int(open('double.in').read()))\n",
	}))
	if err != nil {
		t.Fatal(err)
	}
	if !pkg.Complete() || len(pkg.Samples) != 1 || pkg.Samples[0].Output != "2\n" {
		t.Errorf("complete %t, samples %q", pkg.Complete(), pkg.Samples)
	}
	again, err := problem.Load(t.Context(), judgingtest.Get(t).Blobs, pkg.Version)
	if err != nil {
		t.Fatal(err)
	}
	last := again.Tests()[4]
	for f, want := range map[problem.File]string{last.Input: "2000\n", last.Answer: "4000\n"} {
		if got := content(t, again, f); got != want {
			t.Errorf("%s holds %q, want %q", f.Path, got, want)
		}
	}
	r, err := verify.Run(t.Context(), verify.Config{Judge: judgingtest.Get(t).Judge}, again)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]struct {
		score   float64
		problem string
	}{
		"solutions/all.py": {100, ""}, "solutions/small.py": {60, ""}, "solutions/positive.py": {0, ""}, "solutions/loop.py": {0, ""}, "solutions/raises.py": {0, ""},
		"solutions/liar.py": {0, "got WA, may get AC"},
	}
	for _, row := range r.Rows {
		w, ok := want[row.Path]
		if !ok || row.Problem != w.problem || row.Score == nil || *row.Score != w.score || *row.MaxScore != 100 {
			t.Errorf("%s: %q, %s %v of %v, want %v", row.Path, row.Problem, row.Verdict, row.Score, row.MaxScore, w)
		}
	}
	if len(r.Rows) != len(want) {
		t.Errorf("%d rows", len(r.Rows))
	}
}

func content(t *testing.T, p *problem.Package, f problem.File) string {
	t.Helper()
	r, err := p.Open(t.Context(), f)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestTestsThatCannotBeMadeAreRefused(t *testing.T) {
	t.Parallel()
	const tests = `<tests><test method="generated" cmd="gen 5"/></tests>`
	for name, tt := range map[string]struct {
		files map[string]string
		want  string
	}{
		"a generator that fails":            {map[string]string{"files/gen.py": "raise SystemExit('no such size')\n"}, "make test 01: by [\"gen\" \"5\"]: it ended with exit status 1: no such size"},
		"a generator that is broken":        {map[string]string{"files/gen.py": broken}, "make tests: generator gen does not compile:\nFile \"files/gen.py\", line 1"},
		"a generator that throws dice":      {map[string]string{"files/gen.py": "import random\nprint(random.random())\n"}, "it prints something else each time"},
		"a main solution that fails":        {map[string]string{"solutions/all.py": "1 // 0\n"}, "the main solution on input made/01: it ended with exit status 1"},
		"a main solution that is too slow":  {map[string]string{"solutions/all.py": forever}, "used more than 1s of CPU time"},
		"a main solution that is broken":    {map[string]string{"solutions/all.py": broken}, "does not compile"},
		"a main solution in another tongue": {map[string]string{"problem.xml": strings.ReplaceAll(polygon("", tests, words+mainOnly, nil)["problem.xml"], `all.py" type="python.3"`, `all.py" type="python.2"`)}, `there is no language "python.2" here`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := made(t, polygon("", tests, words+mainOnly, tt.files)); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error is %v, want %q in it", err, tt.want)
			}
		})
	}
}

func TestTheAnswersOfAnInteractivePackageAreMade(t *testing.T) {
	t.Parallel()
	interactor, err := os.ReadFile(filepath.Join("..", "plugin", "testdata", "guess.c"))
	if err != nil {
		t.Fatal(err)
	}
	const bisecting = "low, high, said = 0, 1000, ''\nwhile said != 'right':\n    guess = (low + high) // 2\n    print(guess, flush=True)\n    said = input()\n" +
		"    if said == 'more':\n        low = guess + 1\n    else:\n        high = guess - 1\n"
	files := map[string]string{
		"files/guess.c": string(interactor), "solutions/all.py": bisecting,
		"solutions/slow.py": "for guess in range(100):\n    print(guess, flush=True)\n    if input() == 'right': break\n", // needs more guesses
	}
	const tests = `<tests><test method="generated" cmd="gen 60"/><test method="generated" cmd="gen 500"/></tests>`
	assets := strings.Replace(words, "std::wcmp", "std::ncmp", 1) + `<interactor><source path="files/guess.c" type="c.gcc"/></interactor>`
	pkg, err := made(t, polygon("", tests, assets+strings.Replace(mainOnly, "</solutions>",
		`<solution tag="wrong-answer"><source path="solutions/slow.py" type="python.3"/></solution></solutions>`, 1), files))
	if err != nil {
		t.Fatal(err)
	}
	if got := content(t, pkg, pkg.Tests()[1].Answer); got != "1\n" {
		t.Errorf("the answer is %q, want the one guess of the main solution", got)
	}
	proved(t, pkg, map[string]string{"solutions/all.py": "", "solutions/slow.py": ""})
	files["solutions/all.py"] = "print(1)\n"
	if _, err := made(t, polygon("", tests, assets+mainOnly, files)); err == nil || !strings.Contains(err.Error(), "the interactor says wrong: gave up after 1") {
		t.Errorf("a main solution that fails: %v", err)
	}
}

// The answer is what comes of the second run, which knows a tenth of the number.
func TestTheAnswersOfAPackageThatRunsProgramsTwiceAreMade(t *testing.T) {
	t.Parallel()
	const talk = `import sys
said = open(sys.argv[1]).read().strip()
print(said, flush=True)
open(sys.argv[2], "w").write(input() + "\n")
`
	const twice = "said = input()\nprint('tenth ' + str(int(said) // 10) if said.isdigit() else 10 * int(said.split()[1]))\n"
	for runs, judging := range map[string]string{"": `run-count="2"`, "<runs><run>1</run><run>2</run></runs>": ""} {
		files := map[string]string{"files/talk.py": talk, "solutions/all.py": twice, "solutions/late.py": twice + "if not said.isdigit(): 1 // 0\n"}
		assets := words + `<interactor><source path="files/talk.py" type="python.3"/>` + runs + `</interactor>`
		const tests = `<tests><test method="generated" cmd="gen 7770"/></tests>`
		pkg, err := made(t, polygon(judging, tests, assets+strings.Replace(mainOnly, "</solutions>",
			`<solution tag="failed"><source path="solutions/late.py" type="python.3"/></solution></solutions>`, 1), files))
		if err != nil {
			t.Fatal(err)
		}
		if got := content(t, pkg, pkg.Tests()[0].Answer); got != "7770\n" {
			t.Errorf("the answer is %q", got)
		}
		proved(t, pkg, map[string]string{"solutions/all.py": "", "solutions/late.py": ""})
		files["solutions/all.py"] = files["solutions/late.py"]
		if _, err := made(t, polygon(judging, tests, assets+mainOnly, files)); err == nil || !strings.Contains(err.Error(), "ended with exit status 1") {
			t.Errorf("a main solution whose second run fails: %v", err)
		}
	}
}
