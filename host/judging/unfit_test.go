package judging_test

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"deepoj/host/judge"
	"deepoj/host/judging"
	"deepoj/host/judging/judgingtest"
	"deepoj/host/problem"
	"deepoj/sandbox"
)

// wrapped has the linker of a C program wrapped by a shell, which does more.
func wrapped(more string) judge.RunPayload {
	return judge.RunPayload{
		Language: "c", Sources: []judge.Source{{Name: "main.c", Text: "int main(void) { return 0; }\n"}}, Tests: []judge.RunTest{{}},
		Options: []string{"-wrapper", `/bin/sh,-c,case "$0" in *collect2*) "$0" "$@"; ` + more + `; exit 0;; esac; exec "$0" "$@"`},
	}
}

// classes are so many empty classes.
func classes(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString("class C" + strconv.Itoa(i) + "{}\n")
	}
	return b.String()
}

func TestWhatTheFilesOfASubmissionMakeImpossibleIsTheirFault(t *testing.T) {
	t.Parallel()
	program := func(language, name, text string) judge.RunPayload {
		return judge.RunPayload{Language: language, Sources: []judge.Source{{Name: name, Text: text}}, Tests: []judge.RunTest{{}}}
	}
	beside := func(p judge.RunPayload, names ...string) judge.RunPayload {
		for _, name := range names {
			p.Files = append(p.Files, judge.RunFile{Name: name, Data: []byte("x")})
		}
		return p
	}
	long := strings.Repeat("a", 260)
	type want struct {
		verdict judge.Verdict
		says    string
	}
	for name, tt := range map[string]struct {
		run  judge.RunPayload
		want want
	}{
		"a Go package that is not main":      {program("go", "hello.go", "package hello\n\nfunc main() {}\n"), want{judge.CE, "main"}},
		"a class name that no file can have": {program("java", "Main.java", "public class "+long+" { public static void main(String[] x) { } }"), want{judge.CE, "265 bytes"}},
		"a source that is too much to read":  {program("java", "Main.java", "class A { public static void main"+strings.Repeat("(]void main", 22_000)), want{judge.CE, "too much to read"}},
		"a file below the program":           {beside(script("print(1)"), "main.py/x"), want{judge.CE, "main.py"}},
		"a file below a file":                {beside(script("print(1)"), "a/b", "a"), want{judge.CE, `"a"`}},
		"a file name that is too long":       {beside(script("print(1)"), long), want{judge.CE, "260 bytes"}},
		"a path that is too long":            {beside(script("print(1)"), strings.Repeat(strings.Repeat("a", 99)+"/", 10)+"a"), want{judge.CE, "1001 bytes"}},
		"a file that lies too deep":          {beside(script("print(1)"), strings.Repeat("a/", 45)+"a"), want{judge.CE, "45 folders deep"}},
		"a file outside":                     {beside(script("print(1)"), "../x"), want{judge.CE, "../x"}},
		// What a compiler leaves where nothing is collected harms nobody.
		"a compiler that leaves 20100 files":         {wrapped(`mkdir d; cd d; i=0; while [ $i -lt 20100 ]; do : > f$i; i=$((i+1)); done`), want{judge.AC, ""}},
		"a compiler that leaves a ladder of folders": {wrapped(`i=0; while [ $i -lt 60 ]; do mkdir d; cd d; i=$((i+1)); done`), want{judge.AC, ""}},
		"a compiler that leaves a part of a program": {func() judge.RunPayload {
			p := wrapped("true")
			p.Options = []string{"-c"}
			return p
		}(), want{judge.CE, "main program"}},
		"a compiler that leaves a folder":                       {wrapped(`rm main; mkdir -p main/main`), want{judge.CE, "left no program"}},
		"a compiler that leaves a link":                         {wrapped(`rm main; ln -s /bin/true main`), want{judge.CE, "left no program"}},
		"a compiler that leaves a pipe":                         {wrapped(`rm main; mkfifo main`), want{judge.CE, "left no program"}},
		"classes without number":                                {program("java", "Main.java", "public class Main { public static void main(String[] x) { } }\n"+classes(11_000)), want{judge.CE, "11001 files"}},
		"a program that is none":                                {wrapped(`echo no > main`), want{judge.RE, "no program for this machine"}},
		"a program for an interpreter that is not there":        {wrapped(`echo '#!/nowhere' > main`), want{judge.RE, "interpreter"}},
		"a program for another machine":                         {wrapped(`printf '\177ELF\2\1\1\0\0\0\0\0\0\0\0\0\2\0\363\0' > main`), want{judge.RE, "no program for this machine"}},
		"a program without anything":                            {wrapped(`: > main`), want{judge.RE, "no program for this machine"}},
		"scripts that leave a file that is no program they run": {beside(judge.RunPayload{Tests: []judge.RunTest{{}}, Files: []judge.RunFile{{Name: "run", Data: []byte("exec ./x\n")}}}, "x"), want{judge.RE, ""}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, _, _ := own(t, tt.run, "")
			says := r.Message
			if r.Compile != nil {
				says += r.Compile.Output
			}
			if r.Verdict != tt.want.verdict || !strings.Contains(says, tt.want.says) {
				t.Errorf("it is %s %q, want %s and the words %q", r.Verdict, says, tt.want.verdict, tt.want.says)
			}
		})
	}
}

