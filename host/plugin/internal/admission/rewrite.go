package admission

import (
	"fmt"
	"slices"

	"deepoj/host/plugin/internal/fuel"
	"deepoj/host/plugin/internal/op"
)

// Revision is part of the cache's path. Raise it when the rewriter, the scan or what is kept of a module changes.
const Revision = 6

// Rewrite returns the module with a fuel counter: a global that every function and every turn of a loop takes from in
// advance. When it falls below zero a function that is added at the end asks the host for more by judge.tick, an import
// that is added behind the others, and traps when the answer is negative. The counter is exported, so that what is left
// can be told, and once more with every other global that a call may change, so that they can be set back (see
// [fuel.State]). Custom sections are left out.
//
// The result is valid only if the original is; the compiler finds that out.
func Rewrite(a *Anatomy) ([]byte, *Refusal) {
	w := &rewriter{a: a, fuel: a.globals, refuel: a.imports + 1 + uint32(len(a.funcs))}
	code, err := w.section(op.SectionCode) // first: what the code does decides what is exported
	if err != nil {
		return nil, err
	}
	out := []byte(op.Magic)
	for _, id := range sectionOrder {
		content := code
		if id != op.SectionCode {
			content, err = w.section(id)
		}
		if err != nil {
			return nil, err
		}
		if content != nil {
			out = append(op.AppendU32(append(out, id), uint32(len(content))), content...)
		}
	}
	return out, nil
}

// rewriter is a module on its way.
type rewriter struct {
	a      *Anatomy
	fuel   uint32 // number of the global that counts
	refuel uint32 // number of the function that asks for more
}

// section returns the new content of a section, or nil when there is none.
func (w *rewriter) section(id byte) ([]byte, *Refusal) {
	r := w.a.section(id)
	var out []byte
	switch id {
	case op.SectionType:
		out = w.extend(r, 2, []byte{op.Func, 0, 1, op.I64, op.Func, 0, 0})
	case op.SectionImport:
		tick := op.AppendName(op.AppendName(nil, fuel.TickModule), fuel.TickName)
		out = w.extend(r, 1, op.AppendU32(append(tick, 0), uint32(len(w.a.types))))
	case op.SectionFunction:
		out = w.extend(r, 1, op.AppendU32(nil, uint32(len(w.a.types))+1))
	case op.SectionTable:
		out = w.tables(r)
	case op.SectionGlobal:
		out = w.globals(r)
	case op.SectionExport:
		out = w.exports(r)
	case op.SectionStart:
		if w.a.sections[id] != nil {
			i := r.u32()
			(&body{a: w.a, in: r}).hasFunction(i)
			out = op.AppendU32(nil, w.a.moved(i))
		}
	case op.SectionElement:
		out = w.elements(r)
	case op.SectionCode:
		out = w.functions(r)
	default:
		out = r.b
		r.pos = len(r.b)
	}
	if r.err == nil && r.rest() > 0 {
		r.malformed("%d bytes are left over in section %d", r.rest(), id)
	}
	return out, r.err
}

// extend copies a vector and appends n elements to it.
func (w *rewriter) extend(r *reader, n uint32, elements []byte) []byte {
	var have uint32
	if len(r.b) > 0 {
		have = r.u32()
	}
	out := op.AppendU32(nil, have+n)
	out = append(out, r.take(uint32(r.rest()))...)
	return append(out, elements...)
}

// tables copies the tables, which may not grow.
func (w *rewriter) tables(r *reader) []byte {
	if len(r.b) == 0 {
		return nil
	}
	n := r.u32()
	out := op.AppendU32(nil, n)
	for ; n > 0 && r.err == nil; n-- {
		out = append(out, r.byte(), 1)
		least, _, _ := r.bounds("table")
		out = op.AppendU32(op.AppendU32(out, least), least)
	}
	return out
}

func (w *rewriter) globals(r *reader) []byte {
	var n uint32
	if len(r.b) > 0 {
		n = r.u32()
	}
	out := op.AppendU32(nil, n+1)
	for ; n > 0 && r.err == nil; n-- {
		out = append(out, r.take(2)...)
		out = append(out, (&body{a: w.a, in: r}).constant()...)
	}
	return append(out, op.I64, 1, op.I64Const, 0, op.End) // empty: the first charge asks the host
}

