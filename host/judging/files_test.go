package judging_test

import (
	"maps"
	"testing"

	"deepoj/host/judge"
	"deepoj/host/judging/judgingtest"
)

func TestProgramsGetTheArgumentsAndFilesOfATest(t *testing.T) {
	t.Parallel()
	files := func(more map[string]string) map[string]string {
		all := map[string]string{
			"problem.yaml": "problem_format_version: 2025-09\nname: Echo\nuuid: 1\nlimits: {time_limit: 1}\n", ".timelimit": "", "statement/problem.en.md": "Echo.\n",
			// The same input and answer, so that only the rest tells the tests apart.
			"data/sample/1.in": "1\n", "data/sample/1.ans": "hello\n", "data/secret/1.in": "1\n", "data/secret/1.ans": "hello\n",
		}
		maps.Copy(all, more)
		return all
	}
	args := files(map[string]string{"data/sample/1.yaml": "args: [hello]\n", "data/secret/1.yaml": "args: [goodbye]\n"})
	beside := files(map[string]string{"data/sample/1.files/a/word.txt": "hello\n", "data/secret/1.files/a/word.txt": "goodbye\n", "data/sample/1.files/main.py": "print('hello')\n"})
	writing := files(map[string]string{"problem.yaml": "problem_format_version: 2025-09\nname: Echo\nuuid: 1\nlimits: {time_limit: 1}\nallow_file_writing: true\n"})
	const write = "open('mine.txt', 'x').write('hello')\nprint(open('mine.txt').read())\n"
	for name, tt := range map[string]struct {
		files         map[string]string
		program, want string
	}{
		"arguments":                             {args, "import sys\nprint(sys.argv[1])\n", "AC WA"},
		"files, which do not replace a program": {beside, "print(open('a/word.txt').read())\n", "AC WA"},
		"no files that are written":             {beside, write, "RE -"},
		"files that are written":                {writing, write, "AC AC="},
		"no files that are written otherwise":   {args, write, "RE -"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if r := judged(t, judgingtest.Get(t).Judge, python(tt.program), echo(t, tt.files)); verdicts(r) != tt.want {
				t.Errorf("%s, want %s: %s", verdicts(r), tt.want, r.Message)
			}
		})
	}
}

func TestAnInteractiveProgramGetsArgumentsAndFiles(t *testing.T) {
	t.Parallel()
	pkg := echo(t, map[string]string{
		"problem.yaml": "problem_format_version: 2025-09\nname: Greet\nuuid: 1\ntype: interactive\nlimits: {time_limit: 1}\n", ".timelimit": "", "statement/problem.en.md": "Greet.\n",
		"output_validator/g.c": "#include <stdio.h>\n#include <string.h>\nint main(void) { char a[9], b[9]; return scanf(\"%8s %8s\", a, b) == 2 && !strcmp(a, \"x\") && !strcmp(b, \"y\") ? 42 : 43; }\n",
		"data/sample/1.in":     "1\n", "data/sample/1.yaml": "args: [x]\n", "data/sample/1.files/b": "y\n", "data/secret/1.files/b": "z\n",
	})
	r := judged(t, judgingtest.Get(t).Judge, python("import sys\nprint((sys.argv + ['x'])[1], open('b').read())\n"), pkg)
	if verdicts(r) != "AC WA" || r.Verdict != judge.WA {
		t.Errorf("%s: %s", verdicts(r), r.JudgeNote)
	}
}
