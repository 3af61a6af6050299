// Package java is the adapter of Java.
package java

import (
	"path"
	"strconv"
	"strings"

	"deepoj/plugins/abi"
	"deepoj/plugins/sdk/go"
)

const hello = `public class Hello {
    public static void main(String[] args) {
        System.out.println("hello");
    }
}
`

const broken = `public class Broken {
    public static void main(String[] args) {
        int n = "one";
        System.out.println(n);
    }
}
`

// Adapter returns the adapter.
func Adapter() sdk.Adapter {
	return sdk.Adapter{
		Manifest: abi.Manifest{
			Name:    "deepoj.java",
			Version: "1.0.0",
			Language: &abi.Language{
				ID:         "java",
				Name:       "Java",
				Extensions: []string{"java"},
				Hints: []string{
					`\bpublic\s+static\s+void\s+main\s*\(`,
					`(?m)^\s*import\s+java[x]?\.`,
					`\bSystem\.(out|in)\b`,
				},
				Editor: "java",
				Tools: []abi.Tool{
					{Name: "javac", Version: []string{"-version"}, Pattern: `javac (\S+)`, Package: "default-jdk-headless"},
					sdk.JVMTool,
				},
				Hello:      []abi.Source{{Name: "Hello.java", Text: hello}},
				Broken:     []abi.Source{{Name: "Broken.java", Text: broken}},
				BrokenLine: 3,
				Compiled:   true,
			},
		},
		Plan: plan,
	}
}

// plan compiles every .java file and runs the class that has a main method.
func plan(q abi.PlanRequest) (abi.Plan, error) {
	layout, units := place(q.Sources)
	compiled := layout.With("java")
	if len(compiled) == 0 {
		return abi.Plan{}, &sdk.SourceError{Message: "no file has the extension .java"}
	}
	class := ""
	if i := sdk.Entry(q); i >= 0 {
		class = mainClass(units[i : i+1])
	}
	if class == "" {
		class = mainClass(units)
	}
	if class == "" {
		return abi.Plan{}, noMain(units)
	}
	javac := append(sdk.JVMCompiler(), "-encoding", "UTF-8", "-proc:none", "-Xmaxerrs", "50", "-d", "out")
	return abi.Plan{
		Files: layout.Files(),
		Compile: []abi.Step{{
			Tool:   "javac",
			Args:   append(javac, compiled...),
			Env:    sdk.JVMLocale(),
			Limits: abi.StepLimits{CPUMillis: 20_000, MemoryMiB: 1024, Processes: 64},
		}},
		Artifacts:   append(layout.Without("java"), "out/**"),
		Run:         sdk.JVM("out", class, q.Limits.MemoryMiB),
		Diagnostics: abi.Format{Name: "javac"},
	}, nil
}

// place names each file after its public class, as javac demands, and reads what the files declare. Of several files
// with the same public class the first gets the name; javac refuses the others.
func place(sources []abi.Source) (sdk.Layout, []unit) {
	layout := sdk.Place(sources, "java")
	units := make([]unit, len(sources))
	if len(sources) == 1 {
		layout[0] = "Main.java"
	}
	taken := map[string]bool{}
	named := make([]bool, len(sources))
	for i, source := range sources {
		if path.Ext(layout[i]) != ".java" {
			continue
		}
		units[i] = parse(source.Text)
		name := path.Join(path.Dir(layout[i]), units[i].public()+".java")
		if units[i].public() != "" && !taken[name] {
			layout[i], taken[name], named[i] = name, true, true
		}
	}
	for i, name := range layout {
		if named[i] {
			continue
		}
		stem, extension := strings.TrimSuffix(name, path.Ext(name)), path.Ext(name)
		for n := 2; taken[name]; n++ {
			name = stem + "_" + strconv.Itoa(n) + extension
		}
		layout[i], taken[name] = name, true
	}
	return layout, units
}

// mainClass returns the full name of the class to run, or "". A public class
// comes first, then one called Main, then the first in the files.
func mainClass(units []unit) string {
	best, name := 0, ""
	for _, u := range units {
		for _, t := range u.types {
			rank := 1
			switch {
			case !t.main:
				continue
			case t.public:
				rank = 3
			case t.name == "Main":
				rank = 2
			}
			if rank > best {
				best, name = rank, u.qualified(t.name)
			}
		}
	}
	return name
}

// noMain refuses sources in which no class can be started, at the first class there is.
func noMain(units []unit) error {
	refusal := &sdk.SourceError{Line: 1, Message: "no class has a method `public static void main(String[] args)`"}
	for i, u := range units {
		if len(u.types) > 0 {
			refusal.Source, refusal.Line = i, u.types[0].line
			break
		}
	}
	return refusal
}
