// Package kotlin is the adapter of Kotlin on the Java virtual machine.
package kotlin

import (
	"path"
	"slices"
	"strings"

	"deepoj/plugins/abi"
	"deepoj/plugins/sdk/go"
)

const hello = `fun main() {
    println("hello")
}
`

const broken = `fun main() {
    val n: Int = "one"
    println(n)
}
`

// Adapter returns the adapter.
func Adapter() sdk.Adapter {
	return sdk.Adapter{
		Manifest: abi.Manifest{
			Name:    "deepoj.kotlin",
			Version: "1.0.0",
			Language: &abi.Language{
				ID:         "kotlin",
				Name:       "Kotlin",
				Extensions: []string{"kt"},
				Hints: []string{
					`(?m)^\s*(suspend\s+)?fun\s+main\s*\(`,
					`(?m)^\s*fun\s+(<.*>\s*)?[\w.]+\s*\(.*\)\s*(:\s*[\w<>?, ]+)?\s*[={]`,
					`\bread(Line|ln)\(\)`,
					`(?m)^\s*va[lr]\s+(\(|\w+\s*[:=])`,
					`(?m)^\s*import\s+(kotlin|java)[\w.]*(\.\*)?\s*$`,
				},
				Editor: "kotlin",
				Tools: []abi.Tool{
					{Name: "kotlinc", Version: []string{"-version"}, Pattern: `kotlinc-jvm (\S+)`, Package: "kotlin"},
					sdk.JVMTool,
				},
				Hello:      []abi.Source{{Name: "hello.kt", Text: hello}},
				Broken:     []abi.Source{{Name: "broken.kt", Text: broken}},
				BrokenLine: 2,
				Compiled:   true,
			},
		},
		Plan: plan,
	}
}

// plan compiles every .kt file into one archive together with Kotlin's library,
// and runs the class that has a main function.
func plan(q abi.PlanRequest) (abi.Plan, error) {
	layout := sdk.Place(q.Sources, "kt")
	compiled := layout.With("kt")
	if len(compiled) == 0 {
		return abi.Plan{}, &sdk.SourceError{Message: "no file has the extension .kt"}
	}
	class, err := mainClass(layout, q.Sources)
	if i := sdk.Entry(q); i >= 0 && path.Ext(layout[i]) == ".kt" {
		if named, e := mainClass(layout[i:i+1], q.Sources[i:i+1]); e == nil {
			class, err = named, nil
		}
	}
	if err != nil {
		return abi.Plan{}, err
	}
	kotlinc := append(sdk.JVMCompiler(),
		"-J-XX:-PrintWarnings", // of the flags that kotlinc gives the JVM
		"-jvm-target", "1.8", "-include-runtime", "-d", archive)
	return abi.Plan{
		Files: layout.Files(),
		Compile: []abi.Step{{
			Tool: "kotlinc",
			Args: append(kotlinc, compiled...),
			Env:  sdk.JVMLocale(),
			// It takes several times as long as javac.
			Limits: abi.StepLimits{CPUMillis: 60_000, MemoryMiB: 1024, Processes: 64},
		}},
		Artifacts:   append(layout.Without("kt"), archive),
		Run:         sdk.JVM(archive, class, q.Limits.MemoryMiB),
		Diagnostics: abi.Format{Name: "gcc"},
	}, nil
}

// archive is what is compiled. No source can have its name, which starts with a dot.
const archive = ".main.jar"

// mainClass returns the full name of the class to run. A file called main comes first, then the first with a main
// function, then the first class with one. Without any, files in which something has no end are left to the compiler.
func mainClass(layout sdk.Layout, sources []abi.Source) (string, error) {
	best, name, complete := 0, "", true
	for i, file := range layout {
		if path.Ext(file) != ".kt" {
			continue
		}
		u := parse(sources[i].Text)
		complete = complete && u.complete
		rank, class := 0, ""
		switch {
		case u.main && strings.EqualFold(path.Base(file), "main.kt"):
			rank, class = 3, u.facade(file)
		case u.main:
			rank, class = 2, u.facade(file)
		case u.holder != "":
			rank, class = 1, u.holder
		}
		if rank > best {
			best, name = rank, u.qualified(class)
		}
	}
	if name != "" {
		return name, nil
	}
	first := slices.Index(layout, layout.Main([]string{"main", "Main"}, "kt"))
	if complete {
		return "", &sdk.SourceError{Source: first, Line: 1, Message: "no file has a function `fun main()`"}
	}
	return unit{}.facade(layout[first]), nil // the compiler has more to say
}
