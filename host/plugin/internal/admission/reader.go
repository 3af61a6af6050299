package admission

import (
	"bytes"
	"fmt"

	"deepoj/host/plugin/internal/op"
)

// reader reads a module's bytes. The first failure sticks: from then on every read gives zero and the rest is empty, so
// that loops end and the caller looks at err once.
type reader struct {
	b    []byte
	pos  int
	base int // where b begins in the module, for messages
	err  *Refusal
}

// fail records why the module is refused, unless it is already.
func (r *reader) fail(rule, remedy, format string, args ...any) {
	if r.err == nil {
		r.err = &Refusal{Rule: rule, Offender: fmt.Sprintf(format, args...), Remedy: remedy}
	}
	r.b = r.b[:r.pos]
}

// malformed refuses a module that is not WebAssembly.
func (r *reader) malformed(format string, args ...any) {
	at := r.base + r.pos
	r.fail("malformed", "upload the file that the compiler wrote, whole", "byte %d: %s", at, fmt.Sprintf(format, args...))
}

// rest returns how many bytes are left.
func (r *reader) rest() int { return len(r.b) - r.pos }

// byte reads one byte.
func (r *reader) byte() byte {
	if r.rest() < 1 {
		r.malformed("the module ends too early")
		return 0
	}
	r.pos++
	return r.b[r.pos-1]
}

// take reads n bytes and returns a view of them.
func (r *reader) take(n uint32) []byte {
	if uint64(n) > uint64(r.rest()) {
		r.malformed("%d bytes are announced, %d are left", n, r.rest())
		return nil
	}
	r.pos += int(n)
	return r.b[r.pos-int(n) : r.pos]
}

// u32 reads an unsigned LEB128 number of at most 32 bits.
func (r *reader) u32() uint32 {
	var v uint32
	for shift := 0; shift < 35; shift += 7 {
		c := r.byte()
		if shift == 28 && c > 0x0f {
			break
		}
		v |= uint32(c&0x7f) << shift
		if c < 0x80 {
			return v
		}
	}
	r.malformed("a number has more than 32 bits")
	return 0
}

// skipSigned passes over a signed LEB128 number of at most n bytes. Its value is the validator's business.
func (r *reader) skipSigned(n int) {
	for range n {
		if r.byte() < 0x80 {
			return
		}
	}
	r.malformed("a number has more than %d bytes", n)
}

// name reads a byte string with its length.
func (r *reader) name() string { return string(r.take(r.u32())) }

// count reads the length of a vector: at most limit, and no more than there are
// bytes left, since each element takes one at least.
func (r *reader) count(rule, what string, limit uint32) uint32 {
	n := r.u32()
	if r.err != nil {
		return 0
	}
	if uint64(n) > uint64(r.rest()) {
		r.malformed("%d %s are announced in %d bytes", n, what, r.rest())
		return 0
	}
	if n > limit {
		r.fail(rule, "split the module or build it with optimization for size", "%d %s, at most %d are allowed", n, what, limit)
		return 0
	}
	return n
}

// sub returns a reader of the next n bytes, which r passes over. Its failure is not r's: the caller looks at both.
func (r *reader) sub(n uint32) *reader {
	base := r.base + r.pos
	return &reader{b: r.take(n), base: base, err: r.err}
}

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

// Refusal says why a module was not admitted.
type Refusal struct { //nolint:errname // a refusal is a decision, and is named so by everybody
	Rule     string `json:"rule"`     // the rule that was broken, such as "import" or "body-size"
	Offender string `json:"offender"` // what broke it, such as "env.syscall" or "function 17: 312044 bytes"
	Remedy   string `json:"remedy"`   // how to mend it
}

func (r *Refusal) Error() string {
	return fmt.Sprintf("module refused by rule %s: %s; %s", r.Rule, r.Offender, r.Remedy)
}
