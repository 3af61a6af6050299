package judging_test

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"

	"deepoj/host/judge"
	"deepoj/host/judging"
	"deepoj/host/judging/judgingtest"
	"deepoj/sandbox"
)

// told is what people see of a result, without figures.
func told(r judge.Result) string {
	var out strings.Builder
	score := "none"
	if r.Score != nil {
		score = fmt.Sprint(*r.Score)
	}
	fmt.Fprintf(&out, "%s %s", r.Verdict, score)
	for _, t := range r.Tests {
		fmt.Fprintf(&out, "\n%s %s %q", t.Name, t.Verdict, t.Message)
	}
	return out.String()
}

// built is a script that builds a native program of one C file.
const built = "#!/bin/sh\ncc -w -O1 -o run scorer.c\n"

func TestANativeCheckerSaysWhatItSaysAsAPlugin(t *testing.T) {
	t.Parallel()
	j := judgingtest.Get(t).Judge
	for name, files := range map[string]map[string]string{
		"scores and parts of them":    nil,
		"a group that is required":    {"data/secret/a/1.in": "no\n"},
		"a score of a rejected test":  {"data/secret/b/2.in": "no 1\n"},
		"a score that is no number":   {"data/secret/b/2.in": "yes x\n"},
		"a status that means nothing": {"output_validator/scorer.c": "int main(void) { return 7; }"},
		"a checker that crashes":      {"output_validator/scorer.c": "int main(void) { __builtin_trap(); }"},
		"words for the contestant": {"output_validator/scorer.c": `#include <stdio.h>
int main(int argc, char **argv) { char path[99]; snprintf(path, sizeof path, "%steammessage.txt", argv[3]);
FILE *f = fopen(path, "w"); fputs("look again", f); fclose(f); return 43; }`},
	} {
		source := versioned(files)["output_validator/scorer.c"]
		asPlugin := judged(t, j, python(cat), echo(t, versioned(files)))
		scripted := versioned(files)
		scripted["output_validator/scorer.c"] = ""
		scripted["output_validator/native/build"], scripted["output_validator/native/scorer.c"] = built, source
		asNative := judged(t, j, python(cat), echo(t, scripted))
		if told(asPlugin) != told(asNative) {
			t.Errorf("%s: as a plugin\n%s\n%s\nas a program\n%s\n%s", name, told(asPlugin), asPlugin.JudgeNote, told(asNative), asNative.JudgeNote)
		}
		if !strings.HasPrefix(asNative.Checker, "native:") {
			t.Errorf("%s: the checker is %q", name, asNative.Checker)
		}
	}
}

// twins are checkers that accept an output that equals the answer, and leave the
// word "same" or "other" for the contestant, in several languages.
var twins = map[string]map[string]string{
	"Python": {"output_validators/twin.py": `import sys
same = sys.stdin.read().split() == open(sys.argv[2]).read().split()
open(sys.argv[3] + "teammessage.txt", "w").write("same" if same else "other")
sys.exit(42 if same else 43)
`},
	"shell": {"output_validators/twin.sh": `said=$(cat)
[ "$said" = "$(cat "$2")" ] && { printf same > "$3/teammessage.txt"; exit 42; }
printf other > "${3}teammessage.txt"
exit 43
`},
	"Java": {"output_validators/Twin.java": `import java.nio.file.*;
public class Twin { public static void main(String[] a) throws Exception {
boolean same = new String(System.in.readAllBytes()).trim().equals(Files.readString(Path.of(a[1])).trim());
Files.writeString(Path.of(a[2] + "teammessage.txt"), same ? "same" : "other");
System.exit(same ? 42 : 43); } }
`},
	"a script that runs": {
		"output_validators/twin/run": "#!/bin/sh\nexec python3 lib/twin.py \"$@\"\n", "output_validators/twin/lib/twin.py": `import sys
same = sys.stdin.read().split() == open(sys.argv[2]).read().split()
open(sys.argv[3] + "teammessage.txt", "w").write("same" if same else "other")
sys.exit(42 if same else 43)
`,
	},
}

func TestCheckersAreWrittenInManyLanguages(t *testing.T) {
	t.Parallel()
	j := judgingtest.Get(t).Judge
	for name, files := range twins {
		all := map[string]string{"problem.yaml": "name: Echo\nvalidation: custom\n"}
		maps.Copy(all, files)
		pkg := echo(t, all)
		r := judged(t, j, python(cat), pkg)
		if r.Verdict != judge.AC || r.Tests[0].Message != "same" {
			t.Errorf("%s: %s\n%s", name, told(r), r.JudgeNote)
		}
		if r = judged(t, j, python("print(1)\n"), pkg); r.Verdict != judge.WA || verdicts(r) != "AC WA" || r.Tests[1].Message != "other" {
			t.Errorf("%s: a wrong answer: %s\n%s", name, told(r), r.JudgeNote)
		}
	}
}

