// Two plan/1 adapters in one program, which use what the SDK does without.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"deepoj/plugins/abi"
	"deepoj/plugins/sdk/go"
)

func main() { sdk.Main(adapter("a"), adapter("b")) }

func adapter(id string) sdk.Adapter {
	return sdk.Adapter{
		Manifest: abi.Manifest{
			Name: "test." + id, Version: "1",
			Language: &abi.Language{
				ID: id, Name: id, Extensions: []string{id}, Editor: "text",
				Tools: []abi.Tool{{Name: "cat", Version: []string{"--version"}, Pattern: `(\d+)`, Package: "coreutils"}},
			},
		},
		Plan: func(q abi.PlanRequest) (abi.Plan, error) {
			fmt.Fprintln(os.Stderr, "planning", id)
			source, err := json.Marshal(q.Sources[0])
			return abi.Plan{Run: abi.Step{Tool: fmt.Sprintf("tool-%s", id), Args: []string{string(source)}}}, err
		},
		Diagnostics: func(abi.DiagnosticsRequest) []abi.Diagnostic { return nil },
	}
}
