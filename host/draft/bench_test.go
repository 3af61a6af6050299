package draft_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"maps"
	"slices"
	"testing"
	"testing/fstest"

	"deepoj/host/blob"
	"deepoj/host/draft"
	"deepoj/host/problem"
	"deepoj/host/problem/importing"
	"deepoj/host/problem/source"
)

// The smallest packages of each form.
var (
	legacy = map[string]string{
		"problem.yaml":                    "# ours\nname: Triple\nlimits:\n  memory: 256 # plenty\nvalidator_flags: case_sensitive\nkeywords: [math]\n",
		".timelimit":                      "2\n",
		"problem_statement/problem.en.md": "Three times it.\n",
		"data/sample/1.in":                "1\n",
		"data/sample/1.ans":               "3\n",
		"data/secret/01.in":               "2\n",
		"data/secret/01.ans":              "6\n",
		"data/secret/01.hint":             "easy\n",
		"submissions/accepted/a.py":       "print(3*int(input()))\n",
		"submissions/wrong_answer/b.py":   "print(3)\n",
		"submissions/wrong_answer/d/x.py": "import y\n",
		"submissions/wrong_answer/d/y.py": "print(4)\n",
		"attachments/notes.txt":           "notes\n",
	}
	newest = map[string]string{
		"problem.yaml":              "problem_format_version: 2025-09\nname: Triple\nuuid: 0b3c7a52-6e0e-4f25-9a53-2d8a2b1f0c12\nlimits:\n  time_limit: 2\n",
		"statement/problem.en.md":   "Three times it.\n",
		"data/sample/1.in":          "1\n",
		"data/sample/1.ans":         "3\n",
		"data/secret/01.in":         "2\n",
		"data/secret/01.ans":        "6\n",
		"submissions/accepted/a.py": "print(3*int(input()))\n",
	}
	polygon = map[string]string{
		"problem.xml": `<?xml version="1.0" encoding="utf-8"?>
<problem revision="1" short-name="double">
<names><name language="english" value="Double"/></names>
<statements><statement charset="UTF-8" language="english" path="statements/english/problem.tex" type="application/x-tex"/></statements>
<judging input-file="" output-file=""><testset name="tests">
<time-limit>1500</time-limit><memory-limit>268435456</memory-limit><test-count>2</test-count>
<input-path-pattern>tests/%02d</input-path-pattern><answer-path-pattern>tests/%02d.a</answer-path-pattern>
<tests><test method="manual" sample="true"/><test cmd="gen 5" method="generated"/></tests>
</testset></judging>
<files><executables><executable><source path="files/gen.py" type="python.3"/></executable></executables></files>
<assets><checker name="std::wcmp.cpp" type="testlib"><source path="files/check.cpp" type="cpp.g++17"/></checker>
<solutions><solution tag="main"><source path="solutions/main.py" type="python.3"/></solution></solutions></assets>
</problem>
`,
		"tests/01":                       "1\n",
		"files/gen.py":                   "import sys\nprint(sys.argv[1])\n",
		"files/check.cpp":                "// compares words\n",
		"solutions/main.py":              "print(2 * int(input()))\n",
		"statements/english/problem.tex": "\\begin{problem}{Double}{standard input}{standard output}{1 second}{256 megabytes}\nDouble it.\n\\end{problem}\n",
	}
	plain = map[string]string{
		"1.in": "1\n", "1.out": "2\n", "2.in": "5\n", "2.out": "6\n", "statement.md": "Add one.\n", "submissions/accepted/a.py": "print(int(input()) + 1)\n",
	}
	dmoj = map[string]string{
		"init.yml":  "archive: data\ntest_cases:\n- {in: 1.in, out: 1.out, points: 40}\n- {in: 2.in, out: 2.out, points: 60}\n",
		"data/1.in": "1\n", "data/1.out": "2\n", "data/2.in": "2\n", "data/2.out": "3\n",
		"statement.md": "Add one.\n", "submissions/accepted/a.py": "print(int(input()) + 1)\n",
	}
	interactive = with(newest, map[string]string{
		"problem.yaml":             "problem_format_version: 2025-09\nname: Guess\ntype: interactive\nuuid: 0b3c7a52-6e0e-4f25-9a53-2d8a2b1f0c13\nlimits:\n  time_limit: 2\n",
		"output_validator/talk.py": "import sys\nsys.exit(42)\n",
	})
)

