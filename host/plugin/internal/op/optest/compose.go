// Package optest composes modules for tests: valid programs of any bytes, and modules of sections that a test writes.
package optest

import (
	"deepoj/host/plugin/internal/op"
	"deepoj/host/plugin/internal/wasi"
)

// Instructions that only composed programs use.
const (
	I32EqualZero  = 0x45
	I32LessU      = 0x49
	I32GreatEqual = 0x4e
	I32Add        = 0x6a
	I32Subtract   = 0x6b
	I32Multiply   = 0x6c
	I32And        = 0x71
	I32Xor        = 0x73
	I32Load       = 0x28
	I32Store      = 0x36
)

// Writer puts a module together.
type Writer struct{ out []byte }

// Section adds a section.
func (w *Writer) Section(id byte, content []byte) {
	w.out = append(op.AppendU32(append(w.out, id), uint32(len(content))), content...)
}

// Module returns the whole module.
func (w *Writer) Module() []byte { return append([]byte(op.Magic), w.out...) }

// Seeds returns n strings of bytes for Compose, each longer than the one before by step. They are the same each time.
func Seeds(n, step int) [][]byte {
	all := make([][]byte, n)
	for i := range all {
		x := uint32(i)*2654435761 + 1
		for range 40 + step*i {
			x ^= x << 13
			x ^= x >> 17
			x ^= x << 5
			all[i] = append(all[i], byte(x))
		}
	}
	return all
}

// composer makes a valid program of bytes: each byte is a choice, and when they
// are used up only the shortest choices are left.
type composer struct {
	data  []byte
	depth int
	code  []byte
}

const (
	composedFunctions = 4 // (i32, i32) → i32
	composedLocals    = 6 // with the parameters; the last is the counter of loops
	maxComposed       = 5 // levels
)

func (c *composer) next(n int) int {
	if len(c.data) == 0 {
		return 0
	}
	b := c.data[0]
	c.data = c.data[1:]
	return int(b) % n
}

func (c *composer) add(b ...byte) { c.code = append(c.code, b...) }

// expression pushes a number.
func (c *composer) expression() {
	c.depth++
	defer func() { c.depth-- }()
	choice := c.next(8)
	if c.depth > maxComposed {
		choice %= 2
	}
	switch choice {
	case 0:
		c.code = op.AppendS64(append(c.code, op.I32Const), int64(int8(c.next(256))))
	case 1:
		c.add(op.LocalGet, byte(c.next(composedLocals)))
	case 2, 3:
		c.expression()
		c.expression()
		c.add([]byte{I32Add, I32Subtract, I32Multiply, I32Xor, I32LessU, I32GreatEqual}[c.next(6)])
	case 4:
		c.address()
		c.add(I32Load, 2, 0)
	case 5:
		c.steps()
		c.add(op.If, op.I32)
		c.expression()
		c.expression()
		c.add(op.Call, byte(1+c.next(composedFunctions)), op.Else, op.I32Const, 3, op.End) // behind the import
	case 6:
		c.steps()
		c.add(op.If, op.I32)
		c.expression()
		c.expression()
		c.expression()
		c.add(op.I32Const, 3, I32And, op.CallTable, 0, 0, op.Else, op.I32Const, 5, op.End)
	case 7:
		c.add(op.I32Const, 1, op.MemoryGrow, 0)
	}
}

// steps pushes whether the program may go on: each loop and call takes a step of a few, so that most programs end.
func (c *composer) steps() {
	c.add(op.GlobalGet, 0, op.I32Const, 1, I32Subtract, op.GlobalSet, 0, op.GlobalGet, 0, op.I32Const, 0, I32GreatEqual)
}

// address pushes an address in the first page.
func (c *composer) address() {
	c.expression()
	c.add(op.I32Const)
	c.code = op.AppendS64(c.code, 0x7ffc)
	c.add(I32And)
}

// statements compose some statements.
func (c *composer) statements() {
	c.depth++
	defer func() { c.depth-- }()
	for range c.next(4) + 1 {
		c.statement()
	}
}

