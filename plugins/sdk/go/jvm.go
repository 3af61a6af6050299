package sdk

import (
	"strconv"

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
		// Code, metadata, the young generation and some stack come on top of
		// what the program keeps.
		Limits:       abi.StepLimits{ExtraMemoryMiB: 192, Processes: 64},
		MemoryPolicy: "runtime+cgroup",
		MemoryExit:   `\bjava\.lang\.OutOfMemoryError\b`,
	}
}

// JVMCompiler returns the flags for a compiler that runs on the JVM itself, as
// javac and kotlinc take them. One that runs for a second gains nothing by
// optimizing itself.
func JVMCompiler() []string {
	return []string{"-J-XX:TieredStopAtLevel=1", "-J-XX:+UseSerialGC", "-J-XX:-UsePerfData", "-J-Xmx768m", "-J-Xss16m"}
}

// JVMLocale returns the environment in which file names hold what class names
// may.
func JVMLocale() map[string]string { return map[string]string{"LC_ALL": "C.UTF-8"} }

// JVMTool is the Java virtual machine as a tool.
var JVMTool = abi.Tool{Name: "java", Version: []string{"-version"}, Pattern: `version "([^"]+)"`, Package: "default-jdk-headless"}

// jvmStack is how large a thread's stack may grow, in MiB: as large as the memory
// limit, as in every language. A recursion 10^6 deep needs more than 64. Only
// what is touched is used; one GiB is the most that the JVM accepts. Unwinding
// an overflow costs the JVM several times the stack, so a recursion without end
// exceeds the memory, as it does in C++.
func jvmStack(memoryMiB int64) int64 { return min(max(memoryMiB, 64), 1024) }

// jvmYoung is the size of the young generation, in MiB. The serial collector keeps
// one object in one generation, and its old generation is what -Xmx leaves beside
// the young one. So the young one comes on top of the limit, and one array may be as
// large as the limit itself; it is small, so that a program that keeps more than the
// limit still runs out of memory soon.
func jvmYoung(memoryMiB int64) int64 { return max(memoryMiB/8, 4) }

func mebibytes(n int64) string { return strconv.FormatInt(n, 10) + "m" }
