// Package languages_test carries out the plans of the language adapters with
// the tool chains of this machine, outside any sandbox.
package languages_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"deepoj/plugins/abi"
	"deepoj/plugins/languages"
)

// ids are the adapters in this folder.
var ids = []string{"c", "cpp", "csharp", "go", "java", "javascript", "kotlin", "python", "rust", "typescript"}

// optional are those whose tools may be missing even where all others must be
// there. Vectors with the words of real compilers prove them on such machines.
var optional = []string{"csharp", "kotlin"}

func TestEveryFolderIsTested(t *testing.T) {
	t.Parallel()
	found, err := filepath.Glob("*/adapter.go")
	if err != nil || len(found) != len(ids) {
		t.Errorf("there are %d adapters (%v), the tests know %q", len(found), err, ids)
	}
	var listed []string
	for _, a := range languages.All() {
		listed = append(listed, a.Manifest.Language.ID)
	}
	if !slices.Equal(listed, ids) {
		t.Errorf("the program holds the adapters of %q, the tests know %q", listed, ids)
	}
}

func TestManifestsAreComplete(t *testing.T) {
	t.Parallel()
	for _, id := range ids {
		t.Run(id, func(t *testing.T) {
			t.Parallel()
			m := load(t, id).manifest
			l := m.Language
			if m.Judge != abi.Version || m.Kind != abi.Toolchain || m.Protocol != abi.Plan1 || m.Name == "" || m.Version == "" {
				t.Errorf("manifest of %s is %+v", id, m)
			}
			if l == nil {
				t.Fatal("no language")
			}
			if l.ID != id || l.Name == "" || l.Editor == "" || len(l.Extensions) == 0 || len(l.Tools) == 0 ||
				len(l.Hello) == 0 || len(l.Broken) == 0 || l.BrokenLine == 0 || len(l.Hints) == 0 {
				t.Errorf("language is %+v", l)
			}
			hinted := false
			for _, hint := range l.Hints {
				re, err := regexp.Compile(hint)
				if err != nil {
					t.Errorf("hint: %v", err)
				} else if re.MatchString(l.Hello[0].Text) {
					hinted = true
				}
			}
			if !hinted {
				t.Error("no hint matches the language's own hello")
			}
			if m.Options != nil && !json.Valid(m.Options) {
				t.Errorf("options are not JSON: %s", m.Options)
			}
		})
	}
}

func TestProbesReadTheVersion(t *testing.T) {
	t.Parallel()
	version := regexp.MustCompile(`^\d+\.\d+`)
	for _, id := range ids {
		a := load(t, id)
		for _, tool := range a.manifest.Language.Tools {
			t.Run(id+"/"+tool.Name, func(t *testing.T) {
				t.Parallel()
				a.requireTool(t, tool.Name)
				r := execute(t, t.TempDir(), abi.Step{Tool: tool.Name, Args: tool.Version})
				m := regexp.MustCompile(tool.Pattern).FindStringSubmatch(r.stdout + r.stderr)
				if m == nil || !version.MatchString(m[1]) {
					t.Errorf("%s finds %q in %q", tool.Pattern, m, r.stdout+r.stderr)
				}
			})
		}
	}
}

func TestHelloPrintsHello(t *testing.T) {
	t.Parallel()
	for _, id := range ids {
		t.Run(id, func(t *testing.T) {
			t.Parallel()
			a := load(t, id)
			r := a.run(t, request(a.manifest.Language.Hello...))
			if r.code != 0 || r.stdout != "hello\n" {
				t.Errorf("%s: exit %d, stdout %q, stderr %q", id, r.code, r.stdout, r.stderr)
			}
		})
	}
}

func TestBrokenIsACompileErrorOnItsLine(t *testing.T) {
	t.Parallel()
	for _, id := range ids {
		t.Run(id, func(t *testing.T) {
			t.Parallel()
			a := load(t, id)
			l := a.manifest.Language
			found := a.compileErrors(t, request(l.Broken...))
			if len(found) == 0 {
				t.Fatalf("no diagnostics")
			}
			d := found[0]
			if d.File != l.Broken[0].Name || d.Line != l.BrokenLine || d.Severity != "error" || d.Message == "" || d.Column == 0 {
				t.Errorf("the first diagnostic is %+v, want an error in %s:%d", d, l.Broken[0].Name, l.BrokenLine)
			}
		})
	}
}

func TestAMissingMainIsACompileError(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		source abi.Source
		line   int    // where the adapter finds it; 0 when the compiler does
		word   string // in the message
	}{
		"java":   {abi.Source{Name: "A.java", Text: "// nothing\nclass A { void main() {} }\n"}, 2, "main"},
		"kotlin": {abi.Source{Name: "A.kt", Text: "// nothing\nclass A { fun main() {} }\n"}, 1, "main"},
		"go":     {abi.Source{Name: "a.go", Text: "package main\n"}, 0, "main"},
		"csharp": {abi.Source{Name: "A.cs", Text: "class A { void Main() {} }\n"}, 0, "Main"},
	}
	for id, tt := range tests {
		t.Run(id, func(t *testing.T) {
			t.Parallel()
			a := load(t, id)
			p := a.plan(t, request(tt.source))
			if tt.line > 0 {
				if p.Error == nil || p.Error.Line != tt.line || !strings.Contains(p.Error.Message, tt.word) {
					t.Errorf("refused with %+v", p.Error)
				}
				return
			}
			found := a.compileErrors(t, request(tt.source))
			if len(found) == 0 || found[0].File != tt.source.Name || !strings.Contains(found[0].Message, tt.word) {
				t.Errorf("diagnostics are %+v", found)
			}
		})
	}
}

func TestAForeignFileIsRefused(t *testing.T) {
	t.Parallel()
	for _, id := range ids {
		a := load(t, id)
		p := a.plan(t, request(abi.Source{Name: "a.txt", Text: "x"}, abi.Source{Name: "b.txt", Text: "y"}))
		if p.Error == nil || !strings.Contains(p.Error.Message, "extension") {
			t.Errorf("%s plans two text files as %+v", id, p)
		}
	}
}

// Every machine compiles every adapter at its first start, and every program of ours carries them all. What stands on
// reflection makes one twice as large.
func TestAdaptersAreSmallAsGuests(t *testing.T) {
	t.Parallel()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-deps", "../adapters")
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0")
	packages, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	list := strings.Fields(string(packages))
	if !slices.Contains(list, "deepoj/plugins/languages/c") || !slices.Contains(list, "strings") {
		t.Fatalf("the packages of the adapters are %q", list)
	}
	for _, heavy := range []string{"fmt", "os", "reflect", "encoding/json", "regexp", "syscall", "time", "embed"} {
		if slices.Contains(list, heavy) {
			t.Errorf("an adapter imports %s, if not itself, then through another package: see plugins/sdk/go", heavy)
		}
	}
}
