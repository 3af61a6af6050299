package sdk_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"deepoj/plugins/abi"
	"deepoj/plugins/sdk/go"
)

func TestSourcesGetSafePaths(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ names, want []string }{
		"a single file is main":                     {[]string{"queue.py"}, []string{"main.py"}},
		"it keeps an extension of the language":     {[]string{"a.pyw"}, []string{"main.pyw"}},
		"it gets one otherwise":                     {[]string{"solution"}, []string{"main.py"}},
		"several keep their names":                  {[]string{"a.py", "lib/b.py"}, []string{"a.py", "lib/b.py"}},
		"nothing leaves the folder":                 {[]string{"../../etc/passwd", "/b.py"}, []string{"etc/passwd", "b.py"}},
		"a name is no flag":                         {[]string{"-o.py", "--x.py"}, []string{"o.py", "x.py"}},
		"a name is no hidden file":                  {[]string{".profile", "..."}, []string{"profile", "file2.py"}},
		"a name is no list of arguments":            {[]string{"@a.py", " @-b.py"}, []string{"a.py", "b.py"}},
		"a name is no pattern and no expansion":     {[]string{"a;$(c)`d`.py", "[e]*?{f}.py", `c:\d.py`}, []string{"a__(c)_d_.py", "_e____f_.py", "c_/d.py"}},
		"a name keeps what names are made of":       {[]string{"a+b, c=d (1).h", "x y/#1 @2 30%~.py"}, []string{"a+b, c=d (1).h", "x y/#1 @2 30%~.py"}},
		"equal names are told apart":                {[]string{"a.py", "a.py", "a.py"}, []string{"a.py", "a_2.py", "a_3.py"}},
		"names that become equal are told apart":    {[]string{"a!.py", "a?.py"}, []string{"a_.py", "a__2.py"}},
		"letters beyond ASCII become one character": {[]string{"größe.py", "b.py"}, []string{"gr__e.py", "b.py"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var sources []abi.Source
			for _, n := range tt.names {
				sources = append(sources, abi.Source{Name: n})
			}
			if got := sdk.Place(sources, "py", "pyw"); !slices.Equal(got, tt.want) {
				t.Errorf("Place(%q) = %q, want %q", tt.names, []string(got), tt.want)
			}
		})
	}
}

func TestACompilersPathLeadsToItsSource(t *testing.T) {
	t.Parallel()
	layout := sdk.Layout{"a.py", "lib/b.py"}
	for file, want := range map[string]int{
		"a.py": 0, "./a.py": 0, "/box/a.py": 0, "file:///box/lib/b.py": 1, "lib/b.py": 1, "b.py": -1, "xa.py": -1, "/usr/lib/os.py": -1,
	} {
		if got := layout.Find(file); got != want {
			t.Errorf("Find(%q) = %d, want %d", file, got, want)
		}
	}
}

func TestTheMainFileIsTheNamedOneOrTheFirst(t *testing.T) {
	t.Parallel()
	for want, layout := range map[string]sdk.Layout{
		"main.py": {"a.py", "main.py"},
		"a.py":    {"README", "a.py", "b.py", "main.txt"},
		"":        {"a.txt"},
	} {
		if got := layout.Main([]string{"main"}, "py"); got != want {
			t.Errorf("Main of %q = %q, want %q", []string(layout), got, want)
		}
	}
}

func TestAProgramStartsWhereTheRequestSays(t *testing.T) {
	t.Parallel()
	sources := []abi.Source{{Name: "main.py"}, {Name: "-x/start.py"}, {Name: "data.txt"}}
	for entry, want := range map[string]string{
		"": "main.py", "-x/start.py": "x/start.py", "data.txt": "main.py", "start.py": "main.py",
	} {
		q := abi.PlanRequest{Sources: sources, Entry: entry}
		if got := sdk.Place(sources, "py").Start(q, []string{"main"}, "py"); got != want {
			t.Errorf("with the entry %q it starts with %q, want %q", entry, got, want)
		}
	}
}

func TestPathsAreDividedByExtension(t *testing.T) {
	t.Parallel()
	layout := sdk.Layout{"a.py", "notes", "lib/b.py", "c.txt"}
	if with, without := layout.With("py"), layout.Without("py"); !slices.Equal(with, []string{"a.py", "lib/b.py"}) || !slices.Equal(without, []string{"notes", "c.txt"}) {
		t.Errorf("with %q and without %q", with, without)
	}
}

