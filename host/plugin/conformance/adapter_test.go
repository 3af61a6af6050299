package conformance_test

import (
	"encoding/json"
	"strconv"
	"testing"

	"deepoj/host/plugin/conformance"
	"deepoj/plugins/abi"
)

// zero is the number of the only source.
var zero int

// language is what the adapter of testdata says of its language, which is
// Python in disguise.
func language(change func(*abi.Language)) abi.Manifest {
	l := abi.Language{
		ID: "x", Name: "X", Extensions: []string{"x"}, Editor: "x", Compiled: true,
		Tools:      []abi.Tool{{Name: "python3", Version: []string{"--version"}, Pattern: `Python (\S+)`, Package: "python3"}},
		Hello:      []abi.Source{{Name: "hello.x", Text: "print('hello')\n"}},
		Broken:     []abi.Source{{Name: "broken.x", Text: "x = 1\nprint(\n"}},
		BrokenLine: 2,
	}
	change(&l)
	return abi.Manifest{Judge: abi.Version, Kind: abi.Toolchain, Name: "test.x", Version: "1", Protocol: abi.Plan1, Language: &l}
}

// plan is how the adapter of testdata plans.
func plan(change func(*abi.Plan)) abi.Plan {
	p := abi.Plan{
		Judge:       abi.Version,
		Files:       []abi.File{{Path: "main.x", Source: &zero}},
		Compile:     []abi.Step{{Tool: "python3", Args: []string{"-m", "py_compile", "main.x"}}},
		Artifacts:   []string{"main.x"},
		Run:         abi.Step{Tool: "python3", Args: []string{"main.x"}},
		Diagnostics: abi.Format{Name: "regex", Pattern: `File "(?P<file>.*)", line (?P<line>\d+)(?P<message>.*)`},
	}
	change(&p)
	return p
}

// define makes a macro of a value's JSON, as a string of C.
func define(t *testing.T, name string, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return "-D" + name + "=" + strconv.Quote(string(b))
}

// adapter builds an adapter. Hello changes its plan for the program hello, and
// words is what it answers to diagnostics; nil leaves them out.
func adapter(describe func(*abi.Language), hello func(*abi.Plan), words *abi.DiagnosticsReply, macros ...string) func(*testing.T) []byte {
	return func(t *testing.T) []byte {
		t.Helper()
		flags := []string{
			define(t, "MANIFEST", language(describe)), define(t, "PLAN", plan(func(*abi.Plan) {})),
			"-Wl,-z,stack-size=1048576",
		}
		if hello != nil {
			flags = append(flags, define(t, "HELLO_PLAN", plan(hello)))
		}
		if words != nil {
			flags = append(flags, define(t, "REPLY", words))
		}
		for _, m := range macros {
			flags = append(flags, "-D"+m)
		}
		return buildC(t, "adapter", flags...)
	}
}

func asIs(*abi.Language) {}

// helloPlan builds an adapter whose plan for hello is changed.
func helloPlan(change func(*abi.Plan)) func(*testing.T) []byte { return adapter(asIs, change, nil) }