func (c *composer) statement() {
	choice := c.next(9)
	if c.depth > maxComposed {
		choice %= 2
	}
	switch choice {
	case 0:
		c.expression()
		c.add([]byte{op.LocalSet, byte(c.next(composedLocals))}...)
	case 1:
		c.address()
		c.expression()
		c.add(I32Store, 2, 0)
	case 2:
		c.expression()
		c.add(op.If, op.Void)
		c.statements()
		if c.next(2) == 1 {
			c.add(op.Else)
			c.statements()
		}
		c.add(op.End)
	case 3:
		c.add(op.Loop, op.Void)
		c.statements()
		c.again()
	case 4:
		c.add(op.Block, op.Void)
		c.expression()
		c.add(op.BranchIf, 0)
		c.statements()
		c.add(op.End)
	case 5:
		c.table()
	case 6:
		c.address()
		c.expression()
		c.address()
		c.add(op.More, op.MemoryFill, 0)
	case 7:
		c.address()
		c.address()
		c.address()
		c.add(op.More, op.MemoryCopy, 0, 0)
	case 8:
		c.expression()
		c.add(op.If, op.Void, op.Unreachable, op.End)
	}
}

// table composes a loop with a branch table into its parts.
func (c *composer) table() {
	parts := 1 + c.next(4)
	c.add(op.Loop, op.Void)
	c.steps()
	c.add(I32EqualZero, op.If, op.Void, op.I32Const, 9, op.Return, op.End)
	for range parts {
		c.add(op.Block, op.Void)
	}
	c.expression()
	c.add(op.BranchTable, byte(parts))
	for range parts + 1 {
		c.add(byte(c.next(parts + 1))) // the last is the loop's head
	}
	c.add(op.End)
	for i := 1; i < parts; i++ {
		c.statements()
		c.add(op.End)
	}
	c.statements()
	c.again()
}

// again ends a loop.
func (c *composer) again() {
	c.steps()
	c.expression()
	c.add(I32And, op.BranchIf, 0, op.End)
}

// Compose makes a module whose _start calls a function and writes the beginning of its memory to stdout.
func Compose(data []byte) []byte {
	c := &composer{data: data}
	var bodies []byte
	for range composedFunctions {
		c.code, c.depth = []byte{1, composedLocals - 2, op.I32}, 0
		c.statements()
		c.expression()
		c.add(op.End)
		bodies = append(op.AppendU32(bodies, uint32(len(c.code))), c.code...)
	}
	start := []byte{
		0, op.I32Const, 16, op.I32Const, 5, op.I32Const, 7, op.Call, 1, I32Store, 2, 0,
		op.I32Const, 0, op.I32Const, 16, I32Store, 2, 0, // one buffer from 16
		op.I32Const, 4, op.I32Const, 0xc0, 0, I32Store, 2, 0, // of 64 bytes
		op.I32Const, 1, op.I32Const, 0, op.I32Const, 1, op.I32Const, 8, op.Call, 0, op.Drop, op.End,
	}
	bodies = append(op.AppendU32(bodies, uint32(len(start))), start...)

	var w Writer
	w.Section(op.SectionType, []byte{
		3, op.Func, 2, op.I32, op.I32, 1, op.I32,
		op.Func, 4, op.I32, op.I32, op.I32, op.I32, 1, op.I32,
		op.Func, 0, 0,
	})
	w.Section(op.SectionImport, append(op.AppendName(op.AppendName([]byte{1}, wasi.Module), "fd_write"), 0, 1))
	w.Section(op.SectionFunction, []byte{composedFunctions + 1, 0, 0, 0, 0, 2})
	w.Section(op.SectionTable, []byte{1, 0x70, 0, composedFunctions})
	w.Section(op.SectionMemory, []byte{1, 1, 1, 4})
	w.Section(op.SectionGlobal, []byte{1, op.I32, 1, op.I32Const, 0xe4, 0, op.End})
	w.Section(op.SectionExport, append(append(append([]byte{2}, op.AppendName(nil, op.EntryPoint)...), 0, composedFunctions+1), append(op.AppendName(nil, "memory"), 2, 0)...))
	w.Section(op.SectionElement, []byte{1, 0, op.I32Const, 0, op.End, composedFunctions, 1, 2, 3, 4})
	w.Section(op.SectionCode, append([]byte{composedFunctions + 1}, bodies...))
	w.Section(op.SectionData, []byte{1, 0, op.I32Const, 32, op.End, 5, 'h', 'e', 'l', 'l', 'o'})
	return w.Module()
}