// with is a package with some other files; "" = without the file.
func with(files, other map[string]string) map[string]string {
	all := maps.Clone(files)
	maps.Copy(all, other)
	maps.DeleteFunc(all, func(_, text string) bool { return text == "" })
	return all
}

// bench keeps the versions of one test.
type bench struct {
	*testing.T
	blobs blob.Store
}

func newBench(t *testing.T) bench {
	t.Helper()
	blobs, err := blob.OpenDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return bench{t, blobs}
}

// keep saves a package made of files.
func (b bench) keep(files map[string]string) *problem.Package {
	b.Helper()
	fsys := fstest.MapFS{}
	for name, text := range files {
		fsys[name] = &fstest.MapFile{Data: []byte(text), Mode: 0o644}
	}
	pkg, _, err := importing.Read(fsys)
	if err != nil {
		b.Fatal(err)
	}
	pkg.Slug = "p"
	if _, err := pkg.Save(b.Context(), b.blobs); err != nil {
		b.Fatal(err)
	}
	return pkg
}

// text returns a file of a version.
func (b bench) text(pkg *problem.Package, name string) string {
	b.Helper()
	i := slices.IndexFunc(pkg.Files, func(f problem.File) bool { return f.Path == name })
	if i < 0 {
		b.Fatalf("there is no file %s", name)
	}
	r, err := pkg.Open(b.Context(), pkg.Files[i])
	if err != nil {
		b.Fatal(err)
	}
	defer r.Close()
	text, err := io.ReadAll(r)
	if err != nil {
		b.Fatal(err)
	}
	return string(text)
}

// plan plans changes, and names the fields that are wrong.
func (b bench) plan(pkg *problem.Package, c draft.Changes) (problem.Revision, []string) {
	b.Helper()
	rev, wrong, err := draft.Plan(pkg, c, func(name string) (string, error) { return b.text(pkg, name), nil })
	if err != nil {
		b.Fatal(err)
	}
	var said []string
	for _, w := range wrong {
		said = append(said, fmt.Sprintf("%s (%s): %s", w.Field, w.Reason, w.Remedy))
	}
	slices.Sort(said)
	return rev, said
}

// edit makes changes and takes the archive in, as an import does.
func (b bench) edit(pkg *problem.Package, c draft.Changes) *problem.Package {
	b.Helper()
	rev, wrong := b.plan(pkg, c)
	if len(wrong) > 0 {
		b.Fatalf("refused: %q", wrong)
	}
	var archive bytes.Buffer
	if err := pkg.Revise(b.Context(), &archive, rev); err != nil {
		b.Fatal(err)
	}
	z, err := zip.NewReader(bytes.NewReader(archive.Bytes()), int64(archive.Len()))
	if err != nil {
		b.Fatal(err)
	}
	fsys, err := source.Unzip(z)
	if err != nil {
		b.Fatal(err)
	}
	next, _, err := importing.Read(fsys)
	if err != nil {
		b.Fatal(err)
	}
	next.Slug = pkg.Slug
	if _, err := next.Save(b.Context(), b.blobs); err != nil {
		b.Fatal(err)
	}
	return next
}

// differs names the files that one version has otherwise than another: "+" are new,
// "-" gone, "*" changed.
func differs(a, b *problem.Package) (marks []string) {
	has := func(p *problem.Package, name string) bool {
		return slices.ContainsFunc(p.Files, func(f problem.File) bool { return f.Path == name })
	}
	for _, name := range draft.Changed(a, b) {
		switch {
		case !has(a, name):
			name = "+" + name
		case !has(b, name):
			name = "-" + name
		default:
			name = "*" + name
		}
		marks = append(marks, name)
	}
	slices.Sort(marks)
	return marks
}
