package worker

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"deepoj/host/plugin/internal/admission"
	"deepoj/host/plugin/internal/op"
	"deepoj/host/plugin/internal/op/optest"
	"deepoj/host/plugin/internal/wasi"
	"deepoj/host/plugin/internal/wire"
)

// stay puts a rewritten module where a server finds it.
func stay(t *testing.T, wasm []byte) (dir string) {
	t.Helper()
	parts, refusal := admission.Scan(wasm, admission.Limits{ModuleBytes: 16 << 20, MemoryPages: 64})
	if refusal != nil {
		t.Fatal(refusal)
	}
	counting, refusal := admission.Rewrite(parts)
	if refusal != nil {
		t.Fatal(refusal)
	}
	dir = t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, wire.ModuleFile), counting, 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// newTestServer returns a worker in this process.
func newTestServer(t *testing.T) *server {
	t.Helper()
	mem, err := newMemory(16 << 20)
	if err != nil {
		t.Fatal(err)
	}
	s, err := newServer(t.Context(), t.TempDir(), mem)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.engine.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
	return s
}

// called is what a call can tell.
type called struct {
	wire.Reply
	blob string
}

func callIn(t *testing.T, s *server, dir string) called {
	t.Helper()
	a, blob, err := s.call(wire.Request{Dir: dir, Args: []string{"guest"}, MemoryBytes: 16 << 20, Fuel: 1_000_000, OutputBytes: 1 << 16}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	a.CPUNanos = 0
	return called{a, string(blob)}
}

// FuzzAnInstanceUsedAgainIsLikeANewOne calls composed programs, which change a
// global and the memory in every way, twice in one worker and once in a new one.
func FuzzAnInstanceUsedAgainIsLikeANewOne(f *testing.F) {
	for _, data := range optest.Seeds(24, 11) {
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		dir := stay(t, optest.Compose(data))
		used := newTestServer(t)
		first := callIn(t, used, dir)
		again := callIn(t, used, dir)
		if first.Fault == wire.FaultNone && used.ready[dir].kept == nil {
			t.Error("the instance was not kept")
		}
		if !reflect.DeepEqual(again, first) {
			t.Errorf("the second time it does %+v, the first time it did %+v", again, first)
		}
		if fresh := callIn(t, newTestServer(t), dir); !reflect.DeepEqual(fresh, again) {
			t.Errorf("in a new worker it does %+v, in the used one %+v", fresh, again)
		}
	})
}

// Instructions of the programs below.
const (
	opI32Wrap     = 0xa7 // from 64 bits
	opF32Bits     = 0xbc
	opF64Bits     = 0xbd
	opF32Add      = 0x92
	opF64Add      = 0xa0
	vectorConst   = 12
	vectorLane    = 22 // of 16, unsigned
	typeF32       = 0x7d
	typeV128      = 0x7b
	typeFuncRef   = 0x70
	typeExternRef = 0x6f
	passive       = 1
	dataCountOne  = 1
)

// program is a module that says something about its state by its exit code, and
// then changes it.
type program struct {
	globals []byte // vector of globals
	tables  []byte
	element []byte
	data    []byte
	say     []byte // pushes a 32-bit number
	change  []byte
	before  []byte // the start section's function; none if empty
}

func (p program) module() []byte {
	var w optest.Writer
	w.Section(op.SectionType, []byte{2, op.Func, 0, 0, op.Func, 1, op.I32, 0})
	w.Section(op.SectionImport, append(op.AppendName(op.AppendName([]byte{1}, wasi.Module), "proc_exit"), 0, 1))
	w.Section(op.SectionFunction, []byte{2, 0, 0})
	if p.tables != nil {
		w.Section(op.SectionTable, p.tables)
	}
	w.Section(op.SectionMemory, []byte{1, 1, 1, 4})
	if p.globals != nil {
		w.Section(op.SectionGlobal, p.globals)
	}
	w.Section(op.SectionExport, append(append(append([]byte{2}, op.AppendName(nil, op.EntryPoint)...), 0, 1), append(op.AppendName(nil, "memory"), 2, 0)...))
	if p.before != nil {
		w.Section(op.SectionStart, []byte{2})
	}
	if p.element != nil {
		w.Section(op.SectionElement, p.element)
	}
	if p.data != nil {
		w.Section(op.SectionDataCount, []byte{dataCountOne})
	}
	start := append([]byte{1, 1, op.I32}, p.say...)
	start = append(append(append(start, op.LocalSet, 0), p.change...), op.LocalGet, 0, op.Call, 0, op.End)
	before := append(append([]byte{0}, p.before...), op.End)
	w.Section(op.SectionCode, append(append(append(op.AppendU32([]byte{2}, uint32(len(start))), start...), byte(len(before))), before...))
	if p.data != nil {
		w.Section(op.SectionData, p.data)
	}
	return w.Module()
}