// Both read an output that is a number, and say what they made of it.
func TestACheckerThatCannotBeAPluginRunsNatively(t *testing.T) {
	t.Parallel()
	j := judgingtest.Get(t).Judge
	for name, text := range map[string]string{
		"it catches exceptions": `#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
int main(int, char **argv) {
	std::string said, want;
	std::cin >> said;
	std::ifstream(argv[2]) >> want;
	try { return std::stoi(said) == std::stoi(want) ? 42 : 43; } catch (const std::invalid_argument &) { return 43; }
}`,
		"it starts a process": `#include <fstream>
#include <iostream>
#include <sys/wait.h>
#include <unistd.h>
int main(int, char **argv) {
	int said = -1, want = 0, status = 0;
	std::cin >> said;
	std::ifstream(argv[2]) >> want;
	if (fork() == 0) _exit(said == want ? 42 : 43);
	wait(&status);
	return WEXITSTATUS(status);
}`,
	} {
		pkg := echo(t, map[string]string{"problem.yaml": "name: Echo\nvalidation: custom\n", "output_validators/v.cpp": text})
		for program, want := range map[string]string{cat: "AC AC", "print('x')\n": "WA -"} {
			if r := judged(t, j, python(program), pkg); verdicts(r) != want || !strings.HasPrefix(r.Checker, "native:") {
				t.Errorf("%s: %s by %s, want %s\n%s", name, verdicts(r), r.Checker, want, r.JudgeNote)
			}
		}
	}
}

// A program may take 20 seconds, and is ended long before.
func TestAProgramThatGoesOnAfterItsInteractorRejectedItIsEnded(t *testing.T) {
	t.Parallel()
	j := judgingtest.Get(t).Judge
	for name, talker := range map[string]map[string]string{
		"a native": {"output_validators/no.py": "import sys\ninput()\nsys.exit(43)\n"},
		"a plugin": {"output_validators/no.c": "#include <stdio.h>\nint main(void) { getchar(); return 43; }\n"},
	} {
		files := map[string]string{"problem.yaml": "name: Echo\nvalidation: custom interactive\n", ".timelimit": "20", "data/sample/1.in": "", "data/sample/1.ans": ""}
		maps.Copy(files, talker)
		r := judged(t, j, python("print(1, flush=True)\nwhile True: pass\n"), echo(t, files))
		if verdicts(r) != "WA" || r.Usage.CPUMillis != 0 {
			t.Errorf("%s: %s, %+v, %q", name, verdicts(r), r.Usage, r.JudgeNote)
		}
	}
}

func TestWhatANativeCheckerDoesWrongIsAJudgingError(t *testing.T) {
	t.Parallel()
	j := judgingtest.Get(t).Judge
	limits := "name: Echo\nvalidation: custom\nlimits: {validation_time: 1}\n"
	for name, tt := range map[string]struct {
		files map[string]string
		want  string
	}{
		"never ends":      {map[string]string{"output_validators/v.sh": "while :; do :; done\n"}, "CPU time"},
		"ends with 0":     {map[string]string{"output_validators/v.sh": "echo oops >&2\n"}, "oops"},
		"is not built":    {map[string]string{"output_validators/v/build": "echo no luck >&2; exit 1\n"}, "no luck"},
		"leaves no run":   {map[string]string{"output_validators/v/build": "true\n"}, "must leave a program run"},
		"is no program":   {map[string]string{"output_validators/v.py": "print(\n"}, "does not compile"},
		"reads the world": {map[string]string{"output_validators/v.sh": "cat /etc/shadow > /dev/null && exit 42; echo shut >&2; exit 9\n"}, "shut"},
	} {
		tt.files["problem.yaml"] = limits
		if r := judged(t, j, python(cat), echo(t, tt.files)); r.Verdict != judge.JE || !strings.Contains(r.JudgeNote, tt.want) {
			t.Errorf("%s: %s %q, want JE with %q", name, r.Verdict, r.JudgeNote, tt.want)
		}
	}
}

