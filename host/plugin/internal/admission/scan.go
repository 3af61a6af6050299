// Package admission reads modules that nobody has looked at yet. It refuses those that are over a cap or want what is
// not offered, and rewrites the others so that they count their fuel. It runs nothing.
package admission

import (
	"bytes"
	"fmt"

	"deepoj/host/plugin/internal/fuel"
	"deepoj/host/plugin/internal/op"
	"deepoj/host/plugin/internal/wasi"
	"deepoj/plugins/abi"
)

// The caps of the admission scan. Real modules stay far below them: of those that we measured the largest had 3.3 MB,
// 38 locals, 549 levels and a branch table of 964. What is below every cap and still costs too much is caught by the
// compile child.
const (
	maxTypes      = 2_000
	maxSignature  = 128 // parameters and results of a function type
	maxImports    = 200
	maxFunctions  = 20_000
	maxBodyBytes  = 256 << 10
	maxLocals     = 2_000
	maxDepth      = 2_000
	maxBranches   = 4_096 // targets of one br_table
	maxTable      = 65_536
	maxGlobals    = 10_000
	maxExports    = 10_000
	maxSegments   = 100_000
	maxElements   = 200_000
	maxTypedNames = 16 // types that one select names; the standard has one
)

// sectionOrder is the order in which sections stand in a module.
var sectionOrder = [...]byte{
	op.SectionType, op.SectionImport, op.SectionFunction, op.SectionTable, op.SectionMemory, op.SectionGlobal,
	op.SectionExport, op.SectionStart, op.SectionElement, op.SectionDataCount, op.SectionCode, op.SectionData,
}

// funcType is a function type as far as the scan needs it.
type funcType struct {
	params    uint32
	signature string
}

// Anatomy is what the scan found: where the sections are and what is in them.
type Anatomy struct {
	sections [op.SectionDataCount + 1]*reader // by number; nil when missing
	types    []funcType
	imports  uint32   // functions that are imported
	funcs    []uint32 // types of the functions that are defined
	tables   uint32
	globals  uint32
	mutable  []uint32 // globals that a call may change
	sticky   bool     // whether a call may change what nobody can set back: such modules get a new instance for each call
	Pages    uint32   // least memory, in pages of 64 KiB
	Manifest []byte   // content of the manifest section; nil when missing
}

// PagesPerMiB is how many pages of a guest's memory make a MiB.
const PagesPerMiB = 16

// Limits are limits of the scan that the operator sets.
type Limits struct {
	ModuleBytes int64
	MemoryPages uint32
}

// section returns a fresh reader of a section, empty when it is missing.
func (a *Anatomy) section(id byte) *reader {
	s := a.sections[id]
	if s == nil {
		return &reader{}
	}
	return &reader{b: s.b, base: s.base}
}

// Scan takes a module apart and refuses it if it is not WebAssembly, is over a cap or wants what is not offered. It
// allocates in proportion to the module and never to a length that the module claims. Function bodies are scanned by
// [Rewrite].
func Scan(module []byte, lim Limits) (*Anatomy, *Refusal) {
	if int64(len(module)) > lim.ModuleBytes {
		return nil, &Refusal{
			"module-size",
			fmt.Sprintf("%d bytes, at most %d are allowed", len(module), lim.ModuleBytes),
			"build with optimization for size and without debug information, as by wasm-strip or -Wl,--strip-all",
		}
	}
	if !bytes.HasPrefix(module, []byte(op.Magic)) {
		return nil, &Refusal{
			"magic", fmt.Sprintf("the module begins with % x", module[:min(8, len(module))]),
			"upload a WebAssembly module of version 1; components and text are not modules",
		}
	}
	a := &Anatomy{}
	if err := a.split(module); err != nil {
		return nil, err
	}
	for _, part := range []struct {
		id   byte
		scan func(*reader)
	}{
		{op.SectionType, a.scanTypes},
		{op.SectionImport, a.scanImports},
		{op.SectionFunction, a.scanFunctions},
		{op.SectionTable, a.scanTables},
		{op.SectionMemory, func(r *reader) { a.scanMemories(r, lim.MemoryPages) }},
		{op.SectionGlobal, a.scanGlobals},
		{op.SectionExport, a.scanExports},
		{op.SectionData, a.scanData},
	} {
		r := a.section(part.id)
		if a.sections[part.id] != nil {
			part.scan(r)
			if r.err == nil && r.rest() > 0 {
				r.malformed("%d bytes are left over in section %d", r.rest(), part.id)
			}
		}
		if r.err != nil {
			return nil, r.err
		}
	}
	return a, a.checkEntry()
}

