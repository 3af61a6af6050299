package plugin

// Instructions that only composed programs use.
const (
	opI32EqualZero  = 0x45
	opI32LessU      = 0x49
	opI32GreatEqual = 0x4e
	opI32Add        = 0x6a
	opI32Subtract   = 0x6b
	opI32Multiply   = 0x6c
	opI32And        = 0x71
	opI32Xor        = 0x73
	opI32Load       = 0x28
	opI32Store      = 0x36
)

// writer puts a module together.
type writer struct{ out []byte }

func (w *writer) section(id byte, content []byte) {
	w.out = append(appendU32(append(w.out, id), uint32(len(content))), content...)
}

func (w *writer) module() []byte { return append([]byte("\x00asm\x01\x00\x00\x00"), w.out...) }

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
		c.code = appendS64(append(c.code, opI32Const), int64(int8(c.next(256))))
	case 1:
		c.add(opLocalGet, byte(c.next(composedLocals)))
	case 2, 3:
		c.expression()
		c.expression()
		c.add([]byte{opI32Add, opI32Subtract, opI32Multiply, opI32Xor, opI32LessU, opI32GreatEqual}[c.next(6)])
	case 4:
		c.address()
		c.add(opI32Load, 2, 0)
	case 5:
		c.steps()
		c.add(opIf, typeI32)
		c.expression()
		c.expression()
		c.add(opCall, byte(1+c.next(composedFunctions)), opElse, opI32Const, 3, opEnd) // behind the import
	case 6:
		c.steps()
		c.add(opIf, typeI32)
		c.expression()
		c.expression()
		c.expression()
		c.add(opI32Const, 3, opI32And, opCallTable, 0, 0, opElse, opI32Const, 5, opEnd)
	case 7:
		c.add(opI32Const, 1, opMemoryGrow, 0)
	}
}

// steps pushes whether the program may go on: each loop and call takes a step of
// a few, so that most programs end.
func (c *composer) steps() {
	c.add(opGlobalGet, 0, opI32Const, 1, opI32Subtract, opGlobalSet, 0, opGlobalGet, 0, opI32Const, 0, opI32GreatEqual)
}

// address pushes an address in the first page.
func (c *composer) address() {
	c.expression()
	c.add(opI32Const)
	c.code = appendS64(c.code, 0x7ffc)
	c.add(opI32And)
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
		c.add([]byte{opLocalSet, byte(c.next(composedLocals))}...)
	case 1:
		c.address()
		c.expression()
		c.add(opI32Store, 2, 0)
	case 2:
		c.expression()
		c.add(opIf, typeVoid)
		c.statements()
		if c.next(2) == 1 {
			c.add(opElse)
			c.statements()
		}
		c.add(opEnd)
	case 3:
		c.add(opLoop, typeVoid)
		c.statements()
		c.again()
	case 4:
		c.add(opBlock, typeVoid)
		c.expression()
		c.add(opBranchIf, 0)
		c.statements()
		c.add(opEnd)
	case 5:
		c.table()
	case 6:
		c.address()
		c.expression()
		c.address()
		c.add(opMore, moreMemoryFill, 0)
	case 7:
		c.address()
		c.address()
		c.address()
		c.add(opMore, moreMemoryCopy, 0, 0)
	case 8:
		c.expression()
		c.add(opIf, typeVoid, opUnreachable, opEnd)
	}
}

// table composes a loop with a branch table into its parts.
func (c *composer) table() {
	parts := 1 + c.next(4)
	c.add(opLoop, typeVoid)
	c.steps()
	c.add(opI32EqualZero, opIf, typeVoid, opI32Const, 9, opReturn, opEnd)
	for range parts {
		c.add(opBlock, typeVoid)
	}
	c.expression()
	c.add(opBranchTable, byte(parts))
	for range parts + 1 {
		c.add(byte(c.next(parts + 1))) // the last is the loop's head
	}
	c.add(opEnd)
	for i := 1; i < parts; i++ {
		c.statements()
		c.add(opEnd)
	}
	c.statements()
	c.again()
}

// again ends a loop.
func (c *composer) again() {
	c.steps()
	c.expression()
	c.add(opI32And, opBranchIf, 0, opEnd)
}

// compose makes a module whose _start calls a function and writes the beginning
// of its memory to stdout.
func compose(data []byte) []byte {
	c := &composer{data: data}
	var bodies []byte
	for range composedFunctions {
		c.code, c.depth = []byte{1, composedLocals - 2, typeI32}, 0
		c.statements()
		c.expression()
		c.add(opEnd)
		bodies = append(appendU32(bodies, uint32(len(c.code))), c.code...)
	}
	start := []byte{
		0, opI32Const, 16, opI32Const, 5, opI32Const, 7, opCall, 1, opI32Store, 2, 0,
		opI32Const, 0, opI32Const, 16, opI32Store, 2, 0, // one buffer from 16
		opI32Const, 4, opI32Const, 0xc0, 0, opI32Store, 2, 0, // of 64 bytes
		opI32Const, 1, opI32Const, 0, opI32Const, 1, opI32Const, 8, opCall, 0, opDrop, opEnd,
	}
	bodies = append(appendU32(bodies, uint32(len(start))), start...)

	var w writer
	w.section(sectionType, []byte{
		3, typeFunc, 2, typeI32, typeI32, 1, typeI32,
		typeFunc, 4, typeI32, typeI32, typeI32, typeI32, 1, typeI32,
		typeFunc, 0, 0,
	})
	w.section(sectionImport, append(appendName(appendName([]byte{1}, wasiModule), "fd_write"), 0, 1))
	w.section(sectionFunction, []byte{composedFunctions + 1, 0, 0, 0, 0, 2})
	w.section(sectionTable, []byte{1, 0x70, 0, composedFunctions})
	w.section(sectionMemory, []byte{1, 1, 1, 4})
	w.section(sectionGlobal, []byte{1, typeI32, 1, opI32Const, 0xe4, 0, opEnd})
	w.section(sectionExport, append(append(append([]byte{2}, appendName(nil, entryPoint)...), 0, composedFunctions+1), append(appendName(nil, "memory"), 2, 0)...))
	w.section(sectionElement, []byte{1, 0, opI32Const, 0, opEnd, composedFunctions, 1, 2, 3, 4})
	w.section(sectionCode, append([]byte{composedFunctions + 1}, bodies...))
	w.section(sectionData, []byte{1, 0, opI32Const, 32, opEnd, 5, 'h', 'e', 'l', 'l', 'o'})
	return w.module()
}
