// Command python is the adapter of Python 3.
package main

import (
	"deepoj/plugins/abi"
	"deepoj/plugins/sdk/go"
)

const hello = `print("hello")
`

const broken = `def main():
    print("hello"

main()
`

func main() {
	sdk.Main(sdk.Adapter{
		Manifest: abi.Manifest{
			Name:    "deepoj.python",
			Version: "1.0.0",
			Language: &abi.Language{
				ID:         "python",
				Name:       "Python 3",
				Extensions: []string{"py", "py3"},
				Shebangs:   []string{"python3", "python"},
				Hints: []string{
					`(?m)^\s*def\s+\w+\s*\(.*\)\s*(->.*)?:\s*(#.*)?$`,
					`(?m)^\s*(from\s+\w[\w.]*\s+)?import\s+[\w.*, ]+(\s+as\s+\w+)?\s*(#.*)?$`,
					`(?m)^\s*print\s*\(`,
					`\binput\s*\(\s*\)`,
					`\bif\s+__name__\s*==`,
				},
				Editor: "python",
				Tools: []abi.Tool{
					{Name: "python3", Version: []string{"--version"}, Pattern: `Python (\d+\.\d+\.\d+)`, Package: "python3"},
				},
				Hello:      []abi.Source{{Name: "hello.py", Text: hello}},
				Broken:     []abi.Source{{Name: "broken.py", Text: broken}},
				BrokenLine: 2,
				Compiled:   true,
			},
		},
		Plan:        plan,
		Diagnostics: diagnostics,
	})
}

// plan checks the syntax of every file, so that a slip of the keyboard is a
// compile error and costs no test, and runs the main one from its source.
func plan(q abi.PlanRequest) (abi.Plan, error) {
	layout := place(q.Sources)
	modules := layout.With("py")
	if len(modules) == 0 {
		return abi.Plan{}, &sdk.SourceError{Message: "no file has the extension .py"}
	}
	return abi.Plan{
		Files: layout.Files(),
		Compile: []abi.Step{{
			Tool: "python3",
			// Isolated: a file called struct.py must not be imported here.
			Args:   append([]string{"-I", "-m", "py_compile"}, modules...),
			Limits: abi.StepLimits{CPUMillis: 10_000, MemoryMiB: 512, Processes: 16},
		}},
		Artifacts: layout,
		Run: abi.Step{
			Tool: "python3",
			Args: []string{"-B", layout.Start(q, []string{"main", "__main__"}, "py")},
			Env:  map[string]string{"PYTHONIOENCODING": "utf-8", "PYTHONHASHSEED": "0"},
			// One allocation larger than the address space is refused by
			// Python itself; everything else meets the limit of the box.
			MemoryPolicy: "runtime+cgroup",
			MemoryExit:   `(?m)^MemoryError\b`,
		},
		Diagnostics: abi.Format{Name: "plugin"},
	}, nil
}

// place writes a single source as main.py.
func place(sources []abi.Source) sdk.Layout { return sdk.Place(sources, "py") }
