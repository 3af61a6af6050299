//go:build linux && !amd64

package elf

// The programs are machine code, which is there for amd64 only.
var reaper, Exit, Spin, Hog []byte

// Machine is the number of no architecture.
const Machine = 0
