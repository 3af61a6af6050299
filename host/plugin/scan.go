package plugin

import (
	"bytes"
	"fmt"

	"deepoj/plugins/abi"
)

// The caps of the admission scan. Real modules stay far below them: of those
// that we measured the largest had 3.3 MB, 38 locals, 549 levels and a branch
// table of 964. What is below every cap and still costs too much is caught by
// the compile child.
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

// Value types and section numbers of the binary format.
const (
	typeI32  = 0x7f
	typeI64  = 0x7e
	typeF64  = 0x7c
	typeFunc = 0x60
	typeVoid = 0x40

	sectionCustom    = 0
	sectionType      = 1
	sectionImport    = 2
	sectionFunction  = 3
	sectionTable     = 4
	sectionMemory    = 5
	sectionGlobal    = 6
	sectionExport    = 7
	sectionStart     = 8
	sectionElement   = 9
	sectionCode      = 10
	sectionData      = 11
	sectionDataCount = 12
)

// sectionOrder is the order in which sections stand in a module.
var sectionOrder = [...]byte{
	sectionType, sectionImport, sectionFunction, sectionTable, sectionMemory, sectionGlobal,
	sectionExport, sectionStart, sectionElement, sectionDataCount, sectionCode, sectionData,
}

// entryPoint is the function of a command module that the host calls.
const entryPoint = "_start"

// reservedPrefix begins the names that the rewriter adds.
const reservedPrefix = "judge."

// funcType is a function type as far as the scan needs it.
type funcType struct {
	params    uint32
	signature string
}

// anatomy is what the scan found: where the sections are and what is in them.
type anatomy struct {
	sections [sectionDataCount + 1]*reader // by number; nil when missing
	types    []funcType
	imports  uint32   // functions that are imported
	funcs    []uint32 // types of the functions that are defined
	tables   uint32
	globals  uint32
	mutable  []uint32 // globals that a call may change
	sticky   bool     // whether a call may change what nobody can set back: see instance.go
	pages    uint32   // least memory, in pages of 64 KiB
	manifest []byte   // content of the manifest section; nil when missing
}

// limits of the scan that the operator sets.
type scanLimits struct {
	moduleBytes int64
	memoryPages uint32
}

// section returns a fresh reader of a section, empty when it is missing.
func (a *anatomy) section(id byte) *reader {
	s := a.sections[id]
	if s == nil {
		return &reader{}
	}
	return &reader{b: s.b, base: s.base}
}

