//go:build linux && !amd64

package sandbox

// The small programs are machine code, which is there for amd64 only.
var reaperCode, exitCode, spinCode, hogCode []byte

// reaperMachine is the ELF number of no architecture.
const reaperMachine = 0