func TestNothingThatACallChangesIsSeenByTheNext(t *testing.T) {
	t.Parallel()
	counter := func(kind byte, zero, one, add, bits []byte) program {
		get, set := []byte{op.GlobalGet, 0}, []byte{op.GlobalSet, 0}
		say := append(append([]byte{}, get...), bits...)
		change := append(append(append(append([]byte{}, get...), one...), add...), set...)
		return program{globals: append(append([]byte{1, kind, 1}, zero...), op.End), say: say, change: change}
	}
	many := []byte{admission.MaxState}
	for range admission.MaxState {
		many = append(many, op.I32, 1, op.I32Const, 0, op.End)
	}
	vector := append([]byte{op.Vector, vectorConst}, make([]byte, 16)...)
	full := append([]byte{op.Vector, vectorConst}, "0123456789abcdef"...)
	funcTable, oneFunction := []byte{1, typeFuncRef, 0, 1}, []byte{1, passive, 0, 1, 1}
	isNull := []byte{op.I32Const, 0, op.TableGet, 0, op.RefIsNull}
	for _, c := range []struct {
		name string
		program
		kept bool // whether the instance is worth keeping
	}{
		{"an i32 global", counter(op.I32, []byte{op.I32Const, 0}, []byte{op.I32Const, 1}, []byte{optest.I32Add}, nil), true},
		{"an i64 global", counter(op.I64, []byte{op.I64Const, 0}, []byte{op.I64Const, 1}, []byte{op.I64Add}, []byte{opI32Wrap}), true},
		{"an f32 global", counter(typeF32, []byte{op.F32Const, 0, 0, 0, 0}, []byte{op.F32Const, 0, 0, 0x80, 0x3f}, []byte{opF32Add}, []byte{opF32Bits}), true},
		{"an f64 global", counter(op.F64, []byte{op.F64Const, 0, 0, 0, 0, 0, 0, 0, 0}, []byte{op.F64Const, 1, 0, 0, 0, 0, 0, 0xf0, 0x3f}, []byte{opF64Add}, []byte{opF64Bits, opI32Wrap}), true},
		{"a vector global", program{
			globals: append(append([]byte{1, typeV128, 1}, vector...), op.End), say: []byte{op.GlobalGet, 0, op.Vector, vectorLane, 3},
			change: append(append([]byte{}, full...), op.GlobalSet, 0),
		}, false},
		{"a reference global", program{
			globals: []byte{1, typeExternRef, 1, op.RefNull, typeExternRef, op.End}, say: []byte{op.GlobalGet, 0, op.RefIsNull},
			change: []byte{op.RefNull, typeExternRef, op.GlobalSet, 0},
		}, false},
		{"many globals", program{globals: many, say: []byte{op.GlobalGet, admission.MaxState - 1}, change: []byte{op.I32Const, 1, op.GlobalSet, admission.MaxState - 1}}, false},
		{"memory", program{
			say: []byte{op.I32Const, 0x80, 0x20, optest.I32Load, 2, 0}, change: []byte{op.I32Const, 0x80, 0x20, op.I32Const, 7, optest.I32Store, 2, 0},
		}, true},
		{"memory that has data", program{
			data: []byte{1, 0, op.I32Const, 8, op.End, 4, 9, 0, 0, 0},
			say:  []byte{op.I32Const, 8, optest.I32Load, 2, 0}, change: []byte{op.I32Const, 8, op.I32Const, 0, optest.I32Store, 2, 0},
		}, true},
		{"the size of the memory", program{say: []byte{op.MemorySize, 0}, change: []byte{op.I32Const, 1, op.MemoryGrow, 0, op.Drop}}, true},
		{"the size of the memory that is as large as it may be", program{say: []byte{op.MemorySize, 0}, change: []byte{op.I32Const, 3, op.MemoryGrow, 0, op.Drop}}, true},
		{"memory that has grown", program{
			say:    []byte{op.I32Const, 2, op.MemoryGrow, 0, op.Drop, op.I32Const, 0x80, 0x80, 0x08, optest.I32Load, 2, 0},
			change: []byte{op.I32Const, 0x80, 0x80, 0x08, op.I32Const, 7, optest.I32Store, 2, 0},
		}, true},
		{"a data segment", program{
			data:   []byte{1, passive, 1, 9},
			say:    []byte{op.I32Const, 0, op.I32Const, 0, op.I32Const, 1, op.More, op.MemoryInit, 0, 0, op.I32Const, 0, optest.I32Load, 2, 0},
			change: []byte{op.More, op.DataDrop, 0},
		}, false},
		{"an element of a table", program{
			tables: funcTable, element: oneFunction, say: isNull, change: []byte{op.I32Const, 0, op.RefFunc, 1, op.TableSet, 0},
		}, false},
		{"a table that is filled", program{
			tables: funcTable, element: oneFunction, say: isNull, change: []byte{op.I32Const, 0, op.RefFunc, 1, op.I32Const, 1, op.More, op.TableFill, 0},
		}, false},
		{"a table that is initialized", program{
			tables: funcTable, element: oneFunction, say: isNull, change: []byte{op.I32Const, 0, op.I32Const, 0, op.I32Const, 1, op.More, op.TableInit, 0, 0},
		}, false},
		{"an element segment", program{
			tables: funcTable, element: oneFunction,
			say:    append([]byte{op.I32Const, 0, op.I32Const, 0, op.I32Const, 1, op.More, op.TableInit, 0, 0}, isNull...),
			change: []byte{op.More, op.ElemDrop, 0},
		}, false},
		{"what the start section does", program{
			before: []byte{op.I32Const, 0, op.I32Const, 5, optest.I32Store, 2, 0},
			say:    []byte{op.I32Const, 0, optest.I32Load, 2, 0}, change: []byte{op.I32Const, 0, op.I32Const, 6, optest.I32Store, 2, 0},
		}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s, dir := newTestServer(t), stay(t, c.module())
			first := callIn(t, s, dir)
			if first.Fault != wire.FaultNone {
				t.Fatalf("it fails: %+v", first)
			}
			if kept := s.ready[dir].kept != nil; kept != c.kept {
				t.Errorf("its instance is kept: %t", kept)
			}
			for range 2 {
				if again := callIn(t, s, dir); !reflect.DeepEqual(again, first) {
					t.Errorf("later it does %+v, the first time it did %+v", again, first)
				}
			}
		})
	}
}

