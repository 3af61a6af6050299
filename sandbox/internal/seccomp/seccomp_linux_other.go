//go:build linux && !amd64

package seccomp

// Of another architecture than amd64 the table of system calls is missing: every
// program is killed, and [wire.Supported] says so before.
const (
	nativeArch = 0
	foreignBit = 0
	archOpen   = 0
)

var archDenied, archAbsent []uint32
