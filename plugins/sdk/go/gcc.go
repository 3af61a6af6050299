package sdk

import (
	"encoding/json"
	"fmt"
	"slices"

	"deepoj/plugins/abi"
)

// GCC plans for a language that one call of a GCC driver compiles to a static
// program.
type GCC struct {
	Tool       string   // such as "g++"
	Standards  []string // what the option "std" may be, the default first
	Extensions []string // of files that are compiled; others are only written
	Libraries  []string // flags after the files, such as "-lm"
}

// Options returns the schema of the options that Plan understands.
func (g GCC) Options() json.RawMessage {
	type property struct {
		Enum        []string `json:"enum"`
		Default     string   `json:"default"`
		Description string   `json:"description"`
	}
	schema, err := json.Marshal(map[string]any{
		"type":       "object",
		"properties": map[string]property{"std": {g.Standards, g.Standards[0], "language standard"}},
	})
	if err != nil {
		return nil // strings always encode
	}
	return schema
}

// Plan compiles every source with one of the extensions into one program. It
// runs on the process stack, so its recursion is limited only by its memory.
func (g GCC) Plan(q abi.PlanRequest) (abi.Plan, error) {
	standard := g.Standards[0]
	if std, ok := q.Options["std"]; ok {
		standard = std
	}
	if !slices.Contains(g.Standards, standard) {
		return abi.Plan{}, fmt.Errorf("option std is %q, want one of %q", standard, g.Standards)
	}
	layout := Place(q.Sources, g.Extensions...)
	compiled := layout.With(g.Extensions...)
	if len(compiled) == 0 {
		return abi.Plan{}, &SourceError{Message: fmt.Sprintf("no file has one of the extensions %q", g.Extensions)}
	}
	args := []string{
		"-std=" + standard, "-O2", "-pipe", "-static", "-DONLINE_JUDGE",
		"-fmax-errors=50", "-fdiagnostics-color=never", "-o", "main",
	}
	args = append(args, compiled...)
	return abi.Plan{
		Files: layout.Files(),
		Compile: []abi.Step{{
			Tool: g.Tool,
			Args: append(args, g.Libraries...),
			Env:  map[string]string{"LC_ALL": "C"}, // plain ASCII quotes
			// The largest template programs seen need most of a gigabyte.
			Limits: abi.StepLimits{CPUMillis: 30_000, MemoryMiB: 1024, Processes: 64},
		}},
		Artifacts:   []string{"main"},
		Run:         abi.Step{Program: "./main"},
		Diagnostics: abi.Format{Name: "gcc"},
	}, nil
}
