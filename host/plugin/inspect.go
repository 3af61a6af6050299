package plugin

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"

	"deepoj/plugins/abi"
)

// Inspection is what can be told of a module without compiling or calling it.
type Inspection struct {
	Digest    string   `json:"digest"` // sha256: and 64 hex digits
	Size      int64    `json:"size"`   // bytes
	Imports   []string `json:"imports"`
	Exports   []string `json:"exports"`
	Functions int      `json:"functions"` // that the module defines
	Custom    []string `json:"custom"`    // names of the custom sections

	// MemoryKiB is the memory that the module starts with.
	MemoryKiB int64 `json:"memory_kib"`

	// Manifest is that of the module's section; nil without one.
	Manifest *abi.Manifest `json:"manifest,omitempty"`

	// Refusal says why a runtime with the default limits would not admit the
	// module, as far as that shows without compiling it; nil when it would.
	Refusal *Refusal `json:"refusal,omitempty"`
}

// Inspect takes a module apart as far as it can be read. A module that would be
// refused is described too, with its refusal.
func Inspect(wasm []byte) Inspection {
	sum := sha256.Sum256(wasm)
	i := Inspection{
		Digest: digestPrefix + hex.EncodeToString(sum[:]), Size: int64(len(wasm)),
		Imports: []string{}, Exports: []string{}, Custom: []string{},
	}
	parts, refusal := scan(wasm, scanLimits{defaultModuleBytes, defaultMaxMemoryMiB * pagesPerMiB})
	if refusal == nil {
		_, refusal = rewrite(parts)
	}
	if refusal == nil && parts.manifest != nil {
		i.Manifest, refusal = parseManifest(parts.manifest)
	}
	i.Refusal = refusal
	if bytes.HasPrefix(wasm, []byte("\x00asm\x01\x00\x00\x00")) {
		i.read(wasm)
	}
	return i
}

const pagesPerMiB = 16

// read fills in what the sections say, up to the first that cannot be read.
func (i *Inspection) read(wasm []byte) {
	for r := (&reader{b: wasm, pos: 8}); r.rest() > 0 && r.err == nil; {
		id := r.byte()
		s := r.sub(r.u32())
		switch id {
		case sectionCustom:
			if name := s.name(); s.err == nil {
				i.Custom = append(i.Custom, name)
			}
		case sectionImport:
			for n := s.count("imports", "imports", maxExports); n > 0 && s.err == nil; n-- {
				name := s.name() + "." + s.name()
				s.importType()
				if s.err == nil {
					i.Imports = append(i.Imports, name)
				}
			}
		case sectionFunction:
			i.Functions = int(s.count("functions", "functions", ^uint32(0)))
		case sectionMemory:
			if s.count("memories", "memories", 1) == 1 {
				least, _, _ := s.bounds("memory")
				i.MemoryKiB = int64(least) << 6
			}
		case sectionExport:
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
