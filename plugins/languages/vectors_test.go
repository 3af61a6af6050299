package languages_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"deepoj/plugins/abi"
)

func TestPlansAreThoseOfTheVectors(t *testing.T) {
	t.Parallel()
	type vector struct {
		Language string          `json:"language"`
		Request  abi.PlanRequest `json:"request"`
		Plan     json.RawMessage `json:"plan"`
		Elided   []string        `json:"elided"`
	}
	for i, v := range vectors[vector](t, "plans.json") {
		t.Run(fmt.Sprintf("%d-%s", i, v.Language), func(t *testing.T) {
			t.Parallel()
			var got json.RawMessage
			load(t, v.Language).ask(t, abi.OpPlan, v.Request, &got)
			for _, file := range v.Elided {
				got = elide(t, got, file)
			}
			sameJSON(t, got, v.Plan)
		})
	}
}

func TestDiagnosticsAreThoseOfTheVectors(t *testing.T) {
	t.Parallel()
	type vector struct {
		Language string                 `json:"language"`
		Request  abi.DiagnosticsRequest `json:"request"`
		Reply    json.RawMessage        `json:"reply"`
	}
	for i, v := range vectors[vector](t, "diagnostics.json") {
		t.Run(fmt.Sprintf("%d-%s", i, v.Language), func(t *testing.T) {
			t.Parallel()
			a := load(t, v.Language)
			var got json.RawMessage
			if slices.Contains(a.manifest.Needs, "diagnostics") {
				a.ask(t, abi.OpDiagnostics, v.Request, &got)
			} else {
				got = readByHost(t, a, v.Request)
			}
			sameJSON(t, got, v.Reply)
		})
	}
}

// readByHost reads a compiler's words that the host knows the format of.
func readByHost(t *testing.T, a *adapter, q abi.DiagnosticsRequest) json.RawMessage {
	t.Helper()
	planned := request(q.Sources...)
	reply := abi.DiagnosticsReply{Judge: abi.Version, Diagnostics: hostReads(t, planned, a.plan(t, planned), q.Stderr)}
	text, err := json.Marshal(reply)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// elide takes the text of a file out of a plan, which must have one.
func elide(t *testing.T, plan json.RawMessage, file string) json.RawMessage {
	t.Helper()
	var p abi.Plan
	if err := json.Unmarshal(plan, &p); err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(p.Files, func(f abi.File) bool { return f.Path == file })
	if i < 0 || p.Files[i].Text == "" {
		t.Fatalf("the plan has no text for %s", file)
	}
	p.Files[i].Text = ""
	elided, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	return elided
}

// vectors reads a file of conformance vectors.
func vectors[V any](t *testing.T, file string) []V {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "vectors", file))
	if err != nil {
		t.Fatal(err)
	}
	var list []V
	if err := json.Unmarshal(text, &list); err != nil || len(list) == 0 {
		t.Fatalf("%s holds %d vectors: %v", file, len(list), err)
	}
	return list
}

func sameJSON(t *testing.T, got, want json.RawMessage) {
	t.Helper()
	var a, b any
	if err := json.Unmarshal(got, &a); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(want, &b); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(a, b) {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
