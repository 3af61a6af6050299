package admission

import (
	"deepoj/host/plugin/internal/op"
)

// What things cost, in units of fuel. An instruction costs 1.
const (
	importCost = 500 // a call to the host
	bytesShift = 4   // of bulk operations: the logarithm of bytesPerUnit
)

// body copies the instructions of one function or one constant expression, and looks at each on the way. Function
// numbers move up by one behind the imports, where the rewriter puts its own import.
type body struct {
	a  *Anatomy
	in *reader

	code    []byte   // what has been copied
	charges []charge // where to charge, in order
	current int      // index in charges of the one that pays now
	levels  []level  // the enclosing blocks, the outermost first
	locals  uint32   // parameters and locals of the function
	metered bool     // whether charges are made: in functions they are
	scratch bool     // whether the scratch local, number locals, is used
}

// charge is a place in the code where fuel is taken. It pays for everything from there to the end of the block around
// it, except what a charge on the way pays for. Charges are made at the entry of a function, at the head of each loop,
// and behind each block that a br_table leaves: compilers that know no other jumps, such as Go's, make one loop of a
// function, with a br_table into its parts, and would pay for the whole at each jump.
type charge struct {
	at   int
	cost int64
}

// level is a block that is open.
type level struct {
	outer int  // the charge that pays behind it
	join  bool // whether a br_table leaves it
}

// function number of the rewritten module for one of the original.
func (a *Anatomy) moved(i uint32) uint32 {
	if i >= a.imports {
		return i + 1
	}
	return i
}

// hasFunction refuses numbers that are no function. Without this the numbers
// behind the last one would reach what the rewriter adds.
func (b *body) hasFunction(i uint32) {
	if uint64(i) >= uint64(b.a.imports)+uint64(len(b.a.funcs)) {
		b.in.malformed("there is no function %d", i)
	}
}

// hasGlobal is the same for globals, of which the last will be the fuel.
func (b *body) hasGlobal(i uint32) {
	if i >= b.a.globals {
		b.in.malformed("there is no global %d", i)
	}
}

// hasLocal is the same for locals.
func (b *body) hasLocal(i uint32) {
	if i >= b.locals {
		b.in.malformed("there is no local %d", i)
	}
}

// constant copies a constant expression.
func (b *body) constant() []byte {
	b.levels = append(b.levels[:0], level{})
	b.copy()
	return b.code
}

// metering copies the instructions of a function and plans its charges.
func (b *body) metering() {
	b.metered = true
	b.charges = append(b.charges[:0], charge{0, 1})
	b.levels = append(b.levels[:0], level{})
	b.current = 0
	b.copy()
}

// copy goes through the instructions until the end of the outermost block.
func (b *body) copy() {
	for len(b.levels) > 0 && b.in.err == nil {
		from := b.in.pos
		code := b.in.byte()
		if b.metered {
			b.charges[b.current].cost++
		}
		if code == op.Call || code == op.RefFunc {
			i := b.in.u32()
			b.hasFunction(i)
			if code == op.Call && i < b.a.imports && b.metered {
				b.charges[b.current].cost += importCost
			}
			b.code = op.AppendU32(append(b.code, code), b.a.moved(i))
			continue
		}
		joins := b.operands(code)
		b.code = append(b.code, b.in.b[from:b.in.pos]...)
		if joins && b.metered && len(b.levels) > 0 {
			b.charges = append(b.charges, charge{len(b.code), 1})
			b.current = len(b.charges) - 1
		}
	}
}

// enter opens a block.
func (b *body) enter() {
	if len(b.levels) > maxDepth {
		b.in.fail("depth", "split the function", "blocks nest more than %d deep at byte %d", maxDepth, b.in.base+b.in.pos)
		return
	}
	b.levels = append(b.levels, level{outer: b.current})
}

// leave closes a block, and reports whether what follows gets a charge of its
// own. Else it is paid for by what is around the block.
func (b *body) leave() bool {
	last := len(b.levels) - 1
	l := b.levels[last]
	b.levels = b.levels[:last]
	b.current = l.outer
	return l.join
}

// branchTable passes over a br_table and marks the blocks that it leaves. A mark on a loop or on the function changes
// nothing: the jump to a loop's head meets its charge.
func (b *body) branchTable() {
	r := b.in
	for n := r.count("br-table", "targets of a br_table", maxBranches) + 1; n > 0 && r.err == nil; n-- {
		depth := r.u32()
		if at := len(b.levels) - 1 - int(depth); at > 0 {
			b.levels[at].join = true
		}
	}
}

