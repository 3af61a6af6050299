package importing_test

import (
	"maps"
	"strings"
	"testing"
	"testing/fstest"

	"deepoj/host/problem/importing"
)

// generated is a package whose deepoj.yaml has tests made.
func generated(files map[string]string) fstest.MapFS {
	all := map[string]string{
		"problem.yaml": "name: Made\nvalidator_flags: case_sensitive\n", ".timelimit": "1",
		"data/sample/1.in": "1\n", "data/sample/1.ans": "1\n",
		"data/secret/02.in": "2\n", "data/secret/02.ans": "2\n", "data/secret/10.in": "3\n", "data/secret/10.ans": "3\n",
		"generators/big.py": "print(9)\n", "generators/odd.cpp": "int main() {}\n",
		"submissions/accepted/a.py": "print(input())\n", "submissions/accepted/b.py": "print(input())\n",
		"deepoj.yaml": "generate:\n  secret/05: big.py 10 'a b'\n  secret/11: odd.cpp\n  secret/02: big.py\nsolution: accepted/b.py\n",
	}
	maps.Copy(all, files)
	fsys := fstest.MapFS{}
	for name, text := range all {
		if text != "" {
			fsys[name] = &fstest.MapFile{Data: []byte(text), Mode: 0o644}
		}
	}
	return fsys
}

func TestTestsThatAreMadeStandAmongTheOthers(t *testing.T) {
	t.Parallel()
	p, report, err := importing.Read(generated(nil))
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range report.Warnings {
		if w.File == "generators" {
			t.Errorf("warned of %s", w)
		}
	}
	var names, made []string
	for _, x := range p.Tests() {
		names = append(names, x.Name)
		if len(x.Made) > 0 {
			made = append(made, strings.Join(x.Made, "|"))
			if x.Input.Path != "" || len(x.Flags) > 0 {
				t.Errorf("%+v", x)
			}
		}
	}
	if got := strings.Join(names, " "); got != "sample/1 secret/02 secret/05 secret/10 secret/11" {
		t.Errorf("tests: %s", got)
	}
	if got := strings.Join(made, " "); got != "big.py|10|a b odd.cpp" || p.Complete() {
		t.Errorf("made: %s", got)
	}
	if len(p.Generators) != 2 || p.Generators[0].Name != "big.py" || p.Generators[0].Language != "python" {
		t.Errorf("generators: %+v", p.Generators)
	}
	if len(p.Submissions) != 2 || p.Submissions[0].Main || !p.Submissions[1].Main {
		t.Errorf("submissions: %+v", p.Submissions)
	}
	given := generated(map[string]string{"data/secret/05.in": "5\n", "data/secret/05.ans": "5\n", "data/secret/11.in": "6\n", "data/secret/11.ans": "6\n"})
	if p, _, err := importing.Read(given); err != nil || !p.Complete() || len(p.Generators) > 0 {
		t.Errorf("a package that holds all: %v", err)
	}
}

func TestWhatCannotBeMadeIsRefusedByName(t *testing.T) {
	t.Parallel()
	const version = "problem_format_version: 2025-09\nname: Made\nuuid: 1\nlimits: {time_limit: 1}\n"
	for name, tt := range map[string]struct {
		files map[string]string
		want  string
	}{
		"no such generator":     {map[string]string{"deepoj.yaml": "generate: {secret/05: large.py 1}\n"}, `deepoj.yaml: generate.secret/05: begins with "large.py", which is no file of generators`},
		"out of the folder":     {map[string]string{"deepoj.yaml": "generate: {secret/05: ../submissions/accepted/a.py}\n"}, "which is no file of generators"},
		"a shell":               {map[string]string{"deepoj.yaml": "generate: {secret/05: big.py 1 | sort}\n"}, `generate.secret/05: is "big.py 1 | sort": it holds '|'`},
		"nothing":               {map[string]string{"deepoj.yaml": "generate: {secret/05: ''}\n"}, "is empty: write the name of a file"},
		"no test":               {map[string]string{"deepoj.yaml": "generate: {big/05: big.py}\n"}, "is no name of a test"},
		"climbs out":            {map[string]string{"deepoj.yaml": "generate: {secret/../../05: big.py}\n"}, "is no name of a test"},
		"a group without tests": {map[string]string{"deepoj.yaml": "generate: {secret/a/05: big.py}\n"}, "put one small test into data/secret/a"},
		"no such solution":      {map[string]string{"deepoj.yaml": "generate: {secret/05: big.py}\nsolution: accepted/c.py\n"}, `deepoj.yaml: solution: is "accepted/c.py"`},
		"no solution": {
			map[string]string{"deepoj.yaml": "generate: {secret/05: big.py}\n", "submissions/accepted/a.py": "", "submissions/accepted/b.py": ""},
			"needs a program that gives the answers",
		},
		"a language that nobody runs": {map[string]string{"deepoj.yaml": "generate: {secret/05: a.bas}\n", "generators/a.bas": "x"}, "generators/a.bas: is not run"},
		"points that are shared": {map[string]string{
			"problem.yaml": version + "type: scoring\n", ".timelimit": "", "statement/problem.en.md": "x", "deepoj.yaml": "generate: {secret/05: big.py}\n",
		}, "cannot be used in a scoring package of this format"},
	} {
		if _, _, err := importing.Read(generated(tt.files)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
	p, _, err := importing.Read(generated(map[string]string{"problem.yaml": version, ".timelimit": "", "statement/problem.en.md": "x"}))
	if err != nil || len(p.Tests()) != 5 {
		t.Errorf("a package that has a version: %v", err)
	}
}
