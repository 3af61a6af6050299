package admission

import (
	"bytes"

	"deepoj/host/plugin/internal/op"
)

// Contents is what a module says of itself.
type Contents struct {
	Imports   []string `json:"imports"`
	Exports   []string `json:"exports"`
	Functions int      `json:"functions"` // that the module defines
	Custom    []string `json:"custom"`    // names of the custom sections

	// MemoryKiB is the memory that the module starts with.
	MemoryKiB int64 `json:"memory_kib"`
}

// ReadContents returns what the sections say, up to the first that cannot be read.
func ReadContents(wasm []byte) Contents {
	i := Contents{Imports: []string{}, Exports: []string{}, Custom: []string{}}
	if !bytes.HasPrefix(wasm, []byte(op.Magic)) {
		return i
	}
	for r := (&reader{b: wasm, pos: len(op.Magic)}); r.rest() > 0 && r.err == nil; {
		id := r.byte()
		s := r.sub(r.u32())
		switch id {
		case op.SectionCustom:
			if name := s.name(); s.err == nil {
				i.Custom = append(i.Custom, name)
			}
		case op.SectionImport:
			for n := s.count("imports", "imports", maxExports); n > 0 && s.err == nil; n-- {
				name := s.name() + "." + s.name()
				s.importType()
				if s.err == nil {
					i.Imports = append(i.Imports, name)
				}
			}
		case op.SectionFunction:
			i.Functions = int(s.count("functions", "functions", ^uint32(0)))
		case op.SectionMemory:
			if s.count("memories", "memories", 1) == 1 {
				least, _, _ := s.bounds("memory")
				i.MemoryKiB = int64(least) << 6
			}
		case op.SectionExport:
			for n := s.count("exports", "exports", maxExports); n > 0 && s.err == nil; n-- {
				name := s.name()
				s.byte()
				s.u32()
				if s.err == nil {
					i.Exports = append(i.Exports, name)
				}
			}
		}
	}
	return i
}

// importType passes over what an import is.
func (r *reader) importType() {
	switch kind := r.byte(); kind {
	case 0:
		r.u32()
	case 1:
		r.byte()
		r.bounds("table")
	case 2:
		r.bounds("memory")
	case 3:
		r.take(2)
	default:
		r.malformed("%d is not a kind of import", kind)
	}
}

// WithSection returns a module with a custom section at its end, in the place of any of
// that name that it had. The error is a [*Refusal].
func WithSection(wasm []byte, name string, content []byte) ([]byte, error) {
	if !bytes.HasPrefix(wasm, []byte(op.Magic)) {
		return nil, &Refusal{"magic", "the module does not begin as one", "name a WebAssembly module of version 1"}
	}
	out := []byte(op.Magic)
	for r := (&reader{b: wasm, pos: len(op.Magic)}); r.rest() > 0; {
		from := r.pos
		id := r.byte()
		s := r.sub(r.u32())
		if r.err != nil {
			return nil, r.err
		}
		if id == op.SectionCustom && s.name() == name {
			continue
		}
		out = append(out, wasm[from:r.pos]...)
	}
	section := append(op.AppendName(nil, name), content...)
	return append(op.AppendU32(append(out, op.SectionCustom), uint32(len(section))), section...), nil
}
