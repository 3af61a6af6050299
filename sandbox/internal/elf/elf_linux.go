// Package elf makes programs of a few bytes of machine code: the first process of a room, and those of self-tests. They
// share no memory with whoever starts them and need no file of the host.
package elf

import "encoding/binary"

// Reaper returns an executable that sleeps until its standard input ends.
func Reaper() []byte { return Executable(reaper) }

// Executable returns an ELF executable that holds nothing but code.
func Executable(code []byte) []byte {
	const base, head = 0x400000, 64 + 56
	le := binary.LittleEndian
	b := []byte{0x7f, 'E', 'L', 'F', 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0}
	b = le.AppendUint16(b, 2) // executable
	b = le.AppendUint16(b, Machine)
	b = le.AppendUint32(b, 1)
	b = le.AppendUint64(b, base+head) // entry
	b = le.AppendUint64(b, 64)        // program headers
	b = le.AppendUint64(b, 0)         // no sections
	b = le.AppendUint32(b, 0)
	for _, v := range []uint16{64, 56, 1, 64, 0, 0} { // header sizes and counts
		b = le.AppendUint16(b, v)
	}
	b = le.AppendUint32(b, 1) // load
	b = le.AppendUint32(b, 5) // read and execute
	size := uint64(head + len(code))
	for _, v := range []uint64{0, base, base, size, size, 0x1000} {
		b = le.AppendUint64(b, v)
	}
	return append(b, code...)
}

// ExitStatus is the exit status of the self-test's program.
const ExitStatus = 7
