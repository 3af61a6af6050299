package judging_test

import (
	"maps"
	"strings"
	"testing"

	"deepoj/host/judge"
	"deepoj/host/judging/judgingtest"
)

// halving asks for passes until the number is 1: the program must halve it in each.
// Its own notes say which number it gave last, which is the input of the pass.
const halving = `#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char path[64];

static FILE *feedback(char **argv, const char *name, const char *mode)
{
	snprintf(path, sizeof path, "%s%s", argv[3], name);
	return fopen(path, mode);
}

int main(int argc, char **argv)
{
	long last, noted, got, pass = 1;
	if (fscanf(fopen(argv[1], "r"), "%ld", &last) != 1)
		return 3;
	FILE *notes = feedback(argv, "notes.txt", "r");
	if (notes && (fscanf(notes, "%ld %ld", &pass, &noted) != 2 || noted != last))
		return 3;
	if (feedback(argv, "nextpass.in", "r")) // is taken away before each pass
		return 4;
	FILE *said = feedback(argv, "judgemessage.txt", "a");
	fprintf(said, "pass %ld\n", pass);
	fclose(said);
	if (scanf("%ld", &got) != 1 || got != last / 2) {
		if (argc > 4 && !strcmp(argv[4], "careless"))
			fclose(feedback(argv, "nextpass.in", "w"));
		return 43;
	}
	if (got > 1) {
		FILE *next = feedback(argv, "nextpass.in", "w");
		fprintf(next, "%ld\n", got);
		fclose(next);
	}
	notes = feedback(argv, "notes.txt", "w");
	fprintf(notes, "%ld %ld\n", pass + 1, got);
	fclose(notes);
	return 42;
}`

func TestATestIsJudgedInSeveralPasses(t *testing.T) {
	t.Parallel()
	passes := func(files map[string]string) map[string]string {
		all := map[string]string{
			"problem.yaml":          "name: Halve\nvalidation: custom multi-pass\nlimits: {validation_passes: 4}\n",
			"output_validators/h.c": halving,
			"data/sample/1.in":      "10\n", "data/secret/1.in": "2\n", "data/secret/2.in": "31\n",
		}
		for _, name := range []string{"sample/1", "secret/1", "secret/2"} {
			all["data/"+name+".ans"] = "\n"
		}
		maps.Copy(all, files)
		return all
	}
	pkg := echo(t, passes(nil))
	for name, tt := range map[string]struct {
		program  string
		verdicts string
		note     string
	}{
		"right":                      {"print(int(input()) // 2)\n", "AC AC AC", "pass 1\npass 2\npass 3"},
		"wrong in the third pass":    {"n = int(input())\nprint(n // 2 if n != 2 else 7)\n", "WA - -", "pass 1\npass 2\npass 3"},
		"failing in the second pass": {"n = int(input())\nprint(n // 2 if n != 5 else 1 // 0)\n", "RE - -", "ZeroDivisionError"},
		"too slow in a later pass":   {"n = int(input())\nprint(n // 2)\nwhile n == 5: pass\n", "TLE - -", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := judged(t, judgingtest.Get(t).Judge, python(tt.program), pkg)
			if verdicts(r) != tt.verdicts || !strings.Contains(r.Tests[0].JudgeNote, tt.note) {
				t.Errorf("%s: %q, want %s and %q", verdicts(r), r.Tests[0].JudgeNote, tt.verdicts, tt.note)
			}
			if name == "right" && (r.Tests[0].Output != "5\n2\n1\n" || strings.Count(r.Tests[2].JudgeNote, "pass") != 4) {
				t.Errorf("the sample shows %q, and the last test %q", r.Tests[0].Output, r.Tests[2].JudgeNote)
			}
		})
	}
	for name, tt := range map[string]struct {
		files         map[string]string
		program, want string
	}{
		"more passes than there may be": {map[string]string{"problem.yaml": "name: Halve\nvalidation: custom multi-pass\n"}, "print(int(input()) // 2)\n", "the checker asks for pass 3, and the package allows 2"},
		"a next pass of a rejected one": {map[string]string{"data/testdata.yaml": "output_validator_flags: careless\n"}, "print(0)\n", "writes nextpass.in and does not accept"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := judged(t, judgingtest.Get(t).Judge, python(tt.program), echo(t, passes(tt.files)))
			if r.Verdict != judge.JE || !strings.Contains(r.JudgeNote, tt.want) {
				t.Errorf("%s, %q: want JE and %q", r.Verdict, r.JudgeNote, tt.want)
			}
		})
	}
}

