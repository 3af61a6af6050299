package judging_test

import (
	"errors"
	"strings"
	"testing"

	"deepoj/host/judging"
	"deepoj/host/judging/blame"
	"deepoj/host/judging/build"
	"deepoj/host/judging/judgingtest"
	"deepoj/sandbox"
)

// What clang 14 says without a part of its tool chain for WASI.
func TestWhatACompilerOfPluginsLacksIsNamed(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]string{
		"clang: error: unable to execute command: Executable \"wasm-ld-14\" doesn't exist!":                                                  "lld",
		"wasm-ld-14: error: cannot open crt1.o: No such file or directory\nwasm-ld-14: error: unable to find library -lc":                    "wasi-libc",
		"/usr/include/stdio.h:27:10: fatal error: 'bits/libc-header-start.h' file not found":                                                 "wasi-libc",
		"wasm-ld-14: error: unable to find library -lc++abi\nclang: error: linker command failed":                                            "libc++abi-14-dev-wasm32",
		"wasm-ld-14: error: unable to find library -lc++\nwasm-ld-14: error: unable to find library -lc++abi\nclang: error":                  "libc++abi-14-dev-wasm32 libc++-14-dev-wasm32",
		"t.cpp:1:10: fatal error: 'string' file not found":                                                                                   "libc++-14-dev-wasm32",
		"wasm-ld-14: error: cannot open /usr/lib/llvm-14/lib/clang/14.0.6/lib/wasi/libclang_rt.builtins-wasm32.a: No such file or directory": "libclang-rt-14-dev-wasm32",
		"a.cpp:1:10: fatal error: 'testlib.h' file not found":                                                                                "",
		"a.c:3:2: error: use of undeclared identifier 'wasm'":                                                                                "",
	} {
		if got := build.MissingTools(said); got != want {
			t.Errorf("%q: %q, want %q", said, got, want)
		}
	}
}

func TestCompilersOfPluginsAreTriedOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, want := range []int64{2, 0} { // how often one is run: the second time everything is in the cache
		j, err := judgingtest.Get(t).Open(func(c *judging.Config) { c.CacheDir = dir })
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range j.Compilers(t.Context()) {
			if !l.Available || l.Version == "" {
				t.Errorf("%+v", l)
			}
		}
		if got := j.PluginsCompiled(); got != want {
			t.Errorf("compilers ran %d times, want %d", got, want)
		}
	}
}

// Sources that say what a broken compiler says are at fault themselves.
func TestSourcesCannotPretendThatACompilerIsMissing(t *testing.T) {
	t.Parallel()
	const lie = "#error unable to find library -lc++abi\nint main() {}\n"
	_, c, err := judgingtest.Get(t).Judge.CompilePlugin(t.Context(), []sandbox.File{source("a.cpp", lie)})
	if missing, lies := errors.AsType[*blame.UnavailableError](err); lies || err != nil || !strings.Contains(c.Output, "unable to find library") {
		t.Errorf("%v, %v: %s", missing, err, c.Output)
	}
}