func TestWhatTheFilesMakeImpossibleIsTheirFaultWithoutAnAgent(t *testing.T) {
	t.Parallel()
	f := fall(t, judging.AgentOff, sandbox.Config{Slots: 2, CgroupRoot: "deepoj-judging-unfit", FirstUID: 62_400})
	j := judgeWith(t, f)
	for name, tt := range map[string]struct {
		run  judge.RunPayload
		want judge.Verdict
	}{
		// What a compiler leaves where nothing is collected harms nobody.
		"a compiler that leaves 20100 files": {wrapped(`mkdir d; cd d; i=0; while [ $i -lt 20100 ]; do : > f$i; i=$((i+1)); done`), judge.CE},
		"a program that is none":             {wrapped(`echo no > main`), judge.RE},
		"a run that leaves 20100 files": {func() judge.RunPayload {
			p := script("import os\nfor i in range(20100): open(str(i), 'w').close()")
			p.Writable, p.Limits.CPUMillis = true, 20_000
			return p
		}(), judge.RE},
	} {
		t.Run(name, func(t *testing.T) {
			p := tt.run
			p.SchemaVersion, p.ContentType = judge.PayloadVersion, judge.RunType
			payload, err := json.Marshal(p)
			if err != nil {
				t.Fatal(err)
			}
			r, err := j.Run(t.Context(), judge.Claim{Attempt: judge.Attempt{JobID: 1, Owner: "w1"}, Kind: judge.KindRun, Payload: payload}, func(judge.Progress) {})
			if err != nil || r.Verdict != tt.want {
				t.Errorf("it is %s %q, want %s: %v", r.Verdict, r.Message, tt.want, err)
			}
		})
	}
}

// withoutInterpreter is a C program that compiles, and that no machine starts.
const withoutInterpreter = `const volatile char where[] __attribute__((section(".interp"))) = "/nowhere/ld.so";
int main(void) { return where[0] != '/'; }
`

func TestAProgramThatCannotBeStartedIsARuntimeErrorEverywhere(t *testing.T) {
	t.Parallel()
	m := judgingtest.Get(t)
	native := echo(t, map[string]string{
		"problem.yaml": "name: Echo\nvalidation: custom interactive\n", "output_validators/oracle.py": oracle,
		"data/sample/1.ans": "5\n", "data/secret/1.ans": "5\n",
	})
	p := judge.Payload{Problem: "echo", Language: "c", Sources: []judge.Source{{Name: "a.c", Text: withoutInterpreter}}}
	without := judgeWith(t, fall(t, judging.AgentOff, sandbox.Config{Slots: 2, CgroupRoot: "deepoj-judging-unfit2", FirstUID: 62_500}))
	for how, j := range map[string]*judging.Judge{"with an agent": m.Judge, "without": without} {
		for name, pkg := range map[string]*problem.Package{
			"on its own": echo(t, nil), "with an interactor": guessing(t, "icpc/1", ""), "with an interactor that is a program": native,
			"with files": echo(t, map[string]string{"data/sample/1.files/a": "x"}),
		} {
			r, err := j.Judge(t.Context(), p, pkg.Version, nil)
			if err != nil || r.Verdict != judge.RE || !strings.Contains(r.Message, "interpreter is missing") {
				t.Errorf("%s, %s: it is %s %q %s: %v", name, how, r.Verdict, r.Message, r.JudgeNote, err)
			}
		}
	}
}