// greeter is an interactor of two passes: in the second it expects the word that it
// heard in the first.
const greeter = `#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
	char path[64], word[16] = "", before[16] = "";
	snprintf(path, sizeof path, "%sword", argv[3]);
	FILE *notes = fopen(path, "r");
	puts(notes ? "again" : "first");
	fflush(stdout);
	if (scanf("%15s", word) != 1)
		return 43;
	if (notes)
		return fscanf(notes, "%15s", before) == 1 && !strcmp(word, before) ? 42 : 43;
	notes = fopen(path, "w");
	fputs(word, notes);
	fclose(notes);
	snprintf(path, sizeof path, "%snextpass.in", argv[3]);
	fclose(fopen(path, "w"));
	return 42;
}`

func TestAnInteractiveTestIsJudgedInSeveralPasses(t *testing.T) {
	t.Parallel()
	pkg := echo(t, map[string]string{
		"problem.yaml": "name: Greet\nvalidation: custom interactive multi-pass\n", "output_validators/g.c": greeter,
		"data/sample/1.in": "\n", "data/sample/1.ans": "\n", "data/secret/1.in": "1\n", "data/secret/1.ans": "\n",
	})
	for program, want := range map[string]string{
		"input()\nprint('hello')\n":   "AC AC",
		"print(input(), 'goodbye')\n": "WA -",
	} {
		r := judged(t, judgingtest.Get(t).Judge, python(program), pkg)
		if verdicts(r) != want {
			t.Errorf("%q: %s, want %s: %s", program, verdicts(r), want, r.JudgeNote)
		}
		if want == "AC AC" && r.Tests[0].Output != "< first\n> hello\n---\n< again\n> hello" {
			t.Errorf("the sample shows %q", r.Tests[0].Output)
		}
	}
}

// The echoes are validators of three passes, whose program must say what it was given:
// the input of the pass, by the file that the validator is told of. Notes in a folder
// of the feedback folder say how many passes there were.
var echoes = map[string]struct{ validation, file, source string }{
	"a program": {"custom multi-pass", "e.py", `import os, sys
was = open(sys.argv[1]).read().split()
if sys.stdin.read().split() != was:
    open(sys.argv[3] + "judgemessage.txt", "a").write("the input is said to be %s\n" % was)
    sys.exit(43)
` + echoNotes},
	"a program that talks": {"custom interactive multi-pass", "e.py", `import os, sys
was = open(sys.argv[1]).read().split()
print(*was, flush=True)
if sys.stdin.read().split() != was:
    sys.exit(43)
` + echoNotes},
	"a plugin":            {"custom multi-pass", "e.c", "#define SAY(s)\n" + echoInC},
	"a plugin that talks": {"custom interactive multi-pass", "e.c", "#define SAY(s) (puts(s), fflush(stdout))\n" + echoInC},
}

const echoNotes = `os.makedirs(sys.argv[3] + "kept/deep", exist_ok=True)
notes = sys.argv[3] + "kept/deep/notes"
seen = open(notes).read().split() if os.path.exists(notes) else []
open(notes, "w").write(" ".join(seen + was))
open(sys.argv[3] + "judgemessage.txt", "a").write("was %s\n" % was)
if len(seen) < 2:
    open(sys.argv[3] + "nextpass.in", "w").write("again%d\n" % len(seen))
elif seen + was != [seen[0], "again0", "again1"]:
    sys.exit(43)
sys.exit(42)
`

