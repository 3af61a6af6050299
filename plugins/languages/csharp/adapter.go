// Package csharp is the adapter of C# on Mono.
package csharp

import (
	"slices"

	"deepoj/plugins/abi"
	"deepoj/plugins/sdk/go"
)

const hello = `using System;

class Hello
{
    static void Main()
    {
        Console.WriteLine("hello");
    }
}
`

const broken = `using System;

class Broken
{
    static void Main()
    {
        int n = "one";
        Console.WriteLine(n);
    }
}
`

// settings tell Mono which libraries its own classes call, as its settings in /etc do, which a sandbox need not show:
// without them not even a floating-point number can be printed.
const settings = `<configuration>
	<dllmap dll="System.Native" target="libmono-native.so"/>
	<dllmap dll="MonoPosixHelper" target="libMonoPosixHelper.so"/>
	<dllmap dll="libc" target="libc.so.6"/>
</configuration>
`

// The files beside the sources. No source can have their names, which start with a dot.
const (
	settingsFile = ".mono.config"
	programFile  = ".main.exe"
)

// Adapter returns the adapter.
func Adapter() sdk.Adapter {
	return sdk.Adapter{
		Manifest: abi.Manifest{
			Name:    "deepoj.csharp",
			Version: "1.0.0",
			Language: &abi.Language{
				ID:         "csharp",
				Name:       "C# (Mono)",
				Extensions: []string{"cs"},
				Hints: []string{
					`(?m)^\s*using\s+(static\s+)?System(\.\w+)*\s*;`,
					`\bConsole\.(Write|WriteLine|ReadLine|In|Out)\b`,
					`\bstatic\s+(async\s+)?(void|int|Task)\s+Main\s*\(`,
					`(?m)^\s*namespace\s+\w+`,
				},
				Editor: "csharp",
				Tools: []abi.Tool{
					{Name: "mcs", Version: []string{"--version"}, Pattern: `compiler version (\S+)`, Package: "mono-mcs"},
					{Name: "mono", Version: []string{"--version"}, Pattern: `compiler version (\S+)`, Package: "mono-runtime"},
				},
				Hello:      []abi.Source{{Name: "hello.cs", Text: hello}},
				Broken:     []abi.Source{{Name: "broken.cs", Text: broken}},
				BrokenLine: 7,
				Compiled:   true,
			},
		},
		Plan:        plan,
		Diagnostics: diagnostics,
	}
}

// plan compiles every .cs file into one program. The compiler finds its Main.
func plan(q abi.PlanRequest) (abi.Plan, error) {
	layout := place(q.Sources)
	compiled := layout.With("cs")
	if len(compiled) == 0 {
		return abi.Plan{}, &sdk.SourceError{Message: "no file has the extension .cs"}
	}
	mcs := []string{
		"-optimize+", "-unsafe", "-codepage:utf8", "-define:ONLINE_JUDGE", "-r:System.Numerics.dll", "-out:" + programFile,
	}
	environment := map[string]string{
		"MONO_CONFIG": settingsFile,
		// A collector with a thread of its own costs CPU time and gains none.
		"MONO_GC_PARAMS": "major=marksweep",
		"LC_ALL":         "C.UTF-8",
	}
	return abi.Plan{
		Files: append(layout.Files(), abi.File{Path: settingsFile, Text: settings}),
		Compile: []abi.Step{{
			Tool:   "mcs",
			Args:   append(mcs, compiled...),
			Env:    environment,
			Limits: abi.StepLimits{CPUMillis: 20_000, MemoryMiB: 1024, Processes: 64},
		}},
		Artifacts: slices.Concat(layout.Without("cs"), []string{settingsFile, programFile}),
		Run: abi.Step{
			Tool: "mono",
			Args: []string{programFile},
			Env:  environment,
			// The heap has no limit of its own. One that Mono knows of (max-heap-size)
			// makes it end with status 0 and no word when many small objects fill it.
			// What is larger than the address space is refused by Mono itself.
			Limits:       abi.StepLimits{Processes: 64},
			MemoryPolicy: "runtime+cgroup",
			MemoryExit:   `\bOutOfMemoryException\b`,
		},
		Diagnostics: abi.Format{Name: "plugin"},
	}, nil
}

// place writes a single source as main.cs.
func place(sources []abi.Source) sdk.Layout { return sdk.Place(sources, "cs") }

// diagnostics reads what mcs writes to standard error.
func diagnostics(q abi.DiagnosticsRequest) []abi.Diagnostic {
	return sdk.Parenthesized(q.Sources, place(q.Sources), q.Stderr)
}
