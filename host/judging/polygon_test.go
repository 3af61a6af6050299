package judging_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"deepoj/host/judge"
	"deepoj/host/judging/judgingtest"
	"deepoj/host/problem"
	"deepoj/host/problem/importing"
)

// polygon stores a package of Polygon with so many tests: each has an input and an
// answer of the same text.
func polygon(t *testing.T, judging, tests, checker string, inputs []string, files map[string]string) *problem.Package {
	t.Helper()
	if !strings.Contains(checker, "</checker>") {
		checker += "</checker>"
	}
	fsys := fstest.MapFS{}
	put := func(name, text string) { fsys[name] = &fstest.MapFile{Data: []byte(text), Mode: 0o644} }
	put("problem.xml", `<problem short-name="echo"><names><name language="english" value="Echo"/></names>
<judging `+judging+`><testset name="tests"><time-limit>1000</time-limit><memory-limit>268435456</memory-limit>
<input-path-pattern>tests/%d</input-path-pattern><answer-path-pattern>tests/%d.a</answer-path-pattern>`+tests+`</testset></judging>
<assets><checker type="testlib"`+checker+`</assets></problem>`)
	for i, input := range inputs {
		put(fmt.Sprintf("tests/%d", i+1), input)
		put(fmt.Sprintf("tests/%d.a", i+1), input)
	}
	for name, text := range files {
		put(name, text)
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

// giver is a checker that gives the points that the output holds.
const giver = `#include <stdio.h>
int main(int argc, char **argv)
{
	double points;
	if (fscanf(fopen(argv[2], "r"), "%lf", &points) != 1)
		return 1;
	fprintf(stderr, "points %g", points);
	return 7;
}`

func TestPointsOfPolygonAreGivenByGroupsAndCheckers(t *testing.T) {
	t.Parallel()
	groups := `<tests><test method="manual" points="10" group="a"/><test method="manual" points="20" group="a"/>
<test method="manual" points="30" group="b"/><test method="manual" points="40" group="c"/></tests>
<groups><group name="a" points-policy="POLICY"/><group name="b" points-policy="each-test"><dependencies><dependency group="a"/></dependencies></group>
<group name="c" points-policy="each-test"><dependencies><dependency group="b"/></dependencies></group></groups>`
	tests := map[string]struct {
		policy   string
		inputs   []string // the points that the checker gives
		verdicts string
		verdict  judge.Verdict
		score    float64
	}{
		"all of them":                            {"each-test", []string{"10", "20", "30", "40"}, "AC AC AC AC", judge.AC, 100},
		"a part in a group of tests":             {"each-test", []string{"10", "5", "30", "40"}, "AC AC - -", judge.PA, 15},
		"a part, and nothing for what needs all": {"each-test", []string{"10", "20", "1", "40"}, "AC AC AC -", judge.PA, 31},
		"a part in a group that gives all":       {"complete-group", []string{"10", "5", "30", "40"}, "AC WA - -", judge.WA, 0},
		"a group that gives all":                 {"complete-group", []string{"10", "20", "30", "x"}, "AC AC AC WA", judge.WA, 60},
		"more than there are":                    {"each-test", []string{"11", "20", "30", "40"}, "JE - - -", judge.JE, 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pkg := polygon(t, "", strings.Replace(groups, "POLICY", tt.policy, 1), `><source path="check.c" type="c.gcc"/>`, tt.inputs, map[string]string{"check.c": giver})
			r := judged(t, judgingtest.Get(t).Judge, python(cat), pkg)
			if got := verdicts(r); got != tt.verdicts || r.Verdict != tt.verdict || *r.Score != tt.score && r.Verdict != judge.JE || *r.MaxScore != 100 {
				t.Errorf("tests %s, %s with %g of %g: want %s, %s with %g\n%s", got, r.Verdict, *r.Score, *r.MaxScore, tt.verdicts, tt.verdict, tt.score, r.JudgeNote)
			}
		})
	}
}

func TestACheckerWithTestlibOfAPolygonPackageDecides(t *testing.T) {
	t.Parallel()
	header, source := testlibLike(t, "testlib.h"), testlibLike(t, "check.cpp")
	pkg := polygon(t, "", `<tests><test method="manual"/><test method="manual"/></tests>`, `><source path="files/check.cpp" type="cpp.g++17"/>`,
		[]string{"2\n2\n", "1\n1\n"}, map[string]string{"files/testlib.h": string(header.Data), "files/check.cpp": string(source.Data)})
	for program, want := range map[string]string{
		"print(2, 2)\n": "AC WA", "print('x')\n": "WA -",
	} {
		if r := judged(t, judgingtest.Get(t).Judge, python(program), pkg); verdicts(r) != want {
			t.Errorf("%q: %s, want %s: %s", program, verdicts(r), want, r.JudgeNote)
		}
	}
}

// Both talk as testlib does: the interactor writes for the checker, and the checker
// gives points.
func TestJudgesOfPolygonMayWriteInOtherLanguages(t *testing.T) {
	t.Parallel()
	const each = `<tests><test method="manual" points="10" group="a"/><test method="manual" points="20" group="a"/></tests>
<groups><group name="a" points-policy="each-test"/></groups>`
	files := map[string]string{
		"talk.py": `import sys
print(open(sys.argv[1]).read().strip(), flush=True)
said = input()
open(sys.argv[2], "w").write(said)
if said == "bad":
    sys.stderr.write("that is bad")
    sys.exit(1)
`,
		"Check.java": `import java.nio.file.*;
public class Check { public static void main(String[] a) throws Exception {
int said = Integer.parseInt(Files.readString(Path.of(a[1])).trim()), want = Integer.parseInt(Files.readString(Path.of(a[2])).trim());
if (said == want) System.exit(0);
System.err.print("points " + (double) said);
System.exit(7); } }
`,
	}
	pkg := polygon(t, "", each, `><source path="Check.java" type="java11"/></checker><interactor><source path="talk.py" type="python.pypy3"/></interactor>`,
		[]string{"7\n", "8\n"}, files)
	for name, tt := range map[string]struct {
		program, verdicts, message string
		score                      float64
	}{
		"right":         {"print(input())\n", "AC AC", "", 30},
		"right in part": {"print(7 if input() == '7' else 5)\n", "AC AC", "", 15},
		"wrong":         {"print('bad' if input() == '7' else 8)\n", "WA AC", "that is bad", 20},
	} {
		r := judged(t, judgingtest.Get(t).Judge, python(tt.program), pkg)
		if verdicts(r) != tt.verdicts || r.Score == nil || *r.Score != tt.score || r.Tests[0].Message != tt.message {
			t.Errorf("%s: %s, score %v, want %g\n%s", name, told(r), r.Score, tt.score, r.JudgeNote)
		}
	}
}

// What the interactor writes in the first run is all that the second knows; the checker is
// asked about the second, by the input of the test.
func TestAProgramOfPolygonIsRunTwice(t *testing.T) {
	t.Parallel()
	const source = `#include <stdio.h>
#include <string.h>
int main(int argc, char **argv)
{
	char word[16] = "", code[16] = "";
	FILE *in = fopen(argv[1], "r"), *out = fopen(argv[2], "w");
	if (!in || !out || fscanf(in, "%15s %15s", word, code) != 2)
		return 3;
	printf("%s %s\n", word, code);
	fflush(stdout);
	if (scanf("%15s", code) != 1 || strlen(code) > 2)
		return 1;
	fprintf(out, strcmp(word, "first") ? "%s\n" : "second %s\n", code);
	return 0;
}`
	const script = `import sys
word, code = open(sys.argv[1]).read().split()
print(word, code, flush=True)
code = sys.stdin.readline().strip()
if not 0 < len(code) < 3:
    sys.exit(1)
open(sys.argv[2], "w").write(("second " if word == "first" else "") + code + "\n")
`
	// The input is "first N", which the checker must see, and the answer is N.
	const checker = `import sys
word, n = open(sys.argv[1]).read().split()
sys.exit(3 if word != "first" else open(sys.argv[2]).read().split() != [n])
`
	const code = "word, n = input().split()\nif word == 'first': print(int(n) // 10)\n"
	for name, interactor := range map[string]string{"a plugin": "talk.c", "a program": "talk.py"} {
		for runs, judging := range map[string]string{"": `run-count="2"`, "<runs><run>1</run></runs>": `run-count="2"`, "<runs><run>1</run><run>2</run></runs>": ""} {
			t.Run(name+" "+runs, func(t *testing.T) {
				t.Parallel()
				files := map[string]string{"talk.c": source, "talk.py": script, "check.py": checker, "tests/1": "first 70\n", "tests/2": "first 80\n"}
				kind := map[string]string{"talk.c": "c.gcc", "talk.py": "python.3"}[interactor]
				pkg := polygon(t, judging, `<tests><test method="manual" sample="true"/><test method="manual"/></tests>`,
					`><source path="check.py" type="python.3"/></checker><interactor><source path="`+interactor+`" type="`+kind+`"/>`+runs+`</interactor>`,
					[]string{"1\n", "2\n"}, files)
				for program, want := range map[string]string{
					code + "else: print(int(n) * 10)\n": "AC AC",
					code + "else: print(70)\n":          "AC WA",
					code + "else: 1 // 0\n":             "RE -",
					"input(); print(123)\n":             "WA -",
					"input(); 1 // 0\n":                 "RE -",
					"import os\n" + code + "else: print(int(n) * 10 + os.path.exists('/tmp/a'))\nopen('/tmp/a', 'w')\n": "AC AC",
				} {
					r := judged(t, judgingtest.Get(t).Judge, python(program), pkg)
					if verdicts(r) != want {
						t.Errorf("%q: %s, want %s: %s %s", program, verdicts(r), want, r.Message, r.Tests[0].JudgeNote)
					}
					if want == "AC AC" && (!strings.Contains(r.Tests[0].Output, "---\n") || !strings.Contains(r.Tests[0].Output, "70")) {
						t.Errorf("of the sample is shown %q", r.Tests[0].Output)
					}
				}
			})
		}
	}
}

func TestProgramsReadAndWriteFiles(t *testing.T) {
	t.Parallel()
	const words = ` name="std::wcmp.cpp">`
	const two = `<tests><test method="manual"/><test method="manual"/></tests>`
	both := polygon(t, `input-file="in.txt" output-file="out.txt"`, two, words, []string{"1\n", "2\n"}, nil)
	in := polygon(t, `input-file="in.txt"`, two, words, []string{"1\n", "2\n"}, nil)
	out := polygon(t, `output-file="out.txt"`, two, words, []string{"1\n", "2\n"}, nil)
	const read, write = "text = open('in.txt').read()\n", "open('out.txt', 'w').write(text)\n"
	for name, tt := range map[string]struct {
		pkg     *problem.Package
		program string
		want    string
	}{
		"both":                                {both, read + write, "AC AC"},
		"only the input":                      {in, read + "print(text)\n", "AC AC"},
		"only the output":                     {out, "text = input()\n" + write, "AC AC"},
		"nothing on standard input":           {both, read + "import sys\ntext += sys.stdin.read()\n" + write, "AC AC"},
		"what is printed does not count":      {both, read + "print(text)\n", "WA -"},
		"nothing stays for the next test":     {both, read + "import os\ntext += 'x' * os.path.exists('kept')\nopen('kept', 'w').write('1')\n" + write, "AC AC"},
		"a file that is too long":             {both, "import signal\nsignal.signal(signal.SIGXFSZ, signal.SIG_DFL)\nopen('out.txt', 'wb').write(b'1' * (65 << 20))\n", "OLE -"},
		"a folder in the place of the output": {both, "import os\nos.mkdir('out.txt')\n", "WA -"},
		"a link in the place of the output":   {both, "import os\nos.symlink('in.txt', 'out.txt')\n", "WA -"},
		"a program that fails":                {both, read + write + "1 // 0\n", "RE -"},
		"a program that is too slow":          {both, "while True: pass\n", "TLE -"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if r := judged(t, judgingtest.Get(t).Judge, python(tt.program), tt.pkg); verdicts(r) != tt.want {
				t.Errorf("%s, want %s: %s %s", verdicts(r), tt.want, r.Message, r.Tests[0].JudgeNote)
			}
		})
	}
}
