package plugin

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
)

var testLimits = scanLimits{moduleBytes: 16 << 20, memoryPages: 64}

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

// outside runs a module in the engine as it is, without workers: fuel is what a
// rewritten module gets.
func outside(t *testing.T, wasm []byte, fuel int64) (o outcome) {
	t.Helper()
	ctx := t.Context()
	rt := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigCompiler().WithMemoryLimitPages(testLimits.memoryPages))
	defer rt.Close(ctx)
	wasi_snapshot_preview1.MustInstantiate(ctx, rt)
	asked := false
	tick := func(context.Context) int64 {
		if asked {
			o.spent = true
			return refused
		}
		asked = true
		return fuel
	}
	if _, err := rt.NewHostModuleBuilder(tickModule).NewFunctionBuilder().WithFunc(tick).Export(tickName).Instantiate(ctx); err != nil {
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
		if left = guest.ExportedGlobal(fuelName); left != nil {
			defer func() { o.fuel = int64(left.Get()) }()
		}
		if start := guest.ExportedFunction(entryPoint); start != nil {
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
	parts, refusal := scan(wasm, testLimits)
	if refusal != nil {
		return 0
	}
	counting, refusal := rewrite(parts)
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
	bombs, err := filepath.Glob("testdata/bombs/*.wasm.gz")
	if err != nil || len(bombs) == 0 {
		f.Fatalf("%d hostile modules, %v", len(bombs), err)
	}
	for _, path := range bombs {
		if wasm := unpack(f, path); len(wasm) < 1<<10 {
			f.Add(wasm)
		}
	}
	for seed := range 8 {
		f.Add(compose(bytes.Repeat([]byte{byte(seed), 7, 77, 177, byte(31 * seed), 5}, 20)))
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
	for seed := range 64 {
		data := make([]byte, 40+7*seed)
		x := uint32(seed)*2654435761 + 1
		for i := range data {
			x ^= x << 13
			x ^= x >> 17
			x ^= x << 5
			data[i] = byte(x)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		wasm := compose(data)
		if _, refusal := scan(wasm, testLimits); refusal != nil {
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
	parts, refusal := scan(wasm, testLimits)
	if refusal != nil {
		t.Fatal(refusal)
	}
	counting, refusal := rewrite(parts)
	if refusal != nil {
		t.Fatal(refusal)
	}
	return counting
}

func TestAGuestCannotReachItsFuel(t *testing.T) {
	// A module without globals and functions beside _start that uses the
	// numbers that the rewriter gives away.
	tests := map[string][]byte{
		"the counter by number":         {opI64Const, 0x7f, opGlobalSet, 0, opEnd},
		"the counter's value":           {opGlobalGet, 0, opDrop, opEnd},
		"the function that asks":        {opCall, 1, opEnd},
		"the import that asks":          {opCall, 2, opEnd},
		"a type behind the last":        {opBlock, 1, opEnd, opEnd},
		"the type of the import":        {opI32Const, 0, opCallTable, 1, 0, opEnd},
		"the scratch local":             {opLocalGet, 0, opDrop, opI32Const, 0, opI32Const, 0, opI32Const, 0, opMore, moreMemoryFill, 0, opEnd},
		"a reference to the asker":      {opRefFunc, 1, opDrop, opEnd},
		"a number of more than 32 bits": {opCall, 0xff, 0xff, 0xff, 0xff, 0x1f, opEnd},
	}
	for name, code := range tests {
		t.Run(name, func(t *testing.T) {
			parts, refusal := scan(tiny(code), testLimits)
			if refusal == nil {
				_, refusal = rewrite(parts)
			}
			if refusal == nil || refusal.Rule != "malformed" {
				t.Errorf("got %v, want that it is malformed", refusal)
			}
		})
	}
}

func TestEveryTurnOfALoopCosts(t *testing.T) {
	tests := map[string][]byte{
		"a loop":                       {opLoop, typeVoid, opBranch, 0, opEnd, opEnd},
		"a loop with a branch table":   {opLoop, typeVoid, opBlock, typeVoid, opI32Const, 0, opBranchTable, 1, 0, 0, opEnd, opBranch, 0, opEnd, opEnd},
		"a branch table to the head":   {opLoop, typeVoid, opI32Const, 0, opBranchTable, 1, 0, 0, opEnd, opEnd},
		"a loop in a loop":             {opLoop, typeVoid, opLoop, typeVoid, opBranch, 1, opEnd, opEnd, opEnd},
		"a function that calls itself": {opCall, 0, opCall, 0, opEnd},
		"filling memory":               {opLoop, typeVoid, opI32Const, 0, opI32Const, 0, opI32Const, 0x80, 0x80, 0x04, opMore, moreMemoryFill, 0, opBranch, 0, opEnd, opEnd},
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
	part := bytes.Repeat([]byte{opI32Const, 1, opDrop}, 1000)
	code := []byte{
		opLoop, typeVoid, opBlock, typeVoid, opBlock, typeVoid,
		opLocalGet, 0, opI32Const, 0xe8, 0x07, opI32GreatEqual, opBranchTable, 1, 0, 1, opEnd,
		opLocalGet, 0, opI32Const, 1, opI32Add, opLocalSet, 0, opBranch, 1, opEnd,
	}
	code = append(append(code, part...), opEnd, opEnd)
	spent := compare(t, tinyWithLocal(code), 10_000_000)
	if spent < 10_000 || spent > 100_000 {
		t.Errorf("a thousand short turns and a long one cost %d units", spent)
	}
}

func TestWhatStandsBehindALoopIsPaidOnce(t *testing.T) {
	code := []byte{
		opLoop, typeVoid, opLocalGet, 0, opI32Const, 1, opI32Add, opLocalTee, 0, opI32Const, 0xe8, 0x07, opI32LessU, opBranchIf, 0, opEnd,
	}
	code = append(append(code, bytes.Repeat([]byte{opI32Const, 1, opDrop}, 1000)...), opEnd)
	if spent := compare(t, tinyWithLocal(code), 10_000_000); spent < 10_000 || spent > 20_000 {
		t.Errorf("a thousand short turns and a long end cost %d units", spent)
	}
}

// tiny returns a module of one function, _start, with a page of memory and a
// table.
func tiny(code []byte) []byte { return tinyModule(append([]byte{0}, code...)) }

// tinyWithLocal is the same with a 32-bit local.
func tinyWithLocal(code []byte) []byte { return tinyModule(append([]byte{1, 1, typeI32}, code...)) }

func tinyModule(body []byte) []byte {
	var w writer
	w.section(sectionType, []byte{1, typeFunc, 0, 0})
	w.section(sectionFunction, []byte{1, 0})
	w.section(sectionTable, []byte{1, 0x70, 0, 1})
	w.section(sectionMemory, []byte{1, 0, 1})
	w.section(sectionExport, append(append([]byte{1}, appendName(nil, entryPoint)...), 0, 0))
	w.section(sectionCode, append(appendU32([]byte{1}, uint32(len(body))), body...))
	return w.module()
}
