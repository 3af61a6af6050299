// Package languagestest tells tests which languages there are, so that no table of languages forgets one.
package languagestest

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Language is what the manifest of an adapter says.
type Language struct {
	ID         string
	Editor     string   // mode of the editor
	Extensions []string // without the dot
}

var (
	extensions = regexp.MustCompile(`(?i)\bextensions\s*(?::|=|:=)\s*\[\]string\{([^}]*)\}`)
	editor     = regexp.MustCompile(`\bEditor:\s*"([^"]*)"`)
	word       = regexp.MustCompile(`"([^"]*)"`)
)

// All returns the languages that have an adapter, from the manifests as the sources
// of the adapters state them: to read those takes no plugin runtime.
func All(t testing.TB) []Language {
	t.Helper()
	module, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		t.Fatal("where the sources are:", err)
	}
	files, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(module)), "plugins", "languages", "*", "adapter.go"))
	if err != nil || len(files) < 10 {
		t.Fatalf("%d adapters are found: %v", len(files), err)
	}
	var all []Language
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		l := Language{ID: filepath.Base(filepath.Dir(file))}
		if m := editor.FindSubmatch(source); m != nil {
			l.Editor = string(m[1])
		}
		if m := extensions.FindSubmatch(source); m != nil {
			for _, w := range word.FindAllSubmatch(m[1], -1) {
				l.Extensions = append(l.Extensions, string(w[1]))
			}
		}
		if l.Editor == "" || len(l.Extensions) == 0 {
			t.Fatalf("%s states no manifest that can be read: %+v", file, l)
		}
		all = append(all, l)
	}
	return all
}
