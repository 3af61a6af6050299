package main

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "deepoj/"

// layers is the dependency diagram, bottom up: what each package may import of
// ours. A package may name only packages above it in this list, so there is no
// way to write a cycle down. Names ending in /* stand for every folder there.
var layers = []struct{ pkg, may string }{
	{"host/judge", ""},
	{"host/platform", ""},
	{"host/telemetry", ""},
	{"host/telemetry/otlp", "host/telemetry"},
	{"host/telemetry/telemetrytest", ""},
	{"host/blob", ""},
	{"host/blob/blobtest", "host/platform"},
	{"host/embedded", "host/platform"},
	{"host/embedded/servicetest", "host/embedded"},
	{"host/embedded/accounttest", ""},
	{"host/shortcut", ""},
	{"host/support", ""},
	{"host/support/supporttest", ""},
	{"host/simulation", ""},
	{"sandbox", ""},
	{"plugins", ""},
	{"plugins/abi", ""},
	{"plugins/languagestest", ""},
	{"plugins/vectors", ""},
	{"plugins/sdk/*", "plugins/abi"},
	{"plugins/languages/*", "plugins/sdk/* plugins/abi"},

	{"queue", "host/judge"},
	{"sql/internal/*", ""},
	{"sql", "host/judge sql/internal/*"},
	{"sql/sqltest", "sql host/embedded"},
	{"host/plugin", "host/platform plugins/abi"},

	{"host/problem/statement", ""},
	{"host/problem", "host/judge host/blob host/problem/statement"},
	{"host/problem/samples", ""},
	{"host/reading", "host/platform host/plugin host/problem host/problem/samples"},
	{"host/draft", "host/judge host/problem"},
	{"host/plugin/conformance", "host/plugin host/problem plugins/abi plugins/vectors"},
	{"host/judging", "host/platform host/judge host/telemetry host/problem host/plugin host/blob plugins/abi sandbox"},
	{"host/plugin/plugintest", "host/plugin"},
	{"host/judging/judgingtest", "host/blob host/judging host/plugin host/plugin/plugintest plugins sandbox"},
	{"host/verify", "host/blob host/judge host/judging host/problem"},
	{"host/plugin/trial", "host/judge host/judging host/problem host/plugin/conformance host/blob host/verify plugins/abi"},
	{"host/intake", "host/judge host/judging host/problem host/reading host/verify host/plugin host/plugin/conformance host/blob plugins/abi sandbox sql"},
	{"host/survey", "host/blob host/judging host/problem host/reading host/verify"},
	{"host/liveness", "host/judge sql"},
	{"host/doctor", "host/judge sandbox"},
	{"host/scheduler", "host/judge host/telemetry sql queue"},
	{"host/worker", "host/judge host/telemetry host/blob queue"},
	{"host/capacity", "host/judge host/blob host/liveness host/worker sandbox sql"},
	{"web/client", "host/judge"},
	{"web/judge0", "host/judge"},
	{"web/callback", ""},
	{"web/chart", ""},
	{"host/cmd/deepoj-judge", "sandbox"},
	{"web", "host/platform host/judge host/telemetry host/blob host/problem host/problem/samples host/draft host/reading sql web/judge0 web/callback web/chart"},
}

func TestLayers(t *testing.T) {
	may := map[string][]string{}
	for _, l := range layers {
		may[l.pkg] = strings.Fields(l.may)
		for _, below := range may[l.pkg] {
			if _, listed := may[below]; !listed {
				t.Errorf("%s may import %s, which is not above it in the list", l.pkg, below)
			}
		}
	}
	// Read the files here and not through go list: the test cache sees only
	// the files that this process opens.
	seen, used := map[string]bool{}, map[string]bool{}
	root := filepath.Join("..", "..", "..")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if skip(root, path, d) {
				return filepath.SkipDir
			}
			return nil
		}
		rel, _ := filepath.Rel(root, filepath.Dir(path))
		if filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") || rel == "host/cmd/deepoj" {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		seen[name(rel, may)] = true
		allowed, listed := may[name(rel, may)]
		if !listed {
			t.Errorf("%s is not in the list of layers", rel)
		}
		for _, spec := range file.Imports {
			imp, ours := strings.CutPrefix(strings.Trim(spec.Path.Value, `"`), module)
			if ours {
				used[name(rel, may)+" imports "+name(imp, may)] = true
			}
			if ours && !slices.Contains(allowed, name(imp, may)) {
				t.Errorf("%s imports %s", path, imp)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range layers {
		if !seen[l.pkg] {
			t.Errorf("%s is in the list of layers, and there is no such package", l.pkg)
		}
		for _, below := range may[l.pkg] {
			if !used[l.pkg+" imports "+below] {
				t.Errorf("%s may import %s, and does not: take that out of the list", l.pkg, below)
			}
		}
	}
}

// skip reports whether the folder at path holds no code of this module: nested
// modules, dot folders, test data and what npm installed.
func skip(root, path string, d fs.DirEntry) bool {
	if path == root {
		return false
	}
	if _, err := os.Stat(filepath.Join(path, "go.mod")); err == nil {
		return true
	}
	return strings.HasPrefix(d.Name(), ".") || d.Name() == "node_modules" || d.Name() == "testdata"
}

// name returns the entry of the list that pkg falls under.
func name(pkg string, may map[string][]string) string {
	if _, listed := may[pkg]; listed {
		return pkg
	}
	return pkg[:strings.LastIndexByte(pkg, '/')+1] + "*"
}
