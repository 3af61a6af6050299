package plugin_test

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"deepoj/host/plugin"
	"deepoj/plugins/abi"
)

// bomb reads a hostile module.
func bomb(t *testing.T, name string) []byte {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", "bombs", name+".wasm.gz"))
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

// TestHostileModulesAreContained admits and calls every hostile module, and
// after each asks an honest checker. What may happen is what testdata says:
//
//	reject_at_admission      it is refused without being compiled
//	reject_or_compile_limit  it is refused, by the scan or by the compiler's limits
//	run_must_hit_limit       if it is admitted, its call fails
//	run_contained_memory     if it is admitted, it gets no more memory than it may
//	harmless                 if it is admitted, its call ends
func TestHostileModulesAreContained(t *testing.T) {
	data, err := os.ReadFile("testdata/bombs/expected.json")
	if err != nil {
		t.Fatal(err)
	}
	var expected map[string]string
	if err := json.Unmarshal(data, &expected); err != nil {
		t.Fatal(err)
	}
	if len(expected) < 46 {
		t.Fatalf("%d hostile modules, want 46 at least", len(expected))
	}
	const memoryMiB = 256
	r := open(t, plugin.Config{MemoryMiB: memoryMiB, MaxMemoryMiB: 1024, FuelM: 100, OutputKiB: 256, CompileCPU: time.Second, Workers: 2})
	honest, err := r.Load(t.Context(), accepting, checker(abi.Testlib1, abi.Limits{}))
	if err != nil {
		t.Fatal(err)
	}
	for name, class := range expected {
		t.Run(name, func(t *testing.T) {
			how := detonate(t, r, bomb(t, name))
			t.Log(how)
			compiled := !errors.As(how.err, &how.refusal) || how.refusal.Rule == "compile-cost" || how.refusal.Rule == "invalid"
			refused := how.refusal != nil
			switch class {
			case "reject_at_admission":
				if compiled {
					t.Errorf("it was compiled: %v", how.err)
				}
			case "reject_or_compile_limit":
				if !refused {
					t.Errorf("it was admitted: %v", how.err)
				}
			case "run_must_hit_limit":
				if !refused && how.fault == nil {
					t.Errorf("it ended well: %+v", how.opinion)
				}
			case "run_contained_memory":
				if how.opinion.MemoryBytes > memoryMiB<<20 {
					t.Errorf("it had %d bytes", how.opinion.MemoryBytes)
				}
			case "harmless":
				if !refused && how.err != nil {
					t.Error(how.err)
				}
			default:
				t.Errorf("unknown class %q", class)
			}
			if o, err := r.Check(t.Context(), honest, check(t, "", "", "")); err != nil || o.Outcome != plugin.Accepted {
				t.Errorf("an honest checker afterwards: %+v, %v", o, err)
			}
		})
	}
}

// result is what became of a hostile module.
type result struct {
	err     error
	refusal *plugin.Refusal
	fault   *plugin.Error
	opinion plugin.Opinion
}

func (r result) String() string {
	if r.err != nil {
		return r.err.Error()
	}
	return string(r.opinion.Outcome)
}

// detonate admits and calls a module.
func detonate(t *testing.T, r *plugin.Runtime, wasm []byte) (how result) {
	t.Helper()
	m, err := r.Load(t.Context(), wasm, checker(abi.Testlib1, abi.Limits{}))
	if err == nil {
		how.opinion, err = r.Check(t.Context(), m, check(t, "1\n", "2\n", "3\n"))
	}
	how.err = err
	errors.As(err, &how.refusal)
	errors.As(err, &how.fault)
	if err != nil && how.refusal == nil && how.fault == nil {
		t.Errorf("the platform failed: %v", err)
	}
	return how
}

// accepting is a module that does nothing, and so accepts.
var accepting = module(
	section(1, 1, 0x60, 0, 0),
	section(3, 1, 0),
	section(7, append([]byte{1}, exported("_start", 0)...)...),
	section(10, 1, 2, 0, 0x0b),
)

// module puts sections together.
func module(sections ...[]byte) []byte {
	return []byte("\x00asm\x01\x00\x00\x00" + string(join(sections)))
}

func join(parts [][]byte) []byte {
	var all []byte
	for _, p := range parts {
		all = append(all, p...)
	}
	return all
}

// section makes a section of less than 128 bytes.
func section(id byte, content ...byte) []byte {
	return append([]byte{id, byte(len(content))}, content...)
}

// exported makes an export of a function.
func exported(name string, function byte) []byte {
	return append(append([]byte{byte(len(name))}, name...), 0, function)
}

func TestALoopInTheStartSectionIsContained(t *testing.T) {
	r := open(t, plugin.Config{FuelM: 50, Workers: 1})
	loop := module(
		section(1, 1, 0x60, 0, 0),
		section(3, 1, 0),
		section(7, append([]byte{1}, exported("_start", 0)...)...),
		section(8, 0),
		section(10, 1, 7, 0, 0x03, 0x40, 0x0c, 0, 0x0b, 0x0b),
	)
	if how := detonate(t, r, loop); !errors.Is(how.err, plugin.ErrFuel) {
		t.Errorf("got %v, want %v", how.err, plugin.ErrFuel)
	}
}

func TestRefusalsSayRuleOffenderAndRemedy(t *testing.T) {
	r := open(t, plugin.Config{Workers: 1})
	tests := map[string]struct {
		wasm                   []byte
		rule, offender, remedy string
	}{
		"text":                       {[]byte("(module)"), "magic", "28 6d", "WebAssembly"},
		"nothing":                    {nil, "magic", "begins with", "WebAssembly"},
		"half a module":              {accepting[:len(accepting)-3], "malformed", "byte", "whole"},
		"an import that no host has": {bomb(t, "unknown-import"), "import", `"evil"."syscall"`, "fd_write"},
		"a library":                  {module(section(1, 1, 0x60, 0, 0)), "entry", "_start", "command"},
		"too many locals":            {bomb(t, "locals-4G"), "locals", "function 0: 4294967295", "memory"},
		"a growing table":            {bomb(t, "table-grow"), "table-grow", "table.grow", "build time"},
		"a module that does not validate": {
			module(
				section(1, 1, 0x60, 0, 0),
				section(3, 1, 0),
				section(7, append([]byte{1}, exported("_start", 0)...)...),
				section(10, 1, 3, 0, 0x6a, 0x0b),
			), "invalid", "i32.add", "compiler",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := r.Load(t.Context(), tt.wasm, checker(abi.Testlib1, abi.Limits{}))
			var refusal *plugin.Refusal
			if !errors.As(err, &refusal) {
				t.Fatalf("got %v, want a refusal", err)
			}
			if refusal.Rule != tt.rule || !strings.Contains(refusal.Offender, tt.offender) || !strings.Contains(refusal.Remedy, tt.remedy) {
				t.Errorf("got rule %q offender %q remedy %q, want %q, %q, %q", refusal.Rule, refusal.Offender, refusal.Remedy, tt.rule, tt.offender, tt.remedy)
			}
		})
	}
}
