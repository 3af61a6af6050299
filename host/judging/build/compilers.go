package build

import (
	"context"
	"errors"
	"regexp"
	"strings"

	"deepoj/host/judge"
	"deepoj/host/judging/blame"
	"deepoj/host/judging/runner"
	"deepoj/sandbox"
)

// missingParts are the Debian packages that compilers of plugins need beside
// themselves, by what a compiler says without them.
var missingParts = []struct {
	says    *regexp.Regexp
	without string
}{
	{regexp.MustCompile(`unable to execute command: [^\n]*wasm-ld`), "lld"},
	{regexp.MustCompile(`cannot open [^\n]*libclang_rt\.builtins-wasm32\.a`), "libclang-rt-14-dev-wasm32"},
	{regexp.MustCompile(`unable to find library -lc\+\+abi\b`), "libc++abi-14-dev-wasm32"},
	{regexp.MustCompile(`unable to find library -lc\+\+(?:\s|$)|fatal error: '(?:algorithm|cstdio|cstdlib|cstddef|iostream|string|vector|typeinfo)' file not found`), "libc++-14-dev-wasm32"},
	{regexp.MustCompile(`cannot open [^\n]*crt1[^\n]*\.o|unable to find library -lc(?:\s|$)|fatal error: '(?:stdio\.h|stdlib\.h|string\.h|bits/libc-header-start\.h)' file not found`), "wasi-libc"},
}

// MissingTools returns the Debian packages without which a compiler of plugins said
// what it said, with blanks between; "" if it is none of them.
func MissingTools(said string) string {
	var all []string
	for _, p := range missingParts {
		if p.says.MatchString(said) {
			all = append(all, p.without)
		}
	}
	return strings.Join(all, " ")
}

// trial is a program of one line that shows whether a language can be compiled.
type trial struct{ id, name, file, text string }

var trials = []trial{
	{"c", "C", "try.c", "#include <stdio.h>\nint main(void) { return puts(\"\") < 0; }\n"},
	{"cpp", "C++", "try.cpp", "#include <string>\nint main(int argc, char **argv) { return std::string(argv[0]).empty() && argc; }\n"},
	{"go", "Go", "try.go", "package main\n\nfunc main() {}\n"},
}

func (t trial) files() []sandbox.File { return []sandbox.File{{Path: t.file, Data: []byte(t.text)}} }

// lacks returns an [*blame.UnavailableError] if a compiler failed because a part of it is
// missing. Sources can say what compilers say, so that is tried on others.
func (b *Builder) lacks(ctx context.Context, r recipe, files []sandbox.File, said string) error {
	without := MissingTools(said)
	if without == "" {
		return nil
	}
	for _, t := range trials {
		switch plain, err := plan(t.files()); {
		case err != nil || plain.tool.Name != r.tool.Name:
		case len(files) == 1 && string(files[0].Data) == t.text:
			return &blame.UnavailableError{What: "a compiler for plugins", Reason: r.tool.Name + " needs what is not installed: " + without, Remedy: "apt-get install " + without}
		default:
			_, _, err := b.CompilePlugin(ctx, t.files())
			return err
		}
	}
	return nil
}

// Compilers says for each language of plugins whether its sources can be compiled on this machine, and if not what is
// missing. They are tried on a program of one line, once for each version of a compiler.
func (b *Builder) Compilers(ctx context.Context) []judge.Language {
	var all []judge.Language
	for _, t := range trials {
		one := judge.Language{ID: t.id, Name: t.name}
		wasm, c, err := b.try(ctx, t)
		missing, lacks := errors.AsType[*blame.UnavailableError](err)
		switch {
		case lacks:
			one.Unavailable = missing.Reason + ": " + missing.Remedy
		case err != nil:
			one.Unavailable = runner.Clean(err.Error())
		case wasm == nil:
			one.Unavailable = runner.Cut(c.Output, runner.KeptWords)
		default:
			one.Available, one.Version = true, c.Tool
		}
		all = append(all, one)
	}
	return all
}

// try compiles a trial. The tool chain of Go has no parts that could be missing, and takes long.
func (b *Builder) try(ctx context.Context, t trial) ([]byte, judge.Compile, error) {
	if t.id != "go" {
		return b.CompilePlugin(ctx, t.files())
	}
	version, err := b.version(ctx, golang)
	return []byte{}, judge.Compile{Tool: golang.Name + " " + version}, err
}
