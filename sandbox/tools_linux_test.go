package sandbox_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"deepoj/sandbox"
)

// toolChains compile and run a program that prints hello, with limits like
// those of a judge.
var toolChains = map[string]struct {
	file, source string
	compile      *sandbox.Cmd
	artifacts    string
	run          sandbox.Cmd
}{
	"gcc": {
		"main.c", "#include <stdio.h>\nint main(void) { puts(\"hello\"); }\n",
		&sandbox.Cmd{Tool: "gcc", Args: []string{"-O2", "-o", "main", "main.c"}}, "main",
		sandbox.Cmd{Program: "./main"},
	},
	"g++": {
		"main.cpp", "#include <iostream>\nint main() { std::cout << \"hello\\n\"; }\n",
		&sandbox.Cmd{Tool: "g++", Args: []string{"-O2", "-o", "main", "main.cpp"}}, "main",
		sandbox.Cmd{Program: "./main"},
	},
	"python3": {
		"main.py", "print('hello')\n", nil, "", sandbox.Cmd{Tool: "python3", Args: []string{"main.py"}},
	},
	"go": {
		"main.go", "package main\n\nimport \"fmt\"\n\nfunc main() { fmt.Println(\"hello\") }\n",
		&sandbox.Cmd{Tool: "go", Args: []string{"build", "-o", "main", "main.go"}}, "main",
		sandbox.Cmd{Program: "./main"},
	},
	"java": {
		"Main.java", "public class Main { public static void main(String[] a) { System.out.println(\"hello\"); } }\n",
		&sandbox.Cmd{Tool: "javac", Args: []string{"Main.java"}}, "*.class",
		sandbox.Cmd{Tool: "java", Args: []string{"-cp", ".", "Main"}},
	},
	"node": {
		"main.js", "console.log('hello')\n", nil, "", sandbox.Cmd{Tool: "node", Args: []string{"main.js"}},
	},
	"rustc": {
		"main.rs", "fn main() { println!(\"hello\"); }\n",
		&sandbox.Cmd{Tool: "rustc", Args: []string{"-O", "main.rs"}}, "main",
		sandbox.Cmd{Program: "./main"},
	},
}

func TestToolChainsCompileAndRunInABox(t *testing.T) {
	a := shared.get(t)
	for name, tt := range toolChains {
		t.Run(name, func(t *testing.T) {
			if _, err := a.Tool(t.Context(), name); errors.Is(err, sandbox.ErrNoTool) {
				missing(t, name)
			} else if err != nil {
				t.Fatal(err)
			}
			files := []sandbox.File{{Path: tt.file, Data: []byte(tt.source)}}
			if tt.compile != nil {
				files = compile(t, a, *tt.compile, tt.artifacts, files...)
			}
			b := open(t, a, sandbox.BoxOptions{})
			if err := b.Put(t.Context(), files...); err != nil {
				t.Fatal(err)
			}
			c := tt.run
			c.Limits = sandbox.Limits{CPU: 5 * time.Second, MemoryBytes: 512 << 20}
			o := run(t, b, c)
			if o.Verdict != sandbox.OK || o.stdout != "hello\n" {
				t.Errorf("the program ended %v", o)
			}
			t.Logf("cpu %s, memory %d KiB", o.CPU, o.MemoryBytes>>10)
		})
	}
}

// compile runs c in a writable box and returns what it made.
func compile(t testing.TB, a *sandbox.Client, c sandbox.Cmd, artifacts string, files ...sandbox.File) []sandbox.File {
	t.Helper()
	b, err := a.OpenBox(t.Context(), sandbox.BoxOptions{Writable: true})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if err := b.Put(t.Context(), files...); err != nil {
		t.Fatal(err)
	}
	c.Limits = sandbox.Limits{CPU: time.Minute, MemoryBytes: 1 << 30, FileBytes: 256 << 20, Processes: 128, OpenFiles: 1024}
	o := run(t, b, c)
	if o.Verdict != sandbox.OK {
		t.Fatalf("the compiler ended %v", o)
	}
	t.Logf("%s: cpu %s, memory %d KiB", c.Tool, o.CPU, o.MemoryBytes>>10)
	made, err := b.Collect(t.Context(), []string{artifacts}, 64<<20)
	if err != nil {
		t.Fatal(err)
	}
	if len(made) == 0 {
		t.Fatalf("the compiler made no %s", artifacts)
	}
	return made
}

func TestToolsAreFoundByName(t *testing.T) {
	a := shared.get(t)
	for _, name := range []string{"no-such-tool", "../bin/sh", "/bin/sh", ""} {
		if got, err := a.Tool(t.Context(), name); !errors.Is(err, sandbox.ErrNoTool) {
			t.Errorf("Tool(%q) = %v, %v, want ErrNoTool", name, got, err)
		}
	}
	got, err := a.Tool(t.Context(), "gcc")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(got.Path, "/gcc") || len(got.Roots) != 0 {
		t.Errorf("Tool(gcc) = %+v, want a path that ends in /gcc and needs nothing beyond /usr", got)
	}
}