func TestPlacesMayBeInParentheses(t *testing.T) {
	t.Parallel()
	sources := []abi.Source{{Name: "my a.ts"}, {Name: "b.ts"}}
	words := "  nothing above\n" +
		"a.ts(2,5): error TS1005: ';' expected.\r\n" +
		"a.ts(3,1,3,9): warning CS0168: unused\n" +
		"./b.ts(4,7): (Location of the symbol)\n  of which there\n\tis more\n" +
		"c.ts(1,1): error TS1: elsewhere\n  with details\n" +
		"b.ts(99999999999999999999,1): error TS2: far away\n" +
		"error CS5001: no Main\nCompilation failed: 5 error(s)\n"
	want := []abi.Diagnostic{
		{File: "my a.ts", Line: 2, Column: 5, Severity: "error", Message: "';' expected. [TS1005]"},
		{File: "my a.ts", Line: 3, Column: 1, Severity: "warning", Message: "unused [CS0168]"},
		{File: "b.ts", Line: 4, Column: 7, Severity: "note", Message: "(Location of the symbol)\nof which there\nis more"},
		{File: "b.ts", Column: 1, Severity: "error", Message: "far away [TS2]"},
		{File: "my a.ts", Line: 1, Severity: "error", Message: "no Main [CS5001]"},
	}
	if got := sdk.Parenthesized(sources, sdk.Layout{"a.ts", "b.ts"}, words); !slices.Equal(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if got := sdk.Parenthesized(nil, nil, words); got != nil {
		t.Errorf("without sources: %+v", got)
	}
}

// A recursion may use the memory, within what the runtimes accept.
func TestRuntimesKeepToTheMemory(t *testing.T) {
	t.Parallel()
	for memory, want := range map[int64][]string{
		1:    {"--max-old-space-size=1", "--stack-size=984", "-Xmx20m", "-Xmn4m", "-Xss64m"},
		256:  {"--max-old-space-size=256", "--stack-size=253952", "-Xmx288m", "-Xmn32m", "-Xss256m"},
		4096: {"--max-old-space-size=4096", "--stack-size=4186112", "-Xmx4608m", "-Xmn512m", "-Xss1024m"},
	} {
		got := slices.Concat(sdk.Node("a.js", memory).Args[:2], sdk.JVM("out", "A", memory).Args[:3])
		if !slices.Equal(got, want) {
			t.Errorf("with %d MiB: %q, want %q", memory, got, want)
		}
	}
}

var adapter = sdk.Adapter{
	Manifest: abi.Manifest{Name: "test", Version: "1"},
	Plan: func(q abi.PlanRequest) (abi.Plan, error) {
		switch q.Sources[0].Text {
		case "refused":
			return abi.Plan{}, &sdk.SourceError{Message: "no", Line: 3}
		case "failing":
			return abi.Plan{}, errors.New("broken adapter")
		}
		return abi.Plan{Run: abi.Step{Program: "./main"}}, nil
	},
}

func TestAnswersAreJSON(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ op, in, want string }{
		"a manifest is completed": {
			"describe", "",
			`{"judge":1,"kind":"toolchain","name":"test","version":"1","protocol":"plan/1"}`,
		},
		"a plan is numbered": {"plan", `{"judge":1,"sources":[{"text":"x"}]}`, `{"judge":1,"run":{"program":"./main"}}`},
		"a refusal is a compile error": {
			"plan", `{"judge":1,"sources":[{"text":"refused"}]}`,
			`{"judge":1,"error":{"message":"no","source":0,"line":3},"run":{}}`,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out strings.Builder
			if err := adapter.Run([]string{tt.op}, strings.NewReader(tt.in), &out); err != nil || strings.TrimSpace(out.String()) != tt.want {
				t.Errorf("answer %s, error %v, want %s", out.String(), err, tt.want)
			}
		})
	}
}

func TestAProgramOfSeveralIsTheAdapterItIsCalled(t *testing.T) {
	t.Parallel()
	several := []sdk.Adapter{
		{Manifest: abi.Manifest{Name: "deepoj.c", Language: &abi.Language{ID: "c"}}},
		{Manifest: abi.Manifest{Name: "org.example.b"}},
	}
	for name, want := range map[string]string{
		"deepoj.c": "deepoj.c", "org.example.b": "org.example.b", "c": "deepoj.c", "out/c.wasm": "deepoj.c", "./c": "deepoj.c",
		"": "", "b": "", "adapter": "", "c.d": "", "C": "",
	} {
		if a, err := sdk.Called(name, several...); a.Manifest.Name != want || (err == nil) != (want != "") {
			t.Errorf("called %q it is %q, error %v, want %q", name, a.Manifest.Name, err, want)
		}
	}
	if a, err := sdk.Called("whatever", several[0]); err != nil || a.Manifest.Name != "deepoj.c" {
		t.Errorf("alone it is %q, error %v", a.Manifest.Name, err)
	}
}

func TestNoDiagnosticsAreAnEmptyList(t *testing.T) {
	t.Parallel()
	a := adapter
	a.Diagnostics = func(abi.DiagnosticsRequest) []abi.Diagnostic { return nil }
	var out strings.Builder
	if err := a.Run([]string{abi.OpDiagnostics}, strings.NewReader(`{"judge":1}`), &out); err != nil {
		t.Fatal(err)
	}
	if want := `{"judge":1,"diagnostics":[]}`; strings.TrimSpace(out.String()) != want {
		t.Errorf("answer %s, want %s", out.String(), want)
	}
}

func TestMistakesOfTheHostAreErrors(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		args []string
		in   string
	}{
		"no operation":          {nil, ""},
		"an unknown operation":  {[]string{"compile"}, ""},
		"no JSON":               {[]string{"plan"}, "hello"},
		"another version":       {[]string{"plan"}, `{"judge":2,"sources":[{}]}`},
		"no source":             {[]string{"plan"}, `{"judge":1}`},
		"an adapter that fails": {[]string{"plan"}, `{"judge":1,"sources":[{"text":"failing"}]}`},
		"diagnostics unasked":   {[]string{"diagnostics"}, `{"judge":1}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out strings.Builder
			if err := adapter.Run(tt.args, strings.NewReader(tt.in), &out); err == nil || out.Len() > 0 {
				t.Errorf("error %v, output %q", err, out.String())
			}
		})
	}
}

func TestAnUnknownStandardIsNotTheContestantsFault(t *testing.T) {
	t.Parallel()
	g := sdk.GCC{Tool: "g++", Standards: []string{"c++20"}, Extensions: []string{"cpp"}}
	_, err := g.Plan(abi.PlanRequest{Sources: []abi.Source{{Name: "a.cpp"}}, Options: map[string]string{"std": "c++03"}})
	if _, refused := errors.AsType[*sdk.SourceError](err); err == nil || refused {
		t.Errorf("error is %v", err)
	}
	if !json.Valid(g.Options()) {
		t.Errorf("options are %s", g.Options())
	}
}
