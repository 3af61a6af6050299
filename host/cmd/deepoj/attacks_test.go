package main

import (
	"go/ast"
	"go/build/constraint"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// provenTest is what a test's source says of it.
type provenTest struct {
	file   string
	hidden string   // why it may not run where everything is required; "" if it does
	calls  []string // functions of its package that it calls
}

// tests returns every test of the repository by its name, and why each function that may
// skip its caller does so although everything is required, by folder and name.
func tests(t *testing.T) (found map[string][]provenTest, skips map[string]string) {
	t.Helper()
	found, skips = map[string][]provenTest{}, map[string]string{}
	root := filepath.Join("..", "..", "..")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if strings.HasPrefix(d.Name(), ".") && path != root || d.Name() == "node_modules" || d.Name() == "testdata" {
				return filepath.SkipDir
			}
			return nil
		}
		if filepath.Ext(path) != ".go" {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, decl := range file.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok || f.Body == nil {
				continue
			}
			hidden, calls := read(f)
			if hidden == "" {
				hidden = constrained(file)
			} else {
				skips[filepath.Dir(path)+"."+f.Name.Name] = hidden
			}
			if strings.HasSuffix(path, "_test.go") && strings.HasPrefix(f.Name.Name, "Test") && f.Recv == nil {
				found[f.Name.Name] = append(found[f.Name.Name], provenTest{path, hidden, calls})
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found, skips
}

// read says whether a function skips a test without looking whether everything is
// required, and which functions it calls by a bare name.
func read(f *ast.FuncDecl) (hidden string, calls []string) {
	required := false
	ast.Inspect(f.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BasicLit:
			required = required || n.Value == `"require"`
		case *ast.CallExpr:
			switch called := n.Fun.(type) {
			case *ast.Ident:
				calls = append(calls, called.Name)
			case *ast.SelectorExpr:
				if slices.Contains([]string{"Skip", "Skipf", "SkipNow"}, called.Sel.Name) {
					hidden = f.Name.Name + " skips"
				}
			}
		}
		return true
	})
	if required {
		hidden = ""
	}
	return hidden, calls
}

// constrained says whether a file is left out where `make test` runs: on Linux, with
// the race detector.
func constrained(file *ast.File) string {
	for _, group := range file.Comments {
		for _, c := range group.List {
			x, err := constraint.Parse(c.Text)
			if err == nil && !x.Eval(func(tag string) bool { return slices.Contains([]string{"linux", "amd64", "unix", "race", "cgo"}, tag) }) {
				return "its file is built only with " + x.String()
			}
		}
	}
	return ""
}

// TestEveryAttackOfTheSecurityPageIsTried reads the list of attacks: each names tests
// that exist, and none of them may be skipped where everything is required.
func TestEveryAttackOfTheSecurityPageIsTried(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile("../../docs/security.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(doc), "\n## Attacks, and the tests that try them\n")
	section, _, _ = strings.Cut(section, "\n## ")
	found, skips := tests(t)
	name := regexp.MustCompile("`(Test[A-Za-z0-9_]+)`")
	attacks := 0
	for line := range strings.Lines(section) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if len(cells) < 2 || strings.HasPrefix(strings.TrimSpace(cells[0]), "---") || strings.TrimSpace(cells[0]) == "attack" {
			continue
		}
		attacks++
		named := name.FindAllStringSubmatch(cells[len(cells)-1], -1)
		if len(named) == 0 {
			t.Errorf("no test is named for %q", strings.TrimSpace(cells[0]))
		}
		for _, m := range named {
			if len(found[m[1]]) == 0 {
				t.Errorf("%s is named for %q, and there is no such test", m[1], strings.TrimSpace(cells[0]))
			}
			for _, proof := range found[m[1]] {
				hidden := proof.hidden
				for _, called := range proof.calls {
					if hidden == "" {
						hidden = skips[filepath.Dir(proof.file)+"."+called]
					}
				}
				if hidden != "" {
					t.Errorf("%s is named for %q, and may not run: %s (%s)", m[1], strings.TrimSpace(cells[0]), hidden, proof.file)
				}
			}
		}
	}
	if attacks < 40 {
		t.Errorf("only %d attacks are listed", attacks)
	}
}