// oracle answers questions about a number; the answer file holds it.
const oracle = `import sys
want = int(open(sys.argv[2]).read())
for _ in range(20):
    line = sys.stdin.readline()
    if not line:
        sys.exit(43)
    kind, n = line.split()
    if kind == "!":
        open(sys.argv[3] + "teammessage.txt", "w").write("it is %d" % want)
        sys.exit(42 if int(n) == want else 43)
    print("higher" if want > int(n) else "lower" if want < int(n) else "yes", flush=True)
sys.exit(43)
`

// searched is the conversation in which a program finds 5 by halving from 1 to 1000.
const searched = "> ? 500\n< lower\n> ? 250\n< lower\n> ? 125\n< lower\n> ? 63\n< lower\n> ? 32\n< lower\n> ? 16\n< lower\n> ? 8\n< lower\n> ? 4\n< higher\n> ? 6\n< lower\n> ? 5\n< yes\n> ! 5"

func TestANativeInteractorTalksWithTheProgram(t *testing.T) {
	t.Parallel()
	j := judgingtest.Get(t).Judge
	pkg := echo(t, map[string]string{
		"problem.yaml": "name: Echo\nvalidation: custom interactive\n", "output_validators/oracle.py": oracle,
		"data/sample/1.ans": "5\n", "data/secret/1.ans": "700\n", "data/secret/2.in": "x\n", "data/secret/2.ans": "1\n",
	})
	for name, tt := range map[string]struct{ program, verdicts, talk string }{
		"it finds the number":         {"lo, hi = 1, 1000\nwhile lo < hi:\n    m = (lo + hi) // 2\n    print('?', m, flush=True)\n    w = input()\n    if w == 'higher': lo = m + 1\n    else: hi = m\nprint('!', lo, flush=True)\n", "AC AC AC", searched},
		"it guesses":                  {"print('! 5', flush=True)\n", "AC WA -", "> ! 5"},
		"it crashes in mid-sentence":  {"print('? 5', flush=True)\ninput()\nraise SystemExit(3)\n", "RE - -", "> ? 5\n< yes"},
		"it crashes after its answer": {"print('! 9', flush=True)\nimport sys\nsys.stdin.read()\nraise SystemExit(3)\n", "WA - -", "> ! 9"},
		"it waits for ever":           {"input()\n", "TLE - -", ""},
	} {
		if r := judged(t, j, python(tt.program), pkg); verdicts(r) != tt.verdicts {
			t.Errorf("%s: %s, want %s\n%s", name, verdicts(r), tt.verdicts, told(r)+r.JudgeNote)
		} else if r.Tests[0].Output != tt.talk || r.Tests[1].Output != "" {
			t.Errorf("%s: the talk is %q, want %q; of a secret test %q", name, r.Tests[0].Output, tt.talk, r.Tests[1].Output)
		}
	}
}

// On one core both take turns.
func TestANativeInteractorNeedsNoSecondCore(t *testing.T) {
	t.Parallel()
	p, a, err := judgingtest.Spawn(sandbox.Config{Cores: []int{0}, FirstUID: 62200, CgroupRoot: "deepoj-judging-single"})
	if err != nil {
		judgingtest.Missing(t, err.Error())
	}
	t.Cleanup(func() {
		if err := errors.Join(a.Close(), p.Close()); err != nil {
			t.Error(err)
		}
	})
	j, err := judgingtest.Get(t).Open(func(c *judging.Config) { c.Sandbox = a })
	if err != nil {
		t.Fatal(err)
	}
	pkg := echo(t, map[string]string{
		"problem.yaml": "name: Echo\nvalidation: custom interactive\n", "output_validators/oracle.py": oracle,
		"data/sample/1.ans": "5\n", "data/secret/1.ans": "5\n",
	})
	if r := judged(t, j, python("print('! 5', flush=True)\n"), pkg); verdicts(r) != "AC AC" {
		t.Errorf("%s\n%s", told(r), r.JudgeNote)
	}
}

func TestANativeCheckerLeavesNotesForTheNextPass(t *testing.T) {
	t.Parallel()
	pkg := echo(t, map[string]string{
		"problem.yaml": "name: Echo\nvalidation: custom multi-pass\n", "output_validators/passes.py": `import os, sys
notes = sys.argv[3] + "notes"
seen = open(notes).read() if os.path.exists(notes) else ""
open(notes, "w").write(seen + sys.stdin.read().strip())
if len(seen) == 0:
    open(sys.argv[3] + "nextpass.in", "w").write("again\n")
    sys.exit(42)
sys.exit(42 if seen + "again" == open(notes).read() else 43)
`,
	})
	if r := judged(t, judgingtest.Get(t).Judge, python(cat), pkg); r.Verdict != judge.AC {
		t.Errorf("%s\n%s", told(r), r.JudgeNote)
	}
}
