package verify_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"deepoj/host/judging/judgingtest"
	"deepoj/host/problem"
	"deepoj/host/problem/importing"
	"deepoj/host/verify"
)

const (
	oddCheck = "#include \"l+1, (2).h\"\n#include <stdio.h>\nint main(int argc, char **argv)\n{\n\tint due, got;\n" +
		"\tif (argc < 4 || fscanf(fopen(argv[2], \"r\"), \"%d\", &due) != 1)\n\t\treturn 1;\n\treturn scanf(\"%d\", &got) == 1 && same(got, due) ? 42 : 43;\n}\n"
	oddMain = "#include \"lib+1 (a)/twice=2, ~.h\"\n#include <iostream>\nint main() { int n; std::cin >> n; std::cout << twice(n) << std::endl; }\n"
)

func TestNamesMayHoldWhateverFileSystemsAllow(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"problem.yaml": "name: Double\nvalidation: custom\n", ".timelimit": "2",
		"problem_statement/problem.tex":                         "\\problemname{Double}\n\\input{part+1 (a), b}\n",
		"problem_statement/part+1 (a), b.tex":                   "Double it.\n",
		"data/sample/1+1 (a), b.in":                             "1\n",
		"data/sample/1+1 (a), b.ans":                            "2\n",
		"data/secret/x & y/2 #'$;.in":                           "2\n",
		"data/secret/x & y/2 #'$;.ans":                          "4\n",
		"submissions/accepted/a+b, (1) & 'c'.py":                right,
		"submissions/accepted/two + (x)/main+1 @.cpp":           oddMain,
		"submissions/accepted/two + (x)/lib+1 (a)/twice=2, ~.h": "inline int twice(int n) { return 2 * n; }\n",
		"submissions/wrong_answer/$(no) `more` {a,b}*?[x].py":   "print(7)\n",
		"input_validators/v+1, (2).py":                          "import sys\nsys.exit(42 if input().isdigit() else 43)\n",
		"input_validators/of + folder (1)/main.py":              "import part\n",
		"input_validators/of + folder (1)/part.py":              "raise SystemExit(42)\n",
		"input_validators/shell + (1).sh":                       "exit 42\n",
		"output_validators/check+ (1)/c+1, (2).c":               oddCheck,
		"output_validators/check+ (1)/l+1, (2).h":               "static int same(int a, int b) { return a == b; }\n",
		"attachments/a+b, (1) & 'c' größe.txt":                  "help\n",
	}
	fsys := fstest.MapFS{}
	for name, text := range files {
		fsys[name] = &fstest.MapFile{Data: []byte(text), Mode: 0o644}
	}
	pkg, report, err := importing.Read(fsys)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range report.Warnings {
		t.Errorf("warned: %s", w)
	}
	pkg.Slug = "c++ (a, b) & d'e"
	if _, err := pkg.Save(t.Context(), judgingtest.Get(t).Blobs); err != nil {
		t.Fatal(err)
	}
	r, err := verify.Run(t.Context(), verify.Config{Judge: judgingtest.Get(t).Judge}, pkg)
	if err != nil {
		t.Fatal(err)
	}
	if !r.OK() || len(r.Rows) != 3 || r.Checked != 6 || len(r.Notes) > 0 {
		t.Errorf("asked %d times, faults %q, notes %q", r.Checked, r.Faults, r.Notes)
	}
	for _, row := range r.Rows {
		if row.Problem != "" || row.Skipped != "" {
			t.Errorf("%s: %s%s", row.Path, row.Problem, row.Skipped)
		}
	}
	if i := slices.IndexFunc(pkg.Attachments, func(f problem.File) bool { return f.Path == "attachments/a+b, (1) & 'c' größe.txt" }); i < 0 {
		t.Errorf("attachments are %v", pkg.Attachments)
	}
}

func TestAPackageOfPolygonMayHaveOddNamesAndScriptsOfNode(t *testing.T) {
	t.Parallel()
	const node = "const n = Number(require('fs').readFileSync(0, 'utf8'))\nconsole.log(2 * n)\n"
	files := polygon("", `<tests><test method="manual" sample="true"/><test method="generated" cmd="gen+1,b 5"/></tests>`, words+`
<solutions><solution tag="main"><source path="solutions/a+b (1).py" type="python.3"/></solution>
<solution tag="accepted"><source path="solutions/n+1.js" type="v8.nodejs"/></solution>
<solution tag="accepted"><source path="solutions/shell.js" type="v8.3"/></solution></solutions>`, nil)
	delete(files, "solutions/all.py")
	delete(files, "files/gen.py")
	maps.Copy(files, map[string]string{
		"tests/01": "1\n", "files/gen+1,b.py": "import sys\nprint(sys.argv[1])\n",
		"solutions/a+b (1).py": right, "solutions/n+1.js": node, "solutions/shell.js": "print(2 * readline())\n",
	})
	files["problem.xml"] = strings.Replace(files["problem.xml"], "files/gen.py", "files/gen+1,b.py", 1)
	pkg, err := made(t, files)
	if err != nil {
		t.Fatal(err)
	}
	r, err := verify.Run(t.Context(), verify.Config{Judge: judgingtest.Get(t).Judge}, pkg)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range r.Rows {
		if row.Problem != "" || (row.Skipped != "") != (row.Path == "solutions/shell.js") {
			t.Errorf("%s: %s, skipped %q", row.Path, row.Problem, row.Skipped)
		}
	}
	if len(r.Rows) != 3 {
		t.Errorf("%d rows", len(r.Rows))
	}
}
