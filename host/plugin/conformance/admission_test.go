package conformance_test

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"deepoj/host/plugin"
	"deepoj/host/plugin/conformance"
	"deepoj/host/plugin/plugintest"
	"deepoj/plugins"
	"deepoj/plugins/abi"
)

// vec is a vector of n equal elements.
func vec(n int, element ...byte) []byte {
	return append(binary.AppendUvarint(nil, uint64(n)), bytes.Repeat(element, n)...)
}

// sized is bytes with their length before them.
func sized(b []byte) []byte {
	return append(binary.AppendUvarint(nil, uint64(len(b))), b...)
}

// sec is a section of a module.
type sec struct {
	id   byte
	body []byte
}

// minimal has the sections of a command that does nothing.
func minimal() []sec {
	return []sec{
		{1, []byte{1, 0x60, 0, 0}},
		{3, []byte{1, 0}},
		{7, append(append([]byte{1}, sized([]byte("_start"))...), 0, 0)},
		{10, []byte{1, 2, 0, 0x0b}},
	}
}

// module is the minimal command with some sections in the place of its own, in
// the order of their numbers.
func module(change ...sec) func(*testing.T) []byte {
	return func(*testing.T) []byte {
		all := map[byte][]byte{}
		for _, s := range append(minimal(), change...) {
			all[s.id] = s.body
		}
		out := []byte("\x00asm\x01\x00\x00\x00")
		for id := byte(1); id <= 11; id++ {
			if body, ok := all[id]; ok {
				out = append(append(out, id), sized(body)...)
			}
		}
		if body, ok := all[0]; ok {
			out = append(append(out, 0), sized(body)...)
		}
		return out
	}
}

// code is the code section of one function.
func code(body ...byte) sec { return sec{10, append([]byte{1}, sized(body)...)} }

// bomb reads a hostile module of the runtime's tests.
func bomb(name string) func(*testing.T) []byte {
	return func(t *testing.T) []byte {
		t.Helper()
		f, err := os.Open(filepath.Join("..", "testdata", "bombs", name+".wasm.gz"))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		z, err := gzip.NewReader(f)
		if err != nil {
			t.Fatal(err)
		}
		wasm, err := io.ReadAll(z)
		if err != nil {
			t.Fatal(err)
		}
		return wasm
	}
}

// admissionViolations are modules that are not admitted.
var admissionViolations = map[string]violation{
	"module-size":   {wasm: module(sec{0, append(sized([]byte("x")), make([]byte, 16<<20)...)})},
	"magic":         {wasm: func(*testing.T) []byte { return []byte("(module)") }},
	"malformed":     {wasm: func(t *testing.T) []byte { t.Helper(); return module()(t)[:30] }},
	"types":         {wasm: module(sec{1, vec(2001, 0x60, 0, 0)})},
	"signature":     {wasm: module(sec{1, append(append([]byte{1, 0x60}, vec(129, 0x7f)...), 0)})},
	"imports":       {wasm: module(sec{2, vec(201, 0, 0, 0, 0)})},
	"import":        {wasm: bomb("unknown-import")},
	"functions":     {wasm: module(sec{3, vec(20_001, 0)})},
	"tables":        {wasm: module(sec{4, vec(2, 0x70, 0, 1)})},
	"table-size":    {wasm: bomb("table-min-134M")},
	"table-grow":    {wasm: bomb("table-grow")},
	"elements":      {wasm: module(sec{4, []byte{1, 0x70, 0, 1}}, sec{9, append([]byte{1, 0, 0x41, 0, 0x0b}, vec(200_001, 0)...)})},
	"memories":      {wasm: module(sec{5, vec(2, 0, 1)})},
	"memory-size":   {wasm: bomb("mem-min-65536")},
	"globals":       {wasm: module(sec{6, vec(10_001, 0x7f, 0, 0x41, 0, 0x0b)})},
	"exports":       {wasm: bomb("exports-1M")},
	"export":        {wasm: module(sec{7, append(append(append([]byte{2}, sized([]byte("_start"))...), 0, 0), append(sized([]byte("judge.fuel")), 0, 0)...)})},
	"entry":         {wasm: module(sec{7, append(append([]byte{1}, sized([]byte("main"))...), 0, 0)})},
	"data-segments": {wasm: module(sec{11, vec(100_001, 1, 0)})},
	"body-size":     {wasm: module(code(append(append([]byte{0}, bytes.Repeat([]byte{1}, 256<<10)...), 0x0b)...))},
	"locals":        {wasm: bomb("locals-4G")},
	"depth":         {wasm: module(code(append(append([]byte{0}, bytes.Repeat([]byte{2, 0x40}, 2001)...), bytes.Repeat([]byte{0x0b}, 2002)...)...))},
	"br-table":      {wasm: module(code(append(append([]byte{0, 0x41, 0, 0x0e}, vec(4097, 0)...), 0, 0x0b)...))},
	"instruction":   {wasm: module(code(0, 0xfe, 3, 0, 0x0b))},
	"invalid":       {wasm: module(code(0, 0x6a, 0x0b))},
	"compile-cost": {
		wasm: func(t *testing.T) []byte {
			t.Helper()
			wasm, err := plugins.Checker("tokens")
			if err != nil {
				t.Fatal(err)
			}
			return wasm
		},
		run: func(t *testing.T, wasm []byte, o conformance.Options) conformance.Report {
			t.Helper()
			built, err := plugintest.Open()
			if err != nil {
				t.Fatal(err)
			}
			tight, err := plugin.New(plugin.Config{CacheDir: t.TempDir(), Exe: built.Exe, CompileBytes: 1 << 20, CompileCPU: time.Minute})
			if err != nil {
				t.Fatal(err)
			}
			defer tight.Close()
			r, err := conformance.Run(t.Context(), tight, wasm, o)
			if err != nil {
				t.Fatal(err)
			}
			return r
		},
	},
	"manifest": {wasm: module(sec{0, append(sized([]byte(abi.Section)), `{"judge":2}`...)})},
}

// refused are the admissionViolations with what they break: the rule that they
// are named after.
func refused() map[string]violation {
	all := map[string]violation{}
	for rule, v := range admissionViolations {
		v.want = []string{rule}
		v.opts = func(*testing.T) conformance.Options { return conformance.Options{Manifest: checker(abi.Testlib1)} }
		all[rule] = v
	}
	return all
}

func TestEachModuleThatIsNotAdmittedIsCaughtByItsRule(t *testing.T) {
	t.Parallel()
	caught(t, refused())
}