// Programs in Go have their memory grow in each call: an adapter's plan would cost several times as much if that took a
// new instance.
func TestAnInstanceWhoseMemoryHasGrownIsUsedAgain(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		pages byte // that it asks for, beside its first one of 4
		again bool
	}{{"less than it may", 2, true}, {"to the most that it may", 3, false}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newTestServer(t)
			dir := stay(t, program{say: []byte{op.MemorySize, 0}, change: []byte{op.I32Const, c.pages, op.MemoryGrow, 0, op.Drop}}.module())
			var used []*instance
			for range 3 {
				if a := callIn(t, s, dir); a.Exit != 1 || a.MemoryBytes != int64(1+c.pages)<<16 {
					t.Errorf("it sees %d pages and has %d bytes in the end", a.Exit, a.MemoryBytes)
				}
				used = append(used, s.ready[dir].kept)
			}
			if again := used[0] == used[1] && used[1] == used[2]; again != c.again {
				t.Errorf("its instance is used again: %t, want %t", again, c.again)
			}
		})
	}
}

func TestAnInstanceIsNotUsedAgainWithLessMemoryThanItHas(t *testing.T) {
	t.Parallel()
	s := newTestServer(t)
	dir := stay(t, program{say: []byte{op.MemorySize, 0}}.module())
	if a := callIn(t, s, dir); a.Exit != 1 {
		t.Fatalf("it does %+v", a)
	}
	a, _, err := s.call(wire.Request{Dir: dir, MemoryBytes: 1 << 15, Fuel: 1000, OutputBytes: 1}, nil, nil)
	if err != nil || a.Fault != wire.FaultMemory {
		t.Errorf("with half a page it does %+v, %v", a, err)
	}
	if a := callIn(t, s, dir); a.Exit != 1 {
		t.Errorf("afterwards it does %+v", a)
	}
}

func TestModulesThatTakeTurnsHaveTheirOwnMemory(t *testing.T) {
	t.Parallel()
	s := newTestServer(t)
	var dirs []string
	for i := range byte(3) {
		dirs = append(dirs, stay(t, program{
			data: []byte{1, 0, op.I32Const, 8 * i, op.End, 4, i + 1, 0, 0, 0},
			say: []byte{
				op.I32Const, 0, optest.I32Load, 2, 0, op.I32Const, 8, optest.I32Load, 2, 0, optest.I32Add, op.I32Const, 16, optest.I32Load, 2, 0, optest.I32Add,
			},
			change: []byte{op.I32Const, 4, op.I32Const, 1, optest.I32Store, 2, 0},
		}.module()))
	}
	for turn := range 9 {
		if a, want := callIn(t, s, dirs[turn%3]), uint32(turn%3+1); a.Exit != want {
			t.Errorf("turn %d: it sees %d, not its own %d: %+v", turn, a.Exit, want, a)
		}
	}
}