// operands passes over what follows an instruction's first byte, and refuses instructions that are not offered. It
// reports whether a charge belongs behind the instruction.
func (b *body) operands(code byte) (joins bool) {
	r := b.in
	switch {
	case code == op.Block || code == op.Loop || code == op.If:
		b.blockType()
		b.enter()
		return code == op.Loop
	case code == op.End:
		return b.leave()
	case code == op.Branch || code == op.BranchIf:
		r.u32()
	case code == op.BranchTable:
		b.branchTable()
	case code == op.CallTable:
		b.a.typeAt(r, r.u32())
		r.u32()
	case code == op.SelectTyped:
		r.take(r.count("malformed", "types of a select", maxTypedNames))
	case code == op.LocalGet || code == op.LocalSet || code == op.LocalTee:
		b.hasLocal(r.u32())
	case code == op.GlobalGet || code == op.GlobalSet:
		b.hasGlobal(r.u32())
	case code == op.TableGet || code == op.TableSet:
		r.u32()
		b.a.sticky = b.a.sticky || code == op.TableSet
	case code >= op.LoadFirst && code <= op.StoreLast:
		b.address()
	case code == op.MemorySize || code == op.MemoryGrow || code == op.RefNull:
		r.byte()
	case code == op.I32Const:
		r.skipSigned(5)
	case code == op.I64Const:
		r.skipSigned(10)
	case code == op.F32Const:
		r.take(4)
	case code == op.F64Const:
		r.take(8)
	case code == op.More:
		b.more()
	case code == op.Vector:
		b.vector()
	case code <= 0x01, code == op.Else, code == op.Return, code == op.Drop, code == op.Select, code == op.RefIsNull,
		code >= op.NumberFirst && code <= op.NumberLast:
	default:
		b.refuse("%#x", code)
	}
	return false
}

// blockType passes over the type of a block: one byte, or the number of a
// function type. The numbers behind the last will be the rewriter's.
func (b *body) blockType() {
	r := b.in
	if r.rest() > 0 && r.b[r.pos]&0xc0 == op.Void {
		r.byte()
		return
	}
	b.a.typeAt(r, r.u32())
}

// refuse refuses an instruction.
func (b *body) refuse(format string, code any) {
	b.in.fail("instruction",
		"build for WebAssembly 2.0: without threads, exceptions, tail calls, garbage collection, relaxed SIMD, 64-bit or several memories",
		"instruction "+format+" at byte %d", code, b.in.base+b.in.pos)
}

// address passes over the alignment and offset of a load or store.
func (b *body) address() {
	if align := b.in.u32(); align > 4 {
		b.refuse("with alignment %d", align)
	}
	b.in.u32()
}

// more passes over the operands of an instruction with two bytes, and puts a
// charge before one that costs by its length.
func (b *body) more() {
	r := b.in
	code := r.u32()
	switch code {
	case op.DataDrop, op.TableInit, op.ElemDrop, op.TableCopy, op.TableFill:
		b.a.sticky = true
	}
	switch code {
	case 0, 1, 2, 3, 4, 5, 6, 7: // saturating conversions
	case op.MemoryInit, op.MemoryCopy, op.TableInit, op.TableCopy:
		r.u32()
		r.u32()
		b.chargeLength()
	case op.MemoryFill, op.TableFill:
		r.u32()
		b.chargeLength()
	case op.DataDrop, op.ElemDrop, op.TableSize:
		r.u32()
	case op.TableGrow:
		r.fail("table-grow", "link all functions at build time", "table.grow at byte %d", r.base+r.pos)
	default:
		b.refuse("0xfc %d", code)
	}
}

// vector passes over the operands of a SIMD instruction.
func (b *body) vector() {
	r := b.in
	switch code := r.u32(); {
	case code <= 11 || code == 92 || code == 93: // loads and stores
		b.address()
	case code == 12 || code == 13: // constant, shuffle
		r.take(16)
	case code >= 21 && code <= 34: // lanes
		r.byte()
	case code >= 84 && code <= 91: // loads and stores of lanes
		b.address()
		r.byte()
	case code > 255:
		b.refuse("0xfd %d", code)
	}
}
