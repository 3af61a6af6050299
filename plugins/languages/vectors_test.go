package languages_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"deepoj/plugins/abi"
)

func TestPlansAreThoseOfTheVectors(t *testing.T) {
	t.Parallel()
	type vector struct {
		Language string          `json:"language"`
		Request  abi.PlanRequest `json:"request"`
		Plan     json.RawMessage `json:"plan"`
	}
	for i, v := range vectors[vector](t, "plans.json") {
		t.Run(fmt.Sprintf("%d-%s", i, v.Language), func(t *testing.T) {
			t.Parallel()
			var got json.RawMessage
			load(t, v.Language).ask(t, abi.OpPlan, v.Request, &got)
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
			var got json.RawMessage
			load(t, v.Language).ask(t, abi.OpDiagnostics, v.Request, &got)
			sameJSON(t, got, v.Reply)
		})
	}
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