// split finds the sections.
func (a *Anatomy) split(module []byte) *Refusal {
	r := &reader{b: module, pos: 8}
	place := 0
	for r.rest() > 0 {
		id := r.byte()
		body := r.sub(r.u32())
		if r.err != nil {
			return r.err
		}
		if id == op.SectionCustom {
			if err := a.custom(body); err != nil {
				return err
			}
			continue
		}
		at := bytes.IndexByte(sectionOrder[:], id)
		if at < 0 {
			r.malformed("section %d is unknown", id)
			return r.err
		}
		if at < place {
			r.malformed("section %d is out of order or there twice", id)
			return r.err
		}
		if body.rest() == 0 {
			r.malformed("section %d is empty", id)
			return r.err
		}
		place = at + 1
		a.sections[id] = body
	}
	return nil
}

// custom looks at a custom section: the manifest is kept, the others are not carried over to the rewritten module.
func (a *Anatomy) custom(r *reader) *Refusal {
	name := r.take(r.u32())
	if r.err != nil || string(name) != abi.Section {
		return r.err
	}
	switch {
	case a.Manifest != nil:
		r.fail("manifest", "embed one manifest", "the module has two sections %s", abi.Section)
	case r.rest() > abi.ManifestMax:
		r.fail("manifest", "shorten the options or the tests", "section %s has %d bytes, at most %d are allowed", abi.Section, r.rest(), abi.ManifestMax)
	default:
		a.Manifest = r.b[r.pos:]
	}
	return r.err
}

func (a *Anatomy) scanTypes(r *reader) {
	for n := r.count("types", "function types", maxTypes); n > 0 && r.err == nil; n-- {
		if form := r.byte(); form != op.Func {
			r.malformed("%#x is not a function type", form)
		}
		params := r.take(r.count("signature", "parameters", maxSignature))
		results := r.take(r.count("signature", "results", maxSignature))
		a.types = append(a.types, funcType{uint32(len(params)), signature(params, results)})
	}
}

func (a *Anatomy) scanImports(r *reader) {
	for n := r.count("imports", "imports", maxImports); n > 0 && r.err == nil; n-- {
		module, name := r.name(), r.name()
		kind := r.byte()
		if r.err != nil {
			return
		}
		want, offered := wasi.Functions[name]
		if module != wasi.Module || !offered || kind != 0 {
			r.fail("import", "build for WASI preview 1 (wasm32-wasi, wasip1) as a command; offered are, from "+wasi.Module+": "+wasi.Offered(),
				"%.60q.%.60q", module, name)
			return
		}
		at := r.u32()
		if t, ok := a.typeAt(r, at); ok && t.signature != want.Types {
			r.fail("import", "build against the headers of WASI preview 1", "%s.%s has type %s, not %s", module, name, t.signature, want.Types)
		}
		a.imports++
	}
}

func (a *Anatomy) scanFunctions(r *reader) {
	n := r.count("functions", "functions", maxFunctions)
	a.funcs = make([]uint32, 0, n)
	for ; n > 0 && r.err == nil; n-- {
		t := r.u32()
		a.typeAt(r, t)
		a.funcs = append(a.funcs, t)
	}
}

// typeAt returns a function type, or refuses the module.
func (a *Anatomy) typeAt(r *reader, i uint32) (funcType, bool) {
	if uint64(i) >= uint64(len(a.types)) {
		r.malformed("there is no type %d", i)
		return funcType{}, false
	}
	return a.types[i], true
}

