// Package typescript is the adapter of TypeScript on Node.js.
package typescript

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"deepoj/plugins/abi"
	"deepoj/plugins/sdk/go"
)

const hello = `const word: string = "hello";
console.log(word);
`

const broken = `function main(): void {
    const n: number = "one";
    console.log(n);
}

main();
`

// declarations say what Node.js offers, so that programs compile that use it.
// The compiler finds them where npm would put those of the package @types/node.
func declarations() string { return strings.ReplaceAll(globals, "´", "`") + modules }

const declarationsFile = "node_modules/@types/node/index.d.ts"

// Adapter returns the adapter.
func Adapter() sdk.Adapter {
	return sdk.Adapter{
		Manifest: abi.Manifest{
			Name:    "deepoj.typescript",
			Version: "1.0.0",
			Language: &abi.Language{
				ID:         "typescript",
				Name:       "TypeScript (Node.js)",
				Extensions: []string{"ts"},
				Shebangs:   []string{"ts-node", "tsx"},
				Hints: []string{
					`(?m)^\s*(const|let|var)\s+\w+\s*:\s*[\w{\[(]`,
					`(?m)^\s*(export\s+)?(interface\s+\w+.*\{|type\s+\w+.*=)`,
					`\)\s*:\s*(void|number|string|boolean|bigint|Promise<)`,
					`\b\w+\??:\s*(number|string|boolean|bigint|any)\b`,
					`(?m)^import\s.*\sfrom\s+['"](node:)?(fs|readline|os|util)['"]`,
				},
				Editor: "typescript",
				Tools: []abi.Tool{
					{Name: "tsc", Version: []string{"--version"}, Pattern: `Version (\d+\.\d+\.\d+)`, Package: "node-typescript"},
					sdk.NodeTool,
				},
				Hello:      []abi.Source{{Name: "hello.ts", Text: hello}},
				Broken:     []abi.Source{{Name: "broken.ts", Text: broken}},
				BrokenLine: 2,
				Compiled:   true,
			},
		},
		Plan:        plan,
		Diagnostics: diagnostics,
	}
}

// plan compiles every .ts file to a CommonJS script and runs the main one.
func plan(q abi.PlanRequest) (abi.Plan, error) {
	layout := place(q.Sources)
	compiled := layout.With("ts")
	programs := sdk.Layout(slices.DeleteFunc(slices.Clone(compiled), isDeclaration))
	entry := programs.Main([]string{"main", "index"}, "ts")
	if i := sdk.Entry(q); i >= 0 && slices.Contains(programs, layout[i]) {
		entry = layout[i]
	}
	if entry == "" {
		return abi.Plan{}, &sdk.SourceError{Message: "no file has the extension .ts"}
	}
	tsc := []string{
		"--noEmitOnError", "--pretty", "false", "--strict", "false",
		"--target", "es2022", "--lib", "es2022", "--types", "node", "--skipLibCheck",
		"--module", "commonjs", "--esModuleInterop", "--rootDir", ".", "--outDir", "out",
	}
	if recent(q.Host.Tools["tsc"].Version) {
		// Every file is a module, so that its names clash with no others.
		tsc = append(tsc, "--moduleDetection", "force")
	}
	return abi.Plan{
		Files: append(layout.Files(), abi.File{Path: declarationsFile, Text: declarations()}),
		Compile: []abi.Step{{
			Tool:   "tsc",
			Args:   append(tsc, compiled...),
			Limits: abi.StepLimits{CPUMillis: 30_000, MemoryMiB: 1024, Processes: 64},
		}},
		Artifacts:   append(layout.Without("ts"), "out/**"),
		Run:         sdk.Node(path.Join("out", strings.TrimSuffix(entry, ".ts")+".js"), q.Limits.MemoryMiB),
		Diagnostics: abi.Format{Name: "plugin"},
	}, nil
}

// place writes a single source as main.ts.
func place(sources []abi.Source) sdk.Layout { return sdk.Place(sources, "ts") }

// isDeclaration reports whether a file compiles to nothing.
func isDeclaration(file string) bool { return strings.HasSuffix(file, ".d.ts") }

// recent reports whether a version knows the flag moduleDetection, which came with
// 4.7. One that cannot be read is taken to.
func recent(version string) bool {
	numbers := strings.SplitN(version, ".", 3)
	if len(numbers) < 2 {
		return true
	}
	major, err := strconv.Atoi(numbers[0])
	if err != nil {
		return true
	}
	minor, err := strconv.Atoi(numbers[1])
	return err != nil || major > 4 || major == 4 && minor >= 7
}

// diagnostics reads what tsc writes to standard output.
func diagnostics(q abi.DiagnosticsRequest) []abi.Diagnostic {
	return sdk.Parenthesized(q.Sources, place(q.Sources), q.Stdout)
}
