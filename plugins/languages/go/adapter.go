// Package golang is the adapter of Go.
package golang

import (
	"cmp"
	"path"
	"strconv"
	"strings"

	"deepoj/plugins/abi"
	"deepoj/plugins/sdk/go"
)

const hello = `package main

import "fmt"

func main() {
	fmt.Println("hello")
}
`

const broken = `package main

import "fmt"

func main() {
	fmt.Println(undeclared)
}
`

// options is the schema of what the operator may set. Compiling fmt and what it needs takes ten seconds of CPU time, a
// program that finds them in a cache a fifth of a second. Go only reads a cache that it may not write to, so one folder
// can be shared with every box, read-only.
const options = `{"type":"object","properties":{
"cache":{"type":"string","description":"absolute path, inside the box, of a warm build cache"},
"prepare":{"type":"boolean","description":"plan to fill the folder cache instead; the sources are ignored"}}}`

// Adapter returns the adapter.
func Adapter() sdk.Adapter {
	return sdk.Adapter{
		Manifest: abi.Manifest{
			Name:    "deepoj.go",
			Version: "1.0.0",
			Options: []byte(options),
			Language: &abi.Language{
				ID:         "go",
				Name:       "Go",
				Extensions: []string{"go"},
				Hints: []string{
					`(?m)^package\s+main\s*$`,
					`(?m)^func\s+main\s*\(\s*\)\s*\{`,
					`\bfmt\.(Print|Scan|Fscan)`,
				},
				Editor: "go",
				Tools: []abi.Tool{
					{Name: "go", Version: []string{"version"}, Pattern: `go(\d+\.\d+(?:\.\d+)?)`, Package: "golang-go"},
				},
				Hello:      []abi.Source{{Name: "hello.go", Text: hello}},
				Broken:     []abi.Source{{Name: "broken.go", Text: broken}},
				BrokenLine: 6,
				Compiled:   true,
			},
		},
		Plan:        plan,
		Diagnostics: diagnostics,
	}
}

// plan builds the files as one main package, offline and without cgo.
func plan(q abi.PlanRequest) (abi.Plan, error) {
	cache := q.Options["cache"]
	cache = cmp.Or(cache, "/tmp/go-build")
	if q.Options["prepare"] == "true" {
		return build([]abi.File{{Path: "main.go", Text: prepared}}, []string{"main.go"}, cache), nil
	}
	layout := place(q.Sources)
	files := layout.With("go")
	if len(files) == 0 {
		return abi.Plan{}, &sdk.SourceError{Message: "no file has the extension .go"}
	}
	for i, name := range layout {
		if path.Dir(name) != "." && path.Ext(name) == ".go" {
			return abi.Plan{}, &sdk.SourceError{Source: i, Message: "the files of a program must be in one folder"}
		}
	}
	p := build(layout.Files(), files, cache)
	p.Run.Env = map[string]string{
		// Collect garbage earlier rather than meet the limit.
		"GOMEMLIMIT": strconv.FormatInt(q.Limits.MemoryMiB*7/8, 10) + "MiB",
	}
	return p, nil
}

// build is the plan for these files. The flags decide what the cache is good
// for, so they are the same for every program.
func build(files []abi.File, compiled []string, cache string) abi.Plan {
	return abi.Plan{
		Files: files,
		Compile: []abi.Step{{
			Tool: "go",
			Args: append([]string{"build", "-o", "main", "-ldflags=-s -w"}, compiled...),
			Env: map[string]string{
				"CGO_ENABLED": "0",
				"GOCACHE":     cache,
				"GOENV":       "off",
				"GOFLAGS":     "",
				"GOPATH":      "/tmp/go",
				"GOPROXY":     "off",
				"GOTOOLCHAIN": "local",
			},
			Limits: abi.StepLimits{CPUMillis: 60_000, MemoryMiB: 2048, Processes: 256, FileMiB: 256},
		}},
		Artifacts:   []string{"main"},
		Run:         abi.Step{Program: "./main", Limits: abi.StepLimits{Processes: 64}},
		Diagnostics: abi.Format{Name: "plugin"},
	}
}

// place writes a single source as main.go.
func place(sources []abi.Source) sdk.Layout { return sdk.Place(sources, "go") }

// prepared imports what programs import, so that compiling it fills a cache.
const prepared = `package main

import (
	_ "bufio"
	_ "bytes"
	_ "cmp"
	_ "container/heap"
	_ "container/list"
	_ "container/ring"
	_ "context"
	_ "encoding/binary"
	_ "encoding/hex"
	_ "encoding/json"
	_ "errors"
	_ "fmt"
	_ "hash/fnv"
	_ "hash/maphash"
	_ "io"
	_ "iter"
	_ "log"
	_ "maps"
	_ "math"
	_ "math/big"
	_ "math/bits"
	_ "math/cmplx"
	_ "math/rand"
	_ "math/rand/v2"
	_ "os"
	_ "reflect"
	_ "regexp"
	_ "runtime"
	_ "runtime/debug"
	_ "slices"
	_ "sort"
	_ "strconv"
	_ "strings"
	_ "sync"
	_ "sync/atomic"
	_ "text/tabwriter"
	_ "time"
	_ "unicode"
	_ "unicode/utf8"
	_ "unsafe"
)

func main() {}
`

// The compiler says all in one line, and sometimes goes on in lines that start with a tab:
//
//	./main.go:6:10: not enough arguments in call to f
//		have (number)
//		want (int, int)
//
// The linker misses a main function without naming a place.
const noMain = "function main is undeclared in the main package"

func diagnostics(q abi.DiagnosticsRequest) []abi.Diagnostic {
	var found []abi.Diagnostic
	layout := place(q.Sources)
	for text := range strings.Lines(q.Stderr) {
		text = strings.TrimRight(text, "\r\n")
		if rest, more := strings.CutPrefix(text, "\t"); more && len(found) > 0 {
			found[len(found)-1].Message += "\n" + strings.TrimSpace(rest)
			continue
		}
		if strings.HasSuffix(text, noMain) && len(q.Sources) > 0 {
			found = append(found, abi.Diagnostic{File: q.Sources[0].Name, Line: 1, Severity: "error", Message: noMain})
			continue
		}
		file, line, column, message, ok := where(text)
		if source := layout.Find(file); ok && source >= 0 {
			found = append(found, abi.Diagnostic{
				File: q.Sources[source].Name, Line: line, Column: column, Severity: "error", Message: message,
			})
		}
	}
	return found
}

// where takes apart "file.go:line:column: message", of which the column may be missing, and is 0 then.
func where(text string) (file string, line, column int, message string, ok bool) {
	at, message, ok := strings.Cut(text, ": ")
	file, line, numbered := sdk.CutLastNumber(at, ":")
	if before, n, two := sdk.CutLastNumber(file, ":"); two && !strings.HasSuffix(file, ".go") {
		file, line, column = before, n, line
	}
	named := len(file) > len(".go") && strings.HasSuffix(file, ".go") && !strings.ContainsAny(file, " \t\f\r")
	return file, line, column, message, ok && numbered && named
}
