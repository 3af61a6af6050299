// Package shortcut does what some commands do before the rest of Deep-OJ is initialized, which takes longer than they
// do. It turns `deepoj judge` into the program deepoj-judge beside it, which does the same, and answers
// `deepoj version`. It does so when it is imported.
package shortcut

import (
	"os"
	"syscall"
)

// The package imports so little because Go initializes a package when all that it
// imports is initialized, and first the one whose path comes first.

// Version of the program is set by the linker. It is here because nothing else is needed to print it.
var Version = "unknown"

func init() {
	if len(os.Args) == 2 && os.Args[1] == "version" {
		if _, err := os.Stdout.WriteString("deepoj " + Version + "\n"); err == nil { // else the command says what went wrong
			os.Exit(0) //nolint:forbidigo // it stands for the main function
		}
	}
	if len(os.Args) > 1 && os.Args[1] == "judge" && !configured(os.Environ()) {
		take(os.Args[2:], os.Environ())
	}
}

// configured reports whether something is set that deepoj-judge does not look at: limits of output in the environment,
// or anything in a configuration file. A worker's run, of which root is the starter, has a configuration in the
// environment: for that no program is taken from a folder that others may write to.
func configured(environ []string) bool {
	for _, e := range environ {
		if begins(e, "JUDGE_STDOUT_LIMIT_BYTES=") || begins(e, "JUDGE_STDERR_LIMIT_BYTES=") || begins(e, "DEEPOJ_SANDBOX_AGENT=") {
			return true
		}
	}
	_, err := os.Lstat("config.yaml")
	return !os.IsNotExist(err)
}

func begins(s, prefix string) bool { return len(s) >= len(prefix) && s[:len(prefix)] == prefix }

// take becomes deepoj-judge, if there is one in this program's folder.
func take(args, environ []string) {
	path, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return
	}
	for path != "" && path[len(path)-1] != '/' {
		path = path[:len(path)-1]
	}
	path += "deepoj-judge"
	_ = syscall.Exec(path, append([]string{path}, args...), environ) // deepoj judges itself then
}
