package importing_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"deepoj/host/problem"
	"deepoj/host/problem/importing"
	"deepoj/host/problem/problemtest"
)

// faulty is a package with 27 inputs without answers and some other faults.
func faulty() map[string]string {
	files := map[string]string{
		"problem.yaml": "name: a\ntype: quiz\nlimits: {memory: -1}\n", ".timelimit": "soon", "data/secret/90.ans": "x", "data/testdata.yaml": "on_reject: explode\n",
		"submissions/accepted/.gitkeep": "x", "submissions/wrong_answer/.gitkeep": "x", "graders/a.py": "x", "graders/b.py": "x",
	}
	for i := range 27 {
		files[fmt.Sprintf("data/secret/%02d.in", 10+i)] = "x"
	}
	return files
}

func TestLikeFaultsAreSummedUp(t *testing.T) {
	t.Parallel()
	_, report, err := importing.Read(problemtest.Pack(faulty()))
	all := problem.Findings(err)
	var files []string
	for _, f := range all {
		files = append(files, f.File)
	}
	if want := []string{".timelimit", "data/secret/10.in", "data/secret/90.ans", "data/testdata.yaml", "graders", "problem.yaml", "problem.yaml"}; !slices.Equal(files, want) {
		t.Fatalf("the faults are of %q, want %q:\n%v", files, want, err)
	}
	if f := all[1]; f.Count != 27 || !slices.Equal(f.Also, []string{"data/secret/11.in", "data/secret/12.in", "data/secret/13.in"}) {
		t.Errorf("the fault of 27 files is %+v", f)
	}
	const want = "data/secret/10.in: has no answer: 10.ans is missing (27 files like this: also data/secret/11.in, data/secret/12.in, data/secret/13.in, …)"
	if s := all[1].String(); s != want {
		t.Errorf("it reads %q, want %q", s, want)
	}
	if all[2].Count != 0 || strings.Contains(all[2].String(), "like this") {
		t.Errorf("the fault of one file is %+v", all[2])
	}
	if w := report.Warnings; len(w) != 2 || w[1].File != "submissions/accepted/.gitkeep" || w[1].Count != 2 {
		t.Errorf("the warnings are %v", w)
	}
	b, err := json.Marshal(all[1])
	if err != nil || !strings.Contains(string(b), `"count":27,"also":["data/secret/11.in"`) {
		t.Errorf("as JSON it is %s, %v", b, err)
	}
}

func TestFaultsOfOneFileStayApart(t *testing.T) {
	t.Parallel()
	_, report := problemtest.Read(t, map[string]string{
		"data/testdata.yaml": "grader_flags: odd even\n", "data/secret/testdata.yaml": "grader_flags: odd\n",
	})
	var all []string
	for _, w := range report.Warnings {
		if w.Key == "grader_flags" {
			all = append(all, w.String())
		}
	}
	if len(all) != 2 || !strings.Contains(all[0], `"odd"`) || !strings.Contains(all[0], "2 files like this") || !strings.Contains(all[1], `"even"`) {
		t.Errorf("the warnings are %q", all)
	}
}

func TestWhatIsNoTextIsNoSubmission(t *testing.T) {
	t.Parallel()
	p, report := problemtest.Read(t, map[string]string{
		"submissions/accepted/b.py": "print()\x00", "submissions/accepted/c/main.py": "print()\n", "submissions/accepted/c/table.dat": "\x7fELF\x00",
	})
	var kept []string
	for _, s := range p.Submissions {
		for _, f := range s.Files {
			kept = append(kept, f.Path)
		}
	}
	if want := []string{"submissions/accepted/a.py", "submissions/accepted/c/main.py"}; !slices.Equal(kept, want) {
		t.Errorf("the programs are %q, want %q", kept, want)
	}
	text := fmt.Sprint(report.Warnings)
	for _, want := range []string{"submissions/accepted/b.py: is no program: it is not text", "submissions/accepted/c/table.dat: is no part of a program"} {
		if !strings.Contains(text, want) {
			t.Errorf("no warning says %q: %s", want, text)
		}
	}
}
