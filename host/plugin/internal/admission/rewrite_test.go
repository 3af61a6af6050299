package admission

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
	"github.com/tetratelabs/wazero/sys"

	"deepoj/host/plugin/internal/fuel"
	"deepoj/host/plugin/internal/op"
	"deepoj/host/plugin/internal/op/optest"
)

var testLimits = Limits{ModuleBytes: 16 << 20, MemoryPages: 64}

// outcome is what a module does in the plain engine.
type outcome struct {
	valid  bool
	exit   uint32
	trap   string
	output string
	memory string // its first page at the end
	fuel   int64  // left, of rewritten modules
	spent  bool   // the fuel
}

// outside runs a module in the engine as it is, without workers: units are the fuel that a
// rewritten module gets.
func outside(t *testing.T, wasm []byte, units int64) (o outcome) {
	t.Helper()
	ctx := t.Context()
	rt := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigCompiler().WithMemoryLimitPages(testLimits.MemoryPages))
	defer rt.Close(ctx)
	wasi_snapshot_preview1.MustInstantiate(ctx, rt)
	asked := false
	tick := func(context.Context) int64 {
		if asked {
			o.spent = true
			return fuel.Refused
		}
		asked = true
		return units
	}
	if _, err := rt.NewHostModuleBuilder(fuel.TickModule).NewFunctionBuilder().WithFunc(tick).Export(fuel.TickName).Instantiate(ctx); err != nil {
		t.Fatal(err)
	}
	module, err := rt.CompileModule(ctx, wasm)
	if err != nil {
		return o
	}
	o.valid = true
	var out bytes.Buffer
	guest, err := rt.InstantiateModule(ctx, module, wazero.NewModuleConfig().WithName("").WithStartFunctions().WithStdout(&out))
	if err == nil {
		var left api.Global
		if left = guest.ExportedGlobal(fuel.Counter); left != nil {
			defer func() { o.fuel = int64(left.Get()) }()
		}
		if start := guest.ExportedFunction(op.EntryPoint); start != nil {
			_, err = start.Call(ctx)
		}
	}
	var exit *sys.ExitError
	switch {
	case errors.As(err, &exit):
		o.exit = exit.ExitCode()
	case err != nil:
		o.trap, _, _ = strings.Cut(err.Error(), "\n")
	}
	o.output = out.String()
	if guest != nil {
		if memory := guest.ExportedMemory("memory"); memory != nil {
			page, _ := memory.Read(0, min(memory.Size(), 1<<16))
			o.memory = string(page)
		}
	}
	return o
}

// compare runs a module as it is and rewritten, and wants the same of both. It
// returns the fuel that it took.
func compare(t *testing.T, wasm []byte, fuel int64) int64 {
	t.Helper()
	parts, refusal := Scan(wasm, testLimits)
	if refusal != nil {
		return 0
	}
	counting, refusal := Rewrite(parts)
	if refusal != nil {
		return 0
	}
	got := outside(t, counting, fuel)
	if got.spent {
		return fuel // the original may never end
	}
	want := outside(t, wasm, 0)
	if strings.Contains(want.trap+got.trap, "stack overflow") {
		return 0 // frames have other sizes
	}
	left := got.fuel
	got.fuel = 0
	if got != want {
		got.memory, want.memory = fmt.Sprintf("%d bytes, same: %t", len(got.memory), got.memory == want.memory), fmt.Sprintf("%d bytes", len(want.memory))
		t.Fatalf("rewritten it is %+v, as it was %+v\noriginal  %x\nrewritten %x", got, want, wasm, counting)
	}
	return fuel - left
}

// FuzzRewrite feeds any bytes to the scan and the rewriter. What they let pass
// must be valid exactly if the original is, and do the same.
func FuzzRewrite(f *testing.F) {
	bombs, err := filepath.Glob("../../testdata/bombs/*.wasm.gz")
	if err != nil || len(bombs) == 0 {
		f.Fatalf("%d hostile modules, %v", len(bombs), err)
	}
	for _, path := range bombs {
		if wasm := unpack(f, path); len(wasm) < 1<<10 {
			f.Add(wasm)
		}
	}
	for seed := range 8 {
		f.Add(optest.Compose(bytes.Repeat([]byte{byte(seed), 7, 77, 177, byte(31 * seed), 5}, 20)))
	}
	f.Fuzz(func(t *testing.T, wasm []byte) {
		if len(wasm) > 8<<10 {
			return
		}
		compare(t, wasm, 1_000_000)
	})
}

// unpack reads a compressed module.
func unpack(f *testing.F, path string) []byte {
	f.Helper()
	file, err := os.Open(path)
	if err != nil {
		f.Fatal(err)
	}
	defer file.Close()
	z, err := gzip.NewReader(file)
	if err != nil {
		f.Fatal(err)
	}
	wasm, err := io.ReadAll(z)
	if err != nil {
		f.Fatal(err)
	}
	return wasm
}

// FuzzRewriteKeepsMeaning composes valid programs, which reach deeper than any
// bytes.
func FuzzRewriteKeepsMeaning(f *testing.F) {
	for _, data := range optest.Seeds(64, 7) {
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		wasm := optest.Compose(data)
		if _, refusal := Scan(wasm, testLimits); refusal != nil {
			t.Fatalf("%v: %x", refusal, wasm)
		}
		if o := outside(t, accepted(t, wasm), 1_000_000); !o.valid {
			t.Fatalf("the composed module is not valid: %x", wasm)
		}
		if first, second := compare(t, wasm, 1_000_000), compare(t, wasm, 1_000_000); first != second {
			t.Fatalf("it takes %d units, then %d: %x", first, second, wasm)
		}
	})
}