// scan takes a module apart and refuses it if it is not WebAssembly, is over a
// cap or wants what is not offered. It allocates in proportion to the module and
// never to a length that the module claims. Function bodies are scanned by
// [rewrite].
func scan(module []byte, lim scanLimits) (*anatomy, *Refusal) {
	if int64(len(module)) > lim.moduleBytes {
		return nil, &Refusal{
			"module-size",
			fmt.Sprintf("%d bytes, at most %d are allowed", len(module), lim.moduleBytes),
			"build with optimization for size and without debug information, as by wasm-strip or -Wl,--strip-all",
		}
	}
	if !bytes.HasPrefix(module, []byte("\x00asm\x01\x00\x00\x00")) {
		return nil, &Refusal{
			"magic", fmt.Sprintf("the module begins with % x", module[:min(8, len(module))]),
			"upload a WebAssembly module of version 1; components and text are not modules",
		}
	}
	a := &anatomy{}
	if err := a.split(module); err != nil {
		return nil, err
	}
	for _, part := range []struct {
		id   byte
		scan func(*reader)
	}{
		{sectionType, a.scanTypes},
		{sectionImport, a.scanImports},
		{sectionFunction, a.scanFunctions},
		{sectionTable, a.scanTables},
		{sectionMemory, func(r *reader) { a.scanMemories(r, lim.memoryPages) }},
		{sectionGlobal, a.scanGlobals},
		{sectionExport, a.scanExports},
		{sectionData, a.scanData},
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
func (a *anatomy) split(module []byte) *Refusal {
	r := &reader{b: module, pos: 8}
	place := 0
	for r.rest() > 0 {
		id := r.byte()
		body := r.sub(r.u32())
		if r.err != nil {
			return r.err
		}
		if id == sectionCustom {
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

// custom looks at a custom section: the manifest is kept, the others are not
// carried over to the rewritten module.
func (a *anatomy) custom(r *reader) *Refusal {
	name := r.take(r.u32())
	if r.err != nil || string(name) != abi.Section {
		return r.err
	}
	switch {
	case a.manifest != nil:
		r.fail("manifest", "embed one manifest", "the module has two sections %s", abi.Section)
	case r.rest() > abi.ManifestMax:
		r.fail("manifest", "shorten the options or the tests", "section %s has %d bytes, at most %d are allowed", abi.Section, r.rest(), abi.ManifestMax)
	default:
		a.manifest = r.b[r.pos:]
	}
	return r.err
}

func (a *anatomy) scanTypes(r *reader) {
	for n := r.count("types", "function types", maxTypes); n > 0 && r.err == nil; n-- {
		if form := r.byte(); form != typeFunc {
			r.malformed("%#x is not a function type", form)
		}
		params := r.take(r.count("signature", "parameters", maxSignature))
		results := r.take(r.count("signature", "results", maxSignature))
		a.types = append(a.types, funcType{uint32(len(params)), signature(params, results)})
	}
}

func (a *anatomy) scanImports(r *reader) {
	for n := r.count("imports", "imports", maxImports); n > 0 && r.err == nil; n-- {
		module, name := r.name(), r.name()
		kind := r.byte()
		if r.err != nil {
			return
		}
		want, offered := wasiFunctions[name]
		if module != wasiModule || !offered || kind != 0 {
			r.fail("import", "build for WASI preview 1 (wasm32-wasi, wasip1) as a command; offered are, from "+wasiModule+": "+offeredImports(),
				"%.60q.%.60q", module, name)
			return
		}
		at := r.u32()
		if t, ok := a.typeAt(r, at); ok && t.signature != want.types {
			r.fail("import", "build against the headers of WASI preview 1", "%s.%s has type %s, not %s", module, name, t.signature, want.types)
		}
		a.imports++
	}
}

func (a *anatomy) scanFunctions(r *reader) {
	n := r.count("functions", "functions", maxFunctions)
	a.funcs = make([]uint32, 0, n)
	for ; n > 0 && r.err == nil; n-- {
		t := r.u32()
		a.typeAt(r, t)
		a.funcs = append(a.funcs, t)
	}
}

// typeAt returns a function type, or refuses the module.
func (a *anatomy) typeAt(r *reader, i uint32) (funcType, bool) {
	if uint64(i) >= uint64(len(a.types)) {
		r.malformed("there is no type %d", i)
		return funcType{}, false
	}
	return a.types[i], true
}

func (a *anatomy) scanTables(r *reader) {
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

func (a *anatomy) scanMemories(r *reader, limit uint32) {
	for n := r.count("memories", "memories", 1); n > 0 && r.err == nil; n-- {
		a.pages, _, _ = r.bounds("memory")
		if a.pages > limit {
			r.fail("memory-size", "reserve less stack and static data", "a memory of %d MiB, at most %d are allowed", a.pages/16, limit/16)
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

func (a *anatomy) scanGlobals(r *reader) {
	a.globals = r.count("globals", "globals", maxGlobals)
	for i := uint32(0); i < a.globals && r.err == nil; i++ {
		kind, mutable := r.byte(), r.byte()
		if mutable != 0 {
			a.mutable = append(a.mutable, i)
			a.sticky = a.sticky || kind < typeF64 // vectors and references
		}
		(&body{a: a, in: r}).constant()
	}
}

func (a *anatomy) scanExports(r *reader) {
	for n := r.count("exports", "exports", maxExports); n > 0 && r.err == nil; n-- {
		name := r.take(r.u32())
		if bytes.HasPrefix(name, []byte(reservedPrefix)) {
			r.fail("export", "rename it", "%.60q begins with %q, which is reserved", name, reservedPrefix)
		}
		r.byte()
		r.u32()
	}
}

func (a *anatomy) scanData(r *reader) {
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
func (a *anatomy) checkEntry() *Refusal {
	r := a.section(sectionExport)
	for n := r.u32(); n > 0; n-- {
		name, kind, at := r.take(r.u32()), r.byte(), r.u32()
		if string(name) != entryPoint {
			continue
		}
		if kind == 0 && at >= a.imports && int(at-a.imports) < len(a.funcs) && a.types[a.funcs[at-a.imports]].signature == ":" {
			return nil
		}
		return &Refusal{"entry", entryPoint + " is not a function of the module without parameters and results", "build a command, not a library or reactor"}
	}
	return &Refusal{"entry", "no export " + entryPoint, "build a command, not a library or reactor (for clang: without -mexec-model=reactor and --no-entry)"}
}
