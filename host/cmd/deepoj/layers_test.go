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

// theServer is the only file that imports the HTTP package.
const theServer = "../../../host/roles/web.go"

// layers is the dependency diagram, bottom up: what each package may import of
// ours. A package may name only packages above it in this list, so there is no
// way to write a cycle down. Names ending in /* stand for every folder there.
var layers = []struct{ pkg, may string }{
	{"host/feed/kafka", ""},
	{"host/judge", ""},
	{"host/contest", "host/judge"},
	{"host/contest/clics", "host/contest host/judge"},
	{"host/platform", ""},
	{"host/feed/ring", ""},
	{"host/feed/filter", ""},
	{"host/feed/event", ""},
	{"host/feed/wal", "host/platform"},
	{"host/feed/checkpoint", "host/feed/wal"},
	{"host/feed/config", "host/feed/event host/feed/filter host/feed/wal"},
	{"host/feed", "host/feed/checkpoint host/feed/config host/feed/event host/feed/kafka host/feed/ring host/feed/wal"},
	{"host/feed/feedtest", "host/feed host/feed/checkpoint host/feed/wal"},
	{"host/telemetry", ""},
	{"host/telemetry/otlp", "host/telemetry"},
	{"host/telemetry/telemetrytest", ""},
	{"host/blob", ""},
	{"host/blob/blobtest", "host/platform"},
	{"host/embedded", "host/platform"},
	{"host/command", ""},
	{"host/feed/verbs", "host/command"},
	{"host/keyring", ""},
	{"host/settings", ""},
	{"host/mail", ""},
	{"host/mail/mailtest", ""},
	{"host/embedded/servicetest", "host/embedded"},
	{"host/embedded/accounttest", ""},
	{"host/shortcut", ""},
	{"host/support", ""},
	{"host/support/supporttest", ""},
	{"host/simulation", ""},
	{"host/feed/rocks", ""},
	{"host/feed/rocks/rockstest", ""},
	{"host/feed/pikiwidb", "host/feed/rocks"},
	{"host/feed/pikiwidb/wire", "host/feed/wal"},
	{"host/feed/pikiwidb/replica", "host/feed host/feed/checkpoint host/feed/config host/feed/event host/feed/filter host/feed/pikiwidb host/feed/pikiwidb/wire host/feed/wal"},
	{"host/feed/pikiwidb/mastertest", "host/feed/pikiwidb/wire host/feed/rocks/rockstest host/feed/wal"},
	{"sandbox/landlock", ""},
	{"sandbox/internal/wait", ""},
	{"sandbox/internal/elf", ""},
	{"sandbox/internal/proc", ""},
	{"sandbox/internal/glob", ""},
	{"sandbox/internal/wire", ""},
	{"sandbox/internal/userns", "sandbox/internal/proc"},
	{"sandbox/internal/spawn", "sandbox/internal/wait"},
	{"sandbox/internal/seccomp", "sandbox/internal/spawn"},
	{"sandbox/internal/rootfs", "sandbox/internal/elf sandbox/internal/wait"},
	{"sandbox/internal/toolbox", "sandbox/internal/wire"},
	{"sandbox/internal/selftest", "sandbox/internal/elf sandbox/internal/wire"},
	{"sandbox/internal/cgroup", "sandbox/internal/proc sandbox/internal/userns sandbox/internal/wait sandbox/internal/wire"},
	{"sandbox/internal/room", "sandbox/landlock sandbox/internal/cgroup sandbox/internal/elf sandbox/internal/glob sandbox/internal/proc sandbox/internal/rootfs " +
		"sandbox/internal/seccomp sandbox/internal/spawn sandbox/internal/toolbox sandbox/internal/userns sandbox/internal/wait sandbox/internal/wire"},
	{"sandbox/internal/agent", "sandbox/internal/room sandbox/internal/selftest sandbox/internal/wait sandbox/internal/wire"},
	{"sandbox/oneshot", "sandbox/internal/agent sandbox/internal/cgroup sandbox/internal/room sandbox/internal/selftest sandbox/internal/spawn " +
		"sandbox/internal/toolbox sandbox/internal/userns sandbox/internal/wait sandbox/internal/wire"},
	{"sandbox", "sandbox/internal/glob sandbox/internal/selftest sandbox/internal/wait sandbox/internal/wire"},
	{"plugins/archive", ""},
	{"plugins", "plugins/archive"},
	{"plugins/abi", ""},
	{"plugins/languagestest", ""},
	{"plugins/vectors", ""},
	{"plugins/sdk/*", "plugins/abi"},
	{"plugins/languages/*", "plugins/sdk/* plugins/abi"},
	{"plugins/languages", "plugins/languages/* plugins/sdk/*"},
	{"plugins/adapters", "plugins/languages plugins/sdk/*"},
	{"plugins/pack", "plugins/abi plugins/archive plugins/languages"},

	{"queue", "host/judge"},
	{"sql/internal/*", ""},
	{"sql/jobs", "host/judge sql/internal/*"},
	{"sql/published", ""},
	{"sql/rounds", "host/judge sql/internal/*"},
	{"sql", "host/judge sql/internal/* sql/jobs sql/published sql/rounds"},
	{"host/feed/postgres", "host/feed host/feed/checkpoint host/feed/config host/feed/event host/feed/filter host/feed/wal sql/published"},
	{"sql/sqltest", "host/judge sql sql/jobs host/embedded"},
	{"host/people/strength", ""},
	{"host/people", "host/judge host/people/strength sql"},
	{"host/roster", "host/judge host/people sql"},
	{"host/lineup", "host/judge host/people host/roster"},
	{"host/plugin/internal/op", ""},
	{"host/plugin/dialogue", ""},
	{"host/plugin/walls", "host/platform sandbox/landlock"},
	{"host/plugin/internal/wire", "host/platform"},
	{"host/plugin/internal/fuel", "host/plugin/internal/wire"},
	{"host/plugin/internal/wasi", "host/plugin/dialogue host/plugin/internal/fuel host/plugin/internal/wire"},
	{"host/plugin/internal/op/optest", "host/plugin/internal/op host/plugin/internal/wasi"},
	{"host/plugin/internal/admission", "host/plugin/internal/fuel host/plugin/internal/op host/plugin/internal/wasi plugins/abi"},
	{"host/plugin/internal/worker", "host/plugin/dialogue host/plugin/internal/fuel host/plugin/internal/op host/plugin/internal/wasi host/plugin/internal/wire host/plugin/walls"},
	{"host/plugin", "host/platform host/plugin/dialogue host/plugin/internal/admission host/plugin/internal/wasi host/plugin/internal/wire host/plugin/internal/worker plugins/abi"},

	{"host/problem/statement/macro", ""},
	{"host/problem/statement/safe", ""},
	{"host/problem/statement", "host/problem/statement/macro host/problem/statement/safe"},
	{"host/problem", "host/judge host/blob host/problem/statement/safe"},
	{"host/problem/source", "host/judge host/problem host/problem/statement"},
	{"host/problem/icpc", "host/judge host/problem host/problem/source"},
	{"host/problem/polygon", "host/judge host/problem host/problem/source host/problem/statement"},
	{"host/problem/plain", "host/judge host/problem host/problem/icpc host/problem/source"},
	{"host/problem/dmoj", "host/problem host/problem/plain host/problem/source"},
	{"host/problem/importing", "host/judge host/problem host/problem/dmoj host/problem/icpc host/problem/plain host/problem/polygon host/problem/source"},
	{"host/problem/problemtest", "host/blob host/problem host/problem/importing host/problem/source"},
	{"host/problem/samples", ""},
	{"host/reading/apart", "host/platform host/plugin/walls"},
	{"host/reading", "host/problem host/problem/importing host/problem/samples host/problem/source host/reading/apart"},
	{"host/draft", "host/judge host/problem"},
	{"host/plugin/conformance", "host/judge host/plugin host/problem plugins/abi plugins/vectors"},
	{"host/judging/blame", "sandbox"},
	{"host/judging/runner", "host/judge host/platform host/telemetry sandbox"},
	{"host/judging/build", "host/blob host/judge host/judging/blame host/judging/runner host/platform host/plugin host/problem host/telemetry plugins/abi sandbox"},
	{"host/judging/jury", "host/blob host/judge host/judging/blame host/judging/build host/judging/runner host/plugin host/problem plugins/abi sandbox"},
	{"host/judging/grading", "host/judge host/judging/blame host/judging/runner host/problem"},
	{"host/judging", "host/blob host/judge host/judging/blame host/judging/build host/judging/grading host/judging/jury host/judging/runner host/plugin host/plugin/dialogue host/problem host/telemetry plugins/abi sandbox"},
	{"host/plugin/plugintest", "host/plugin"},
	{"host/judging/judgingtest", "host/blob host/judging host/plugin host/plugin/plugintest plugins sandbox sandbox/oneshot"},
	{"host/verify", "host/blob host/judge host/judging host/judging/blame host/judging/jury host/judging/runner host/problem"},
	{"host/intake/trial", "host/judge host/judging host/judging/blame host/problem host/problem/importing host/plugin/conformance host/blob host/verify plugins/abi"},
	{"host/intake", "host/judge host/judging host/judging/blame host/problem host/reading host/verify host/plugin host/plugin/conformance host/blob plugins/abi sandbox sql"},
	{"host/survey", "host/blob host/judge host/judging host/problem host/reading host/verify"},
	{"host/liveness", "host/judge sql/jobs"},
	{"host/doctor", "host/judge sandbox"},
	{"host/launch", "host/embedded host/platform host/settings sandbox/oneshot"},
	{"host/workbench", "host/blob host/judge host/judging host/judging/build host/launch host/plugin host/intake/trial host/problem host/problem/importing host/problem/source host/settings host/telemetry host/verify plugins sandbox sandbox/oneshot"},
	{"host/scheduler", "host/judge host/telemetry sql/jobs queue"},
	{"host/commentary", "host/contest sql/rounds"},
	{"host/recorder", "host/contest host/judge host/telemetry sql/rounds"},
	{"host/logo", "host/judge"},
	{"host/restore", "host/contest host/contest/clics host/judge host/logo sql/rounds"},
	{"host/restore/reader", "host/reading/apart host/restore"},
	{"host/rehearsal", "host/contest host/judge host/restore sql"},
	{"host/standings", "host/contest sql/rounds"},
	{"host/worker", "host/judge host/telemetry host/blob queue"},
	{"host/capacity", "host/judge host/blob host/liveness host/worker sandbox sql sql/jobs"},
	{"web/client", "host/judge"},
	{"web/judge0", "host/judge"},
	{"web/callback", ""},
	{"web/chart", ""},
	{"web/site/sitetest", ""},
	{"web/locale", ""},
	{"web/live", ""},
	{"web/site", "host/blob host/judge host/mail host/people host/reading host/telemetry sql sql/rounds web/live web/locale"},
	{"web/statement", "host/blob host/judge sql web/locale web/site"},
	{"web/webauthn", ""},
	{"web/throttle", "web/site"},
	{"web/letters", "host/judge host/mail host/people sql web/locale web/site"},
	{"web/factors", "host/judge host/people sql web/locale web/site web/throttle web/webauthn"},
	{"web/people", "host/judge host/people host/roster sql web/callback web/factors web/letters web/locale web/site web/throttle"},
	{"web/job", "host/judge sql web/live web/locale web/site"},
	{"web/solve", "host/contest host/judge host/people host/telemetry sql sql/rounds web/chart web/job web/locale web/site web/statement"},
	{"web/setters", "host/blob host/draft host/judge host/people host/platform host/problem host/problem/samples host/reading sql web/job web/locale web/site web/statement"},
	{"web/drafts", "host/judge sql web/job web/setters web/site web/solve"},
	{"web/plugins", "host/judge host/people sql web/job web/locale web/setters web/site"},
	{"web/rounds", "host/contest host/contest/clics host/judge host/lineup host/logo host/people host/roster host/standings sql sql/rounds web/live web/locale web/people web/site"},
	{"web/archive", "host/contest host/contest/clics host/judge host/people host/restore host/restore/reader sql web/site"},
	{"web/clics", "host/blob host/contest host/contest/clics host/judge host/people host/standings sql sql/rounds web/callback web/live web/site web/solve web/statement"},
	{"web/spaces", "host/judge host/people host/problem/statement sql sql/rounds web/job web/locale web/people web/site web/solve web/statement"},
	{"web/judge0/api", "host/judge host/telemetry sql web/callback web/job web/judge0 web/locale web/site"},
	{"web/staff", "host/judge host/people sql web/chart web/job web/locale web/site"},
	{"host/cmd/deepoj-judge", "sandbox/oneshot"},
	{"host/cmd/deepoj-feed", "host/command host/feed host/feed/checkpoint host/feed/config host/feed/kafka host/feed/pikiwidb/replica host/feed/postgres host/feed/verbs host/feed/wal " +
		"host/judge host/launch host/platform host/telemetry sql/published"},
	{"web", "host/judge host/telemetry sql host/people web/archive web/callback web/clics web/drafts web/factors web/job web/judge0/api web/locale web/people web/plugins web/rounds web/setters web/site web/solve web/spaces web/staff"},
	{"web/describe", "web"},
	{"host/roles", `host/blob host/capacity host/commentary host/doctor host/embedded host/intake host/judge host/judging host/launch host/liveness host/mail host/people host/platform host/plugin
		host/intake/trial host/problem host/problem/samples host/reading host/recorder host/scheduler host/settings host/telemetry host/telemetry/otlp host/worker plugins queue sandbox sandbox/oneshot sql sql/published web`},
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
		if filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") || rel == "host/cmd/deepoj" && strings.HasSuffix(path, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		if rel == "host/cmd/deepoj" { // it may import everything but the web side, which a role is
			for _, spec := range file.Imports {
				if spec.Path.Value == `"deepoj/web"` {
					t.Errorf("%s imports web: a command goes by the rules of host/people, or asks a server", path)
				}
			}
			return nil
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
			if ours && imp == "web" && filepath.ToSlash(path) != theServer && rel != "web/describe" {
				t.Errorf("%s imports %s: only %s, which makes the server, does", path, imp, theServer)
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

// What runs as root in the sandbox is out of reach of what runs submissions without
// privilege, by whatever way.
func TestWorkersReachNothingThatRunsAsRoot(t *testing.T) {
	may := map[string][]string{}
	for _, l := range layers {
		may[l.pkg] = strings.Fields(l.may)
	}
	reached := map[string]bool{}
	var reach func(pkg string)
	reach = func(pkg string) {
		if !reached[pkg] {
			reached[pkg] = true
			for _, below := range may[pkg] {
				reach(below)
			}
		}
	}
	for _, pkg := range []string{"host/worker", "host/judging", "host/verify", "host/intake", "web"} {
		if _, listed := may[pkg]; !listed {
			t.Errorf("%s is not in the list of layers", pkg)
		}
		reach(pkg)
	}
	for _, pkg := range []string{"sandbox/oneshot", "sandbox/internal/agent", "sandbox/internal/room", "sandbox/internal/cgroup", "sandbox/internal/spawn"} {
		if _, listed := may[pkg]; !listed {
			t.Errorf("%s is not in the list of layers", pkg)
		}
		if reached[pkg] {
			t.Errorf("a worker reaches %s", pkg)
		}
	}
}

// The change feed, with its client of Kafka, is a program of its own: this one would be too large with it.
func TestThisProgramHoldsNothingOfTheChangeFeed(t *testing.T) {
	may := map[string][]string{}
	for _, l := range layers {
		may[l.pkg] = strings.Fields(l.may)
	}
	seen := map[string]bool{}
	var reach func(way, pkg string)
	reach = func(way, pkg string) {
		if seen[pkg] {
			return
		}
		seen[pkg] = true
		if (pkg == "host/feed" || strings.HasPrefix(pkg, "host/feed/")) && pkg != "host/feed/verbs" {
			t.Errorf("%s imports %s", way, pkg)
		}
		for _, below := range may[pkg] {
			reach(way+" → "+pkg, below)
		}
	}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, spec := range file.Imports {
			if imp, ours := strings.CutPrefix(strings.Trim(spec.Path.Value, `"`), module); ours {
				reach(path, name(imp, may))
			}
		}
	}
	if !seen["host/feed/verbs"] || !seen["web"] {
		t.Error("the test does not see what this program imports")
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
