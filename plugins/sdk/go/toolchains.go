package sdk

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"deepoj/plugins/abi"
)

// JVM returns the run of a class by the Java virtual machine under a memory
// limit. The class path is relative to the working directory.
func JVM(classPath, class string, memoryMiB int64) abi.Step {
	memory := max(memoryMiB, 16)
	young := jvmYoung(memory)
	return abi.Step{
		Tool: "java",
		Args: []string{
			"-Xmx" + mebibytes(memory+young), "-Xmn" + mebibytes(young), "-Xss" + mebibytes(jvmStack(memory)),
			"-XX:+UseSerialGC", "-XX:-UsePerfData", "-Dfile.encoding=UTF-8", "-DONLINE_JUDGE=true", "-cp", classPath, class,
		},
		Env: JVMLocale(),
		// Code, metadata, the young generation and some stack come on top of what the program keeps.
		Limits:       abi.StepLimits{ExtraMemoryMiB: 192, Processes: 64},
		MemoryPolicy: "runtime+cgroup",
		MemoryExit:   `\bjava\.lang\.OutOfMemoryError\b`,
	}
}

// JVMCompiler returns the flags for a compiler that runs on the JVM itself, as javac and kotlinc take them. One that
// runs for a second gains nothing by optimizing itself.
func JVMCompiler() []string {
	return []string{"-J-XX:TieredStopAtLevel=1", "-J-XX:+UseSerialGC", "-J-XX:-UsePerfData", "-J-Xmx768m", "-J-Xss16m"}
}

// JVMLocale returns the environment in which file names hold what class names may.
func JVMLocale() map[string]string { return map[string]string{"LC_ALL": "C.UTF-8"} }

// JVMTool is the Java virtual machine as a tool.
var JVMTool = abi.Tool{Name: "java", Version: []string{"-version"}, Pattern: `version "([^"]+)"`, Package: "default-jdk-headless"}

// jvmStack is how large a thread's stack may grow, in MiB: as large as the memory limit, as in every language. A
// recursion 10^6 deep needs more than 64. Only what is touched is used; one GiB is the most that the JVM accepts.
// Unwinding an overflow costs the JVM several times the stack, so a recursion without end exceeds the memory, as it
// does in C++.
func jvmStack(memoryMiB int64) int64 { return min(max(memoryMiB, 64), 1024) }

// jvmYoung is the size of the young generation, in MiB. The serial collector keeps one object in one generation, and
// its old generation is what -Xmx leaves beside the young one. So the young one comes on top of the limit, and one
// array may be as large as the limit itself; it is small, so that a program that keeps more than the limit still runs
// out of memory soon.
func jvmYoung(memoryMiB int64) int64 { return max(memoryMiB/8, 4) }

func mebibytes(n int64) string { return strconv.FormatInt(n, 10) + "m" }

// GCC plans for a language that one call of a GCC driver compiles to a static program.
type GCC struct {
	Tool       string   // such as "g++"
	Standards  []string // what the option "std" may be, the default first
	Extensions []string // of files that are compiled; others are only written
	Libraries  []string // flags after the files, such as "-lm"
}

// Options returns the schema of the options that Plan understands.
func (g GCC) Options() abi.RawMessage {
	var w writer
	w.object(func() {
		w.text("type", "object")
		w.member("properties", func() {
			w.member("std", func() {
				w.texts("enum", g.Standards)
				w.text("default", g.Standards[0])
				w.text("description", "language standard")
			})
		})
	})
	return w.out
}

// Plan compiles every source with one of the extensions into one program. It
// runs on the process stack, so its recursion is limited only by its memory.
func (g GCC) Plan(q abi.PlanRequest) (abi.Plan, error) {
	standard := g.Standards[0]
	if std, ok := q.Options["std"]; ok {
		standard = std
	}
	if !slices.Contains(g.Standards, standard) {
		return abi.Plan{}, errors.New("option std is " + strconv.Quote(standard) + ", want one of " + quoted(g.Standards))
	}
	layout := Place(q.Sources, g.Extensions...)
	compiled := layout.With(g.Extensions...)
	if len(compiled) == 0 {
		return abi.Plan{}, &SourceError{Message: "no file has one of the extensions " + quoted(g.Extensions)}
	}
	args := []string{
		"-std=" + standard, "-O2", "-pipe", "-static", "-s", "-Wl,--gc-sections", "-DONLINE_JUDGE",
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

// quoted lists words as %q does.
func quoted(words []string) string {
	list := make([]string, len(words))
	for i, word := range words {
		list[i] = strconv.Quote(word)
	}
	return "[" + strings.Join(list, " ") + "]"
}

// Node returns the run of a script by Node.js under a memory limit.
func Node(script string, memoryMiB int64) abi.Step {
	return abi.Step{
		Tool: "node",
		Args: []string{
			"--max-old-space-size=" + strconv.FormatInt(memoryMiB, 10),
			"--stack-size=" + strconv.FormatInt(nodeStackKiB(memoryMiB), 10),
			script,
		},
		// Node itself takes 45 MiB and eleven threads before the first line.
		Limits:       abi.StepLimits{ExtraMemoryMiB: 128, Processes: 64},
		MemoryPolicy: "runtime+cgroup",
		MemoryExit:   `JavaScript heap out of memory|Array buffer allocation failed|FATAL ERROR:.* out of memory`,
	}
}

// nodeStackKiB lets recursion use the process stack, which is as large as the
// memory limit. V8 needs to stop short of its end.
func nodeStackKiB(memoryMiB int64) int64 {
	return max(984, (memoryMiB-8)*1024) // 984 is V8's own default
}

// NodeTool is Node.js as a tool.
var NodeTool = abi.Tool{Name: "node", Version: []string{"--version"}, Pattern: `v(\d+\.\d+\.\d+)`, Package: "nodejs"}