func (a *Anatomy) scanTables(r *reader) {
	a.tables = r.count("tables", "tables", 1)
	for n := a.tables; n > 0 && r.err == nil; n-- {
		r.byte()
		least, most, bounded := r.bounds("table")
		if least > maxTable {
			r.fail("table-size", "keep fewer function pointers", "a table of %d elements, at most %d are allowed", least, maxTable)
		}
		if bounded && most < least {
			r.malformed("a table's maximum is less than its minimum")
		}
	}
}

func (a *Anatomy) scanMemories(r *reader, limit uint32) {
	for n := r.count("memories", "memories", 1); n > 0 && r.err == nil; n-- {
		a.Pages, _, _ = r.bounds("memory")
		if a.Pages > limit {
			r.fail("memory-size", "reserve less stack and static data", "a memory of %d MiB, at most %d are allowed", a.Pages/16, limit/16)
		}
	}
}

// bounds reads the limits of a table or memory.
func (r *reader) bounds(what string) (least, most uint32, bounded bool) {
	flags := r.byte()
	if flags > 1 {
		r.fail("instruction", "build without threads and 64-bit memory", "a shared or 64-bit %s", what)
		return 0, 0, false
	}
	least = r.u32()
	if flags == 1 {
		most = r.u32()
	}
	return least, most, flags == 1
}

func (a *Anatomy) scanGlobals(r *reader) {
	a.globals = r.count("globals", "globals", maxGlobals)
	for i := uint32(0); i < a.globals && r.err == nil; i++ {
		kind, mutable := r.byte(), r.byte()
		if mutable != 0 {
			a.mutable = append(a.mutable, i)
			a.sticky = a.sticky || kind < op.F64 // vectors and references
		}
		(&body{a: a, in: r}).constant()
	}
}

func (a *Anatomy) scanExports(r *reader) {
	for n := r.count("exports", "exports", maxExports); n > 0 && r.err == nil; n-- {
		name := r.take(r.u32())
		if bytes.HasPrefix(name, []byte(fuel.ReservedPrefix)) {
			r.fail("export", "rename it", "%.60q begins with %q, which is reserved", name, fuel.ReservedPrefix)
		}
		r.byte()
		r.u32()
	}
}

func (a *Anatomy) scanData(r *reader) {
	for n := r.count("data-segments", "data segments", maxSegments); n > 0 && r.err == nil; n-- {
		switch flag := r.u32(); flag {
		case 0:
			(&body{a: a, in: r}).constant()
		case 1:
		case 2:
			if memory := r.u32(); memory != 0 {
				r.malformed("there is no memory %d", memory)
			}
			(&body{a: a, in: r}).constant()
		default:
			r.malformed("%d is not a kind of data segment", flag)
		}
		r.take(r.u32())
	}
}

// checkEntry refuses modules that are not commands.
func (a *Anatomy) checkEntry() *Refusal {
	r := a.section(op.SectionExport)
	for n := r.u32(); n > 0; n-- {
		name, kind, at := r.take(r.u32()), r.byte(), r.u32()
		if string(name) != op.EntryPoint {
			continue
		}
		if kind == 0 && at >= a.imports && int(at-a.imports) < len(a.funcs) && a.types[a.funcs[at-a.imports]].signature == ":" {
			return nil
		}
		return &Refusal{"entry", op.EntryPoint + " is not a function of the module without parameters and results", "build a command, not a library or reactor"}
	}
	return &Refusal{"entry", "no export " + op.EntryPoint, "build a command, not a library or reactor (for clang: without -mexec-model=reactor and --no-entry)"}
}

// signature writes a function type the way [wasi.Functions] does. Types that WASI has not are question marks.
func signature(params, results []byte) string {
	letters := func(types []byte) string {
		s := make([]byte, len(types))
		for i, t := range types {
			switch t {
			case op.I32:
				s[i] = 'i'
			case op.I64:
				s[i] = 'I'
			default:
				s[i] = '?'
			}
		}
		return string(s)
	}
	return letters(params) + ":" + letters(results)
}