func (w *rewriter) exports(r *reader) []byte {
	n := r.u32()
	state := w.state()
	out := op.AppendU32(nil, n+1+uint32(len(state)))
	for ; n > 0 && r.err == nil; n-- {
		out = op.AppendName(out, r.name())
		kind, i := r.byte(), r.u32()
		switch kind {
		case 0:
			(&body{a: w.a, in: r}).hasFunction(i)
			i = w.a.moved(i)
		case 3:
			(&body{a: w.a, in: r}).hasGlobal(i)
		}
		out = op.AppendU32(append(out, kind), i)
	}
	for i, global := range state {
		out = op.AppendU32(append(op.AppendName(out, fuel.State(i)), 3), global)
	}
	return op.AppendU32(append(op.AppendName(out, fuel.Counter), 3), w.fuel)
}

// MaxState is how many globals are worth setting back.
const MaxState = 64

// state returns the globals that a call may change, with the fuel; none when it may change more than that.
func (w *rewriter) state() []uint32 {
	if w.a.sticky || len(w.a.mutable) >= MaxState || w.a.sections[op.SectionStart] != nil {
		return nil
	}
	return append(slices.Clone(w.a.mutable), w.fuel)
}

// Bits of an element segment's flag.
const (
	elementsApart    = 1 // passive or declarative, not active
	elementsExplicit = 2 // names its table, or is declarative
	elementsAreCode  = 4 // expressions, not function numbers
	elementsKinds    = 7
)

func (w *rewriter) elements(r *reader) []byte {
	if len(r.b) == 0 {
		return nil
	}
	n := r.count("elements", "element segments", maxElements)
	out := op.AppendU32(nil, n)
	left := uint32(maxElements)
	for ; n > 0 && r.err == nil; n-- {
		flag := r.u32()
		if flag > elementsKinds {
			r.malformed("%d is not a kind of element segment", flag)
		}
		out = op.AppendU32(out, flag)
		if flag&elementsApart == 0 {
			if flag&elementsExplicit != 0 {
				out = op.AppendU32(out, r.u32())
			}
			out = append(out, (&body{a: w.a, in: r}).constant()...)
		}
		if flag&(elementsApart|elementsExplicit) != 0 {
			out = append(out, r.byte())
		}
		m := r.count("elements", "elements", left)
		left -= m
		out = op.AppendU32(out, m)
		for ; m > 0 && r.err == nil; m-- {
			b := &body{a: w.a, in: r}
			if flag&elementsAreCode != 0 {
				out = append(out, b.constant()...)
				continue
			}
			i := r.u32()
			b.hasFunction(i)
			out = op.AppendU32(out, w.a.moved(i))
		}
	}
	return out
}

// functions rewrites the bodies.
func (w *rewriter) functions(r *reader) []byte {
	n := r.count("functions", "function bodies", maxFunctions)
	if r.err == nil && int(n) != len(w.a.funcs) {
		r.malformed("%d functions are declared and %d defined", len(w.a.funcs), n)
	}
	out := op.AppendU32(make([]byte, 0, len(r.b)+len(r.b)/4), n+1)
	b := &body{a: w.a}
	for i := uint32(0); i < n && r.err == nil; i++ {
		size := r.u32()
		if size > maxBodyBytes {
			r.fail("body-size", "split the function, or build with optimization for size", "function %d has %d bytes, at most %d are allowed", i, size, maxBodyBytes)
			break
		}
		b.in = r.sub(size)
		out = w.function(out, b, i)
		if b.in.err != nil {
			r.err = b.in.err
			if r.err.Rule != "malformed" {
				r.err.Offender = fmt.Sprintf("function %d: %s", i, r.err.Offender)
			}
		}
	}
	code := w.askForMore()
	return append(op.AppendU32(out, uint32(len(code))), code...)
}

