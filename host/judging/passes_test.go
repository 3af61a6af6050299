package judging_test

import (
	"maps"
	"strings"
	"testing"

	"deepoj/host/judge"
	"deepoj/host/judging/judgingtest"
)

// halving asks for passes until the number is 1: the program must halve it in each.
// Its own notes say which number it gave last, and the input of the test is what it
// was at first.
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
	long first, last, got, pass = 1;
	if (fscanf(fopen(argv[1], "r"), "%ld", &first) != 1)
		return 3;
	last = first;
	FILE *notes = feedback(argv, "notes.txt", "r");
	if (notes && fscanf(notes, "%ld %ld", &pass, &last) != 2)
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
		if want == "AC AC" && r.Tests[0].Output != "> first\n< hello\n> again\n< hello" {
			t.Errorf("the sample shows %q", r.Tests[0].Output)
		}
	}
}