// accepted returns a rewritten module.
func accepted(t *testing.T, wasm []byte) []byte {
	t.Helper()
	parts, refusal := Scan(wasm, testLimits)
	if refusal != nil {
		t.Fatal(refusal)
	}
	counting, refusal := Rewrite(parts)
	if refusal != nil {
		t.Fatal(refusal)
	}
	return counting
}

func TestAGuestCannotReachItsFuel(t *testing.T) {
	// A module without globals and functions beside _start that uses the
	// numbers that the rewriter gives away.
	tests := map[string][]byte{
		"the counter by number":         {op.I64Const, 0x7f, op.GlobalSet, 0, op.End},
		"the counter's value":           {op.GlobalGet, 0, op.Drop, op.End},
		"the function that asks":        {op.Call, 1, op.End},
		"the import that asks":          {op.Call, 2, op.End},
		"a type behind the last":        {op.Block, 1, op.End, op.End},
		"the type of the import":        {op.I32Const, 0, op.CallTable, 1, 0, op.End},
		"the scratch local":             {op.LocalGet, 0, op.Drop, op.I32Const, 0, op.I32Const, 0, op.I32Const, 0, op.More, op.MemoryFill, 0, op.End},
		"a reference to the asker":      {op.RefFunc, 1, op.Drop, op.End},
		"a number of more than 32 bits": {op.Call, 0xff, 0xff, 0xff, 0xff, 0x1f, op.End},
	}
	for name, code := range tests {
		t.Run(name, func(t *testing.T) {
			parts, refusal := Scan(tiny(code), testLimits)
			if refusal == nil {
				_, refusal = Rewrite(parts)
			}
			if refusal == nil || refusal.Rule != "malformed" {
				t.Errorf("got %v, want that it is malformed", refusal)
			}
		})
	}
}

func TestEveryTurnOfALoopCosts(t *testing.T) {
	tests := map[string][]byte{
		"a loop":                       {op.Loop, op.Void, op.Branch, 0, op.End, op.End},
		"a loop with a branch table":   {op.Loop, op.Void, op.Block, op.Void, op.I32Const, 0, op.BranchTable, 1, 0, 0, op.End, op.Branch, 0, op.End, op.End},
		"a branch table to the head":   {op.Loop, op.Void, op.I32Const, 0, op.BranchTable, 1, 0, 0, op.End, op.End},
		"a loop in a loop":             {op.Loop, op.Void, op.Loop, op.Void, op.Branch, 1, op.End, op.End, op.End},
		"a function that calls itself": {op.Call, 0, op.Call, 0, op.End},
		"filling memory":               {op.Loop, op.Void, op.I32Const, 0, op.I32Const, 0, op.I32Const, 0x80, 0x80, 0x04, op.More, op.MemoryFill, 0, op.Branch, 0, op.End, op.End},
	}
	for name, code := range tests {
		t.Run(name, func(t *testing.T) {
			if o := outside(t, accepted(t, tiny(code)), 1_000_000); !o.valid || !o.spent && !strings.Contains(o.trap, "stack overflow") {
				t.Errorf("got %+v, want that it runs out of fuel", o)
			}
		})
	}
}

func TestABlockBehindABranchTablePaysForItself(t *testing.T) {
	// A loop of two parts, like a function of Go: the first goes to the second
	// a thousand times, and the second is long.
	part := bytes.Repeat([]byte{op.I32Const, 1, op.Drop}, 1000)
	code := []byte{
		op.Loop, op.Void, op.Block, op.Void, op.Block, op.Void,
		op.LocalGet, 0, op.I32Const, 0xe8, 0x07, optest.I32GreatEqual, op.BranchTable, 1, 0, 1, op.End,
		op.LocalGet, 0, op.I32Const, 1, optest.I32Add, op.LocalSet, 0, op.Branch, 1, op.End,
	}
	code = append(append(code, part...), op.End, op.End)
	spent := compare(t, tinyWithLocal(code), 10_000_000)
	if spent < 10_000 || spent > 100_000 {
		t.Errorf("a thousand short turns and a long one cost %d units", spent)
	}
}

func TestWhatStandsBehindALoopIsPaidOnce(t *testing.T) {
	code := []byte{
		op.Loop, op.Void, op.LocalGet, 0, op.I32Const, 1, optest.I32Add, op.LocalTee, 0, op.I32Const, 0xe8, 0x07, optest.I32LessU, op.BranchIf, 0, op.End,
	}
	code = append(append(code, bytes.Repeat([]byte{op.I32Const, 1, op.Drop}, 1000)...), op.End)
	if spent := compare(t, tinyWithLocal(code), 10_000_000); spent < 10_000 || spent > 20_000 {
		t.Errorf("a thousand short turns and a long end cost %d units", spent)
	}
}

// tiny returns a module of one function, _start, with a page of memory and a
// table.
func tiny(code []byte) []byte { return tinyModule(append([]byte{0}, code...)) }

// tinyWithLocal is the same with a 32-bit local.
func tinyWithLocal(code []byte) []byte { return tinyModule(append([]byte{1, 1, op.I32}, code...)) }

func tinyModule(body []byte) []byte {
	var w optest.Writer
	w.Section(op.SectionType, []byte{1, op.Func, 0, 0})
	w.Section(op.SectionFunction, []byte{1, 0})
	w.Section(op.SectionTable, []byte{1, 0x70, 0, 1})
	w.Section(op.SectionMemory, []byte{1, 0, 1})
	w.Section(op.SectionExport, append(append([]byte{1}, op.AppendName(nil, op.EntryPoint)...), 0, 0))
	w.Section(op.SectionCode, append(op.AppendU32([]byte{1}, uint32(len(body))), body...))
	return w.Module()
}
