// Package op has the words of WebAssembly's binary format: instructions by their
// numbers, types of values, sections, and how numbers and names are written.
//
// Source: https://webassembly.github.io/spec/core/binary/
package op

// Value types and section numbers of the binary format.
const (
	I32  = 0x7f
	I64  = 0x7e
	F64  = 0x7c
	Func = 0x60
	Void = 0x40

	SectionCustom    = 0
	SectionType      = 1
	SectionImport    = 2
	SectionFunction  = 3
	SectionTable     = 4
	SectionMemory    = 5
	SectionGlobal    = 6
	SectionExport    = 7
	SectionStart     = 8
	SectionElement   = 9
	SectionCode      = 10
	SectionData      = 11
	SectionDataCount = 12
)

// Magic is how a module of version 1 begins.
const Magic = "\x00asm\x01\x00\x00\x00"

// EntryPoint is the function of a command module that the host calls.
const EntryPoint = "_start"

// Instructions that the rewriter speaks of or writes.
const (
	Unreachable = 0x00
	Block       = 0x02
	Loop        = 0x03
	If          = 0x04
	Else        = 0x05
	End         = 0x0b
	Branch      = 0x0c
	BranchIf    = 0x0d
	BranchTable = 0x0e
	Return      = 0x0f
	Call        = 0x10
	CallTable   = 0x11
	Drop        = 0x1a
	Select      = 0x1b
	SelectTyped = 0x1c
	LocalGet    = 0x20
	LocalSet    = 0x21
	LocalTee    = 0x22
	GlobalGet   = 0x23
	GlobalSet   = 0x24
	TableGet    = 0x25
	TableSet    = 0x26
	LoadFirst   = 0x28
	StoreLast   = 0x3e
	MemorySize  = 0x3f
	MemoryGrow  = 0x40
	I32Const    = 0x41
	I64Const    = 0x42
	F32Const    = 0x43
	F64Const    = 0x44
	NumberFirst = 0x45
	I64Less     = 0x53 // signed
	I64AtLeast  = 0x59 // signed
	I64Add      = 0x7c
	I64Subtract = 0x7d
	I64Shift    = 0x88 // right, unsigned
	I64Extend   = 0xad // from 32 bits, unsigned
	NumberLast  = 0xc4
	RefNull     = 0xd0
	RefIsNull   = 0xd1
	RefFunc     = 0xd2
	More        = 0xfc
	Vector      = 0xfd
)

// The bulk operations, which cost by their length.
const (
	MemoryInit = 8
	DataDrop   = 9
	MemoryCopy = 10
	MemoryFill = 11
	TableInit  = 12
	ElemDrop   = 13
	TableCopy  = 14
	TableGrow  = 15
	TableSize  = 16
	TableFill  = 17
)

// AppendU32 appends v as an unsigned LEB128 number.
func AppendU32(b []byte, v uint32) []byte {
	for v >= 0x80 {
		b = append(b, byte(v)|0x80)
		v >>= 7
	}
	return append(b, byte(v))
}

// AppendS64 appends v as a signed LEB128 number.
func AppendS64(b []byte, v int64) []byte {
	for {
		c := byte(v & 0x7f)
		v >>= 7
		if v == 0 && c&0x40 == 0 || v == -1 && c&0x40 != 0 {
			return append(b, c)
		}
		b = append(b, c|0x80)
	}
}

// AppendName appends s with its length.
func AppendName(b []byte, s string) []byte {
	return append(AppendU32(b, uint32(len(s))), s...)
}