// function appends the new body of function i.
func (w *rewriter) function(out []byte, b *body, i uint32) []byte {
	r := b.in
	b.code, b.scratch = b.code[:0], false
	locals := uint64(w.a.types[w.a.funcs[i]].params)
	groups := r.count("locals", "groups of locals", maxLocals)
	from := r.pos
	for n := groups; n > 0 && r.err == nil; n-- {
		locals += uint64(r.u32())
		r.byte()
	}
	if locals > maxLocals {
		r.fail("locals", "keep large values in memory, or build with optimization", "%d locals and parameters, at most %d are allowed", locals, maxLocals)
	}
	declared := r.b[min(from, r.pos):r.pos]
	b.locals = uint32(min(locals, maxLocals))
	b.metering()
	if r.err == nil && r.rest() > 0 {
		r.malformed("%d bytes follow the end of function %d", r.rest(), i)
	}
	if r.err != nil {
		return out
	}
	var head []byte
	if b.scratch {
		head = append(op.AppendU32(head, groups+1), declared...)
		head = append(head, 1, op.I32)
	} else {
		head = append(op.AppendU32(head, groups), declared...)
	}
	code := make([]byte, 0, len(b.code)+32*len(b.charges))
	at := 0
	for _, c := range b.charges {
		code = append(code, b.code[at:c.at]...)
		code = w.charge(code, c.cost)
		at = c.at
	}
	code = append(code, b.code[at:]...)
	out = op.AppendU32(out, uint32(len(head)+len(code)))
	return append(append(out, head...), code...)
}

// charge appends code that takes cost units from the fuel.
func (w *rewriter) charge(out []byte, cost int64) []byte {
	out = op.AppendU32(append(out, op.GlobalGet), w.fuel)
	out = op.AppendS64(append(out, op.I64Const), cost)
	out = append(out, op.I64Subtract)
	return w.check(out)
}

// check appends code that stores the fuel on top of the stack and asks for more when it is below zero. The call stands
// in the second branch: the engine gives registers to what follows as they are at the end of the first, and a call
// keeps none, so that the loop would load all that it knows again in every turn.
func (w *rewriter) check(out []byte) []byte {
	out = op.AppendU32(append(out, op.GlobalSet), w.fuel)
	out = op.AppendU32(append(out, op.GlobalGet), w.fuel)
	out = append(out, op.I64Const, 0, op.I64AtLeast, op.If, op.Void, op.Else)
	out = op.AppendU32(append(out, op.Call), w.refuel)
	return append(out, op.End)
}

// chargeLength appends code that takes a sixteenth of the length on top of the stack from the fuel and leaves it there.
func (b *body) chargeLength() {
	if !b.metered || b.in.err != nil {
		return
	}
	b.scratch = true
	w := &rewriter{fuel: b.a.globals, refuel: b.a.imports + 1 + uint32(len(b.a.funcs))}
	b.code = op.AppendU32(append(b.code, op.LocalSet), b.locals)
	b.code = op.AppendU32(append(b.code, op.GlobalGet), w.fuel)
	b.code = op.AppendU32(append(b.code, op.LocalGet), b.locals)
	b.code = append(b.code, op.I64Extend, op.I64Const, bytesShift, op.I64Shift, op.I64Subtract)
	b.code = w.check(b.code)
	b.code = op.AppendU32(append(b.code, op.LocalGet), b.locals)
}

// askForMore returns the body of the function that asks the host for fuel until the counter is not below zero.
func (w *rewriter) askForMore() []byte {
	const more = 0 // the local
	out := []byte{1, 1, op.I64, op.Loop, op.Void}
	out = op.AppendU32(append(out, op.Call), w.a.imports)
	out = append(out, op.LocalTee, more, op.I64Const, 0, op.I64Less, op.If, op.Void, op.Unreachable, op.End)
	out = op.AppendU32(append(out, op.GlobalGet), w.fuel)
	out = append(out, op.LocalGet, more, op.I64Add, op.LocalTee, more)
	out = op.AppendU32(append(out, op.GlobalSet), w.fuel)
	return append(out, op.LocalGet, more, op.I64Const, 0, op.I64Less, op.BranchIf, 0, op.End, op.End)
}