const echoInC = `#include <stdio.h>
#include <string.h>
static char path[100];
static FILE *feedback(char **argv, const char *name, const char *mode)
{
	snprintf(path, sizeof path, "%s%s", argv[3], name);
	return fopen(path, mode);
}
int main(int argc, char **argv)
{
	char was[100] = "", said[100] = "", seen[3][100] = {"", "", ""};
	int n = 0;
	if (fscanf(fopen(argv[1], "r"), "%99s", was) != 1)
		return 9;
	SAY(was);
	FILE *note = feedback(argv, "judgemessage.txt", "a");
	fprintf(note, "was ['%s']\n", was);
	fclose(note);
	if (scanf("%99s", said) != 1 || strcmp(said, was))
		return 43;
	FILE *notes = feedback(argv, "notes", "r");
	for (; notes && n < 2 && fscanf(notes, "%99s", seen[n]) == 1; n++) {}
	notes = feedback(argv, "notes", "a");
	fprintf(notes, "%s\n", was);
	fclose(notes);
	if (n == 2)
		return !strcmp(seen[1], "again0") && !strcmp(was, "again1") ? 42 : 43;
	FILE *next = feedback(argv, "nextpass.in", "w");
	fprintf(next, "again%d\n", n);
	fclose(next);
	return 42;
}
`

func TestAValidatorIsToldTheInputOfThePass(t *testing.T) {
	t.Parallel()
	for name, e := range echoes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pkg := echo(t, map[string]string{
				"problem.yaml": "name: Echo\nvalidation: " + e.validation + "\nlimits: {validation_passes: 3}\n", "output_validators/" + e.file: e.source,
			})
			if r := judged(t, judgingtest.Get(t).Judge, python("print(input())\n"), pkg); verdicts(r) != "AC AC" || strings.Count(r.Tests[1].JudgeNote, "was ['") != 3 {
				t.Errorf("%s: %q %s", verdicts(r), r.Tests[1].JudgeNote, r.JudgeNote)
			}
		})
	}
}

// The limits are those of each pass: three passes of 0.4 s are not too slow in a
// problem of 1 s, and none may take 2 s.
func TestEachPassHasTheTimeOfATest(t *testing.T) {
	t.Parallel()
	e := echoes["a program"]
	pkg := echo(t, map[string]string{
		"problem.yaml": "name: Echo\nvalidation: " + e.validation + "\nlimits: {validation_passes: 3}\n", "output_validators/" + e.file: e.source,
	})
	const spin = "import time\ns = input()\nprint(s, flush=True)\nwhile time.process_time() < %s: pass\n"
	for seconds, want := range map[string]string{"0.4": "AC AC", "(2 if s == 'again1' else 0)": "TLE -"} {
		if r := judged(t, judgingtest.Get(t).Judge, python(strings.Replace(spin, "%s", seconds, 1)), pkg); verdicts(r) != want || r.Usage.CPUMillis > 1200 {
			t.Errorf("%s s: %s with %d ms, want %s", seconds, verdicts(r), r.Usage.CPUMillis, want)
		}
	}
}

// A rejected pass has no next one, even where the program's own failure decides.
func TestARejectedConversationHasNoNextPass(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		status, program string
		want            judge.Verdict
	}{
		"rejected":                            {"43", "print(1)\n", judge.JE},
		"rejected after the program's crash":  {"43", "raise SystemExit(3)\n", judge.JE},
		"accepted, and the program crashed":   {"42", "raise SystemExit(3)\n", judge.RE},
		"accepted, and asked for without end": {"42", "print(1)\n", judge.JE},
	} {
		pkg := echo(t, map[string]string{
			"problem.yaml":           "name: Echo\nvalidation: custom interactive multi-pass\n",
			"output_validators/r.py": "import sys\nsys.stdin.read()\nopen(sys.argv[3] + 'nextpass.in', 'w').write('x\\n')\nsys.exit(" + tt.status + ")\n",
		})
		if r := judged(t, judgingtest.Get(t).Judge, python(tt.program), pkg); r.Verdict != tt.want {
			t.Errorf("%s: %s %q, want %s", name, r.Verdict, r.JudgeNote, tt.want)
		}
	}
}
