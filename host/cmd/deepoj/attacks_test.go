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

// promises are the tables of the documents whose last column names the tests that show
// what a line says: the headings of their sections, and how many lines they have at least.
var promises = map[string]struct {
	file, section string
	least         int
}{
	"attacks":    {"security.md", "Attacks, and the tests that try them", 40},
	"constructs": {"packages.md", "Constructs and dialects, and the tests that show them", 40},
}

func TestEveryAttackOfTheSecurityPageIsTried(t *testing.T) {
	t.Parallel()
	eachLineIsShown(t, "attacks")
}

func TestEveryConstructOfThePackagesPageIsShown(t *testing.T) {
	t.Parallel()
	eachLineIsShown(t, "constructs")
}

// eachLineIsShown reads a table: each line names tests that exist, and none of them may
// be skipped where everything is required.
func eachLineIsShown(t *testing.T, table string) {
	t.Helper()
	p := promises[table]
	doc, err := os.ReadFile(filepath.Join("..", "..", "docs", p.file))
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(doc), "\n## "+p.section+"\n")
	section, _, _ = strings.Cut(section, "\n## ")
	found, skips := tests(t)
	name := regexp.MustCompile("`(Test[A-Za-z0-9_]+)`")
	lines, head := 0, true
	for line := range strings.Lines(section) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if len(cells) < 2 {
			head = true
			continue
		}
		if strings.HasPrefix(strings.TrimSpace(cells[0]), "---") {
			head = false
			continue
		}
		if head {
			continue
		}
		lines++
		what := strings.TrimSpace(cells[0])
		named := name.FindAllStringSubmatch(cells[len(cells)-1], -1)
		if len(named) == 0 {
			t.Errorf("no test is named for %q", what)
		}
		for _, m := range named {
			if len(found[m[1]]) == 0 {
				t.Errorf("%s is named for %q, and there is no such test", m[1], what)
			}
			for _, proof := range found[m[1]] {
				if hidden := proof.hiddenBy(skips); hidden != "" {
					t.Errorf("%s is named for %q, and may not run: %s (%s)", m[1], what, hidden, proof.file)
				}
			}
		}
	}
	if lines < p.least {
		t.Errorf("only %d %s are listed", lines, table)
	}
}

// hiddenBy says why the test may not run, by itself or by what it calls.
func (p provenTest) hiddenBy(skips map[string]string) string {
	hidden := p.hidden
	for _, called := range p.calls {
		if hidden == "" {
			hidden = skips[filepath.Dir(p.file)+"."+called]
		}
	}
	return hidden
}
