package plugin_test

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"deepoj/host/plugin"
	"deepoj/plugins/abi"
)

func TestAnAdapterInGoDescribesPlansAndReadsDiagnostics(t *testing.T) {
	wasm := buildGo(t, "adapter")
	r := open(t, plugin.Config{Workers: 1})
	m, err := r.Load(t.Context(), wasm, nil)
	if err != nil {
		t.Fatal(err)
	}
	if m.Manifest.Name != "test.lines" || m.Manifest.Language.ID != "lines" || m.Manifest.Limits.MemoryMiB == 0 {
		t.Errorf("it describes itself as %+v", m.Manifest)
	}

	t.Run("it plans", func(t *testing.T) {
		p, err := r.Plan(t.Context(), m, abi.PlanRequest{Sources: []abi.Source{{Name: "main", Text: strings.Repeat("ä\"\n", 50_000)}}})
		zero := 0
		want := abi.Plan{Judge: 1, Files: []abi.File{{Path: "main", Source: &zero}}, Run: abi.Step{Tool: "cat", Args: []string{"main"}}}
		if err != nil || !reflect.DeepEqual(p, want) {
			t.Errorf("got %+v, %v, want %+v", p, err, want)
		}
	})
	t.Run("it says what planning costs", func(t *testing.T) {
		q := abi.PlanRequest{Sources: []abi.Source{{Name: "main", Text: "x"}}}
		_, first, err := r.PlanUsage(t.Context(), m, q)
		if err != nil || first.Fuel == 0 || first.CPU <= 0 || first.MemoryBytes == 0 {
			t.Errorf("got %+v, %v", first, err)
		}
		if _, again, err := r.PlanUsage(t.Context(), m, q); err != nil || again.Fuel != first.Fuel {
			t.Errorf("first %+v, then %+v, %v", first, again, err)
		}
	})
	t.Run("it refuses a source", func(t *testing.T) {
		p, err := r.Plan(t.Context(), m, abi.PlanRequest{Sources: []abi.Source{{Name: "main", Text: "syntax error"}}})
		if err != nil || p.Error == nil || p.Error.Line != 1 {
			t.Errorf("got %+v, %v", p, err)
		}
	})
	t.Run("it reads diagnostics", func(t *testing.T) {
		d, err := r.Diagnostics(t.Context(), m, abi.DiagnosticsRequest{Stderr: "main:3:7: error: what is this?\nnoise\n"})
		want := []abi.Diagnostic{{File: "main", Line: 3, Severity: "error", Message: "what is this?"}}
		if err != nil || !reflect.DeepEqual(d.Diagnostics, want) {
			t.Errorf("got %+v, %v, want %+v", d.Diagnostics, err, want)
		}
	})
	for _, text := range []string{"wrong version", "no answer", "bad exit", "panic"} {
		t.Run("it breaks the contract by "+text, func(t *testing.T) {
			_, err := r.Plan(t.Context(), m, abi.PlanRequest{Sources: []abi.Source{{Name: "main", Text: text}}})
			var fault *plugin.Error
			if !errors.As(err, &fault) || !errors.Is(err, plugin.ErrContract) || fault.Call != "plan" {
				t.Errorf("got %v, want %v", err, plugin.ErrContract)
			}
			if text == "panic" && !strings.Contains(fault.Message, "the adapter is broken") {
				t.Errorf("staff are told %q", fault.Message)
			}
		})
	}
	t.Run("it is not a checker", func(t *testing.T) {
		if _, err := r.Check(t.Context(), m, check(t, "", "", "")); err == nil || errors.As(err, new(*plugin.Error)) {
			t.Errorf("got %v, want an error of the caller", err)
		}
	})
}

// An adapter is called by its name, so that one program may be several, as ours is; and what is the same is compiled
// once. Those of this test use the SDK beside what stands on reflection, as people may who write one.
func TestAProgramMayBeSeveralAdapters(t *testing.T) {
	dir := t.TempDir()
	r := open(t, plugin.Config{Workers: 1, CacheDir: dir})
	program := buildGo(t, "several")
	for _, id := range []string{"a", "b"} {
		said, err := json.Marshal(abi.Manifest{
			Judge: abi.Version, Kind: abi.Toolchain, Name: "test." + id, Version: "1", Protocol: abi.Plan1,
			Language: &abi.Language{
				ID: id, Name: id, Extensions: []string{id}, Editor: "text",
				Tools: []abi.Tool{{Name: "cat", Version: []string{"--version"}, Pattern: `(\d+)`, Package: "coreutils"}},
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		wasm, err := plugin.Embed(program, said)
		if err != nil {
			t.Fatal(err)
		}
		m, err := r.Load(t.Context(), wasm, nil)
		if err != nil {
			t.Fatal(err)
		}
		p, err := r.Plan(t.Context(), m, abi.PlanRequest{Sources: []abi.Source{{Name: "x", Text: "größe\n"}}, Entry: "x"})
		if err != nil || p.Run.Tool != "tool-"+id || !reflect.DeepEqual(p.Run.Args, []string{`{"name":"x","text":"größe\n"}`}) {
			t.Errorf("%s plans %+v, %v", id, p, err)
		}
		if d, err := r.Diagnostics(t.Context(), m, abi.DiagnosticsRequest{Stderr: "<&>"}); err != nil || d.Diagnostics == nil || len(d.Diagnostics) > 0 {
			t.Errorf("%s reads %+v, %v", id, d, err)
		}
		described, err := r.Describe(t.Context(), m)
		if err != nil || described == nil || described.Name != "test."+id {
			t.Errorf("%s describes itself as %+v, %v", id, described, err)
		}
		_, err = r.Plan(t.Context(), m, abi.PlanRequest{})
		var fault *plugin.Error
		if !errors.As(err, &fault) || !strings.Contains(fault.Message, "the request holds no source") {
			t.Errorf("%s without sources: %v", id, err)
		}
	}
	if code, err := filepath.Glob(filepath.Join(dir, "*", "code", "*", "*")); err != nil || len(code) != 1 {
		t.Errorf("compiled are %q, %v, want one file for both", code, err)
	}
}