// adapterViolations are adapters, one for each rule about them.
var adapterViolations = map[string]violation{
	"examples":                    {wasm: adapter(func(l *abi.Language) { l.BrokenLine = 0 }, nil, nil), want: []string{"examples"}},
	"plan-fails":                  {wasm: adapter(asIs, nil, nil, "BAD_PLAN"), want: []string{"plan-fails"}},
	"plan-fails by an error":      {wasm: helloPlan(func(p *abi.Plan) { p.Error = &abi.SourceError{Message: "no"} }), want: []string{"plan-fails"}},
	"plan-files":                  {wasm: helloPlan(func(p *abi.Plan) { p.Files[0].Path = "../main.x" }), want: []string{"plan-files"}},
	"plan-files without a source": {wasm: helloPlan(func(p *abi.Plan) { one := 1; p.Files[0].Source = &one }), want: []string{"plan-files"}},
	"plan-files twice":            {wasm: helloPlan(func(p *abi.Plan) { p.Files = append(p.Files, p.Files[0]) }), want: []string{"plan-files"}},
	"plan-step":                   {wasm: helloPlan(func(p *abi.Plan) { p.Run.Program = "./main" }), want: []string{"plan-step"}},
	"plan-step by a path":         {wasm: helloPlan(func(p *abi.Plan) { p.Run = abi.Step{Program: "/usr/bin/python3"} }), want: []string{"plan-step"}},
	"plan-step without compiling": {wasm: helloPlan(func(p *abi.Plan) { p.Compile = nil }), want: []string{"plan-step"}},
	"plan-tool":                   {wasm: helloPlan(func(p *abi.Plan) { p.Run.Tool = "/usr/bin/python3" }), want: []string{"plan-tool"}},
	"plan-tool that is not known": {wasm: helloPlan(func(p *abi.Plan) { p.Compile[0].Tool = "bash" }), want: []string{"plan-tool"}},
	"plan-environment":            {wasm: helloPlan(func(p *abi.Plan) { p.Run.Env = map[string]string{"PATH": "/tmp"} }), want: []string{"plan-environment"}},
	"plan-artifacts":              {wasm: helloPlan(func(p *abi.Plan) { p.Artifacts = []string{"/etc/passwd"} }), want: []string{"plan-artifacts"}},
	"plan-artifacts missing":      {wasm: helloPlan(func(p *abi.Plan) { p.Artifacts = nil }), want: []string{"plan-artifacts"}},
	"plan-limits":                 {wasm: helloPlan(func(p *abi.Plan) { p.Compile[0].Limits.CPUMillis = 3_600_000 }), want: []string{"plan-limits"}},
	"plan-memory":                 {wasm: helloPlan(func(p *abi.Plan) { p.Run.MemoryExit = "MemoryError" }), want: []string{"plan-memory"}},
	"plan-memory by a pattern":    {wasm: helloPlan(func(p *abi.Plan) { p.Run.MemoryPolicy, p.Run.MemoryExit = "runtime+cgroup", "(" }), want: []string{"plan-memory"}},
	"plan-diagnostics":            {wasm: helloPlan(func(p *abi.Plan) { p.Diagnostics.Name = "msvc" }), want: []string{"plan-diagnostics"}},
	"plan-diagnostics by group":   {wasm: helloPlan(func(p *abi.Plan) { p.Diagnostics.Pattern = "line" }), want: []string{"plan-diagnostics"}},
	"plan-diagnostics unanswered": {wasm: helloPlan(func(p *abi.Plan) { p.Diagnostics = abi.Format{Name: "plugin"} }), want: []string{"plan-diagnostics"}},
	"plan-diagnostics absurd": {wasm: adapter(asIs, func(p *abi.Plan) { p.Diagnostics = abi.Format{Name: "plugin"} },
		&abi.DiagnosticsReply{Judge: 1, Diagnostics: []abi.Diagnostic{{Line: -1}}}), want: []string{"plan-diagnostics"}},
	"plan-names":             {wasm: adapter(asIs, nil, nil, "BAD_NAMES"), want: []string{"plan-names"}},
	"hostile-trap":           {wasm: adapter(asIs, nil, nil, "BAD_TRAP"), want: []string{"hostile-trap"}},
	"hostile-exit":           {wasm: adapter(asIs, nil, nil, "BAD_EXIT"), want: []string{"hostile-exit"}},
	"hostile-memory":         {wasm: adapter(asIs, nil, nil, "BAD_MEMORY"), want: []string{"hostile-memory"}},
	"nothing":                {wasm: adapter(asIs, nil, nil)},
	"nothing with its words": {wasm: adapter(asIs, func(p *abi.Plan) { p.Diagnostics = abi.Format{Name: "plugin"} }, &abi.DiagnosticsReply{Judge: 1})},
}

func TestEachBadAdapterIsCaughtByItsRule(t *testing.T) {
	t.Parallel()
	caught(t, adapterViolations)
}

// printing has hello print another word.
func printing(word string) func(*abi.Language) {
	return func(l *abi.Language) { l.Hello[0].Text = "print('" + word + "')\n" }
}

// programViolations need a sandbox: adapters whose programs do not do what they
// should, and checkers that do not judge the submissions of a package as they
// should.
var programViolations = map[string]violation{
	"run-hello":                      {wasm: adapter(printing("bye"), nil, nil), opts: sandboxed, want: []string{"run-hello"}},
	"run-broken":                     {wasm: adapter(func(l *abi.Language) { l.Broken[0].Text = "print(1)\n" }, nil, nil), opts: sandboxed, want: []string{"run-broken"}},
	"run-line":                       {wasm: adapter(func(l *abi.Language) { l.BrokenLine = 1 }, nil, nil), opts: sandboxed, want: []string{"run-line"}},
	"submission-accepted":            {wasm: bad(), opts: submissions(map[string]string{"accepted/a.py": "print('3.0')\n"}), want: []string{"submission-accepted"}},
	"submission-wrong":               {wasm: bad(), opts: submissions(map[string]string{"wrong_answer/a.py": "print('   3')\n"}), want: []string{"submission-wrong"}},
	"nothing":                        {wasm: adapter(asIs, nil, nil), opts: sandboxed},
	"nothing with right submissions": {wasm: bad(), opts: submissions(map[string]string{"accepted/a.py": "print(3)\n", "wrong_answer/a.py": "print(4)\n"})},
}

func TestEachBadProgramIsCaughtByItsRule(t *testing.T) {
	t.Parallel()
	needRoot(t)
	caught(t, programViolations)
}

// sandboxed are the options of an adapter that is tried in the sandbox.
func sandboxed(t *testing.T) conformance.Options {
	t.Helper()
	return conformance.Options{Runner: runner(t)}
}
