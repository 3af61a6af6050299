package judging_test

import (
	"io"
	"testing"

	"deepoj/host/judge"
	"deepoj/host/judging/judgingtest"
	"deepoj/host/problem"
)

// submitted returns the files of a submission of a package as they are judged.
func submittedFiles(t *testing.T, pkg *problem.Package, name string) (all []judge.Source) {
	t.Helper()
	for _, s := range pkg.Submissions {
		if s.Path != name {
			continue
		}
		for _, f := range s.Files {
			r, err := pkg.Open(t.Context(), f)
			if err != nil {
				t.Fatal(err)
			}
			text, err := io.ReadAll(r)
			if err := r.Close(); err != nil {
				t.Fatal(err)
			}
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, judge.Source{Name: f.Path[len(name)+1:], Text: string(text)})
		}
	}
	return all
}

func TestASubmissionStartsAtItsEntryPoint(t *testing.T) {
	t.Parallel()
	pkg := echo(t, map[string]string{
		"submissions.json":                   `{"submissions/accepted/many/": {"entry_point": "start.py"}}`,
		"submissions/accepted/many/a.py":     "print('wrong')\n",
		"submissions/accepted/many/start.py": "print(input())\n",
	})
	sources := submittedFiles(t, pkg, "submissions/accepted/many")
	if r := judged(t, judgingtest.Get(t).Judge, judge.Payload{Language: "python", Sources: sources}, pkg); r.Verdict != judge.AC || len(sources) != 2 {
		t.Errorf("%s: %s", r.Verdict, r.Message)
	}
}

func TestIncludesKeepTheirFolders(t *testing.T) {
	t.Parallel()
	pkg := echo(t, map[string]string{"include/python/lib/deep/answer.py": "def same(x): return x\n", "include/default/lib/__init__.py": "# a package\n"})
	r := judged(t, judgingtest.Get(t).Judge, python("from lib.deep.answer import same\nprint(same(input()))\n"), pkg)
	if r.Verdict != judge.AC {
		t.Errorf("%s: %s", r.Verdict, r.Message)
	}
}
