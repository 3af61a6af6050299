// Package wasi is WASI preview 1 for a guest that sees nothing but the files of one call.
package wasi

import (
	"context"
	"encoding/binary"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/sys"
)

// This is WASI preview 1 for a guest that sees nothing but the files of one call: no clock runs, no number is random,
// nothing waits. All that it knows of a call is in a [World], so that an instance can be used again with another.
//
// Source: https://github.com/WebAssembly/WASI/blob/main/legacy/preview1/docs.md

// errno is an error as WASI numbers it.
type errno uint32

const (
	errnoSuccess     errno = 0
	errnoBadf        errno = 8
	errnoExist       errno = 20
	errnoFault       errno = 21
	errnoInval       errno = 28
	errnoIO          errno = 29
	errnoIsdir       errno = 31
	errnoMfile       errno = 33
	errnoNametoolong errno = 37
	errnoNoent       errno = 44
	errnoNosys       errno = 52
	errnoNotdir      errno = 54
	errnoNotsup      errno = 58
	errnoPerm        errno = 63
	errnoRofs        errno = 69
	errnoSpipe       errno = 70
)

// What a guest's clocks say: they begin at the same time in each call, the one
// on the wall with the year 2022, and go on by a millisecond when they are read.
const (
	clockWall      = 0
	clockMonotonic = 1

	firstWallNanos = 1_640_995_200_000_000_000
	clockStepNanos = 1_000_000
)

// HostFunctions builds the functions that guests may import from WASI. They serve
// the world that is the present one when they are called.
func HostFunctions(engine wazero.Runtime, present func() *World) wazero.HostModuleBuilder {
	builder := engine.NewHostModuleBuilder(Module)
	for name, f := range Functions {
		params, results := valueTypes(f.Types)
		call := func(_ context.Context, guest api.Module, stack []uint64) {
			e := f.call(present(), guest.Memory(), stack)
			if len(results) > 0 {
				stack[0] = uint64(e)
			}
		}
		builder.NewFunctionBuilder().WithGoModuleFunction(api.GoModuleFunc(call), params, results).Export(name)
	}
	return builder
}

// valueTypes reads the types of a [Function].
func valueTypes(types string) (params, results []api.ValueType) {
	into := &params
	for _, letter := range types {
		switch letter {
		case 'i':
			*into = append(*into, api.ValueTypeI32)
		case 'I':
			*into = append(*into, api.ValueTypeI64)
		case ':':
			into = &results
		}
	}
	return params, results
}

// nosys is for what does not exist in a guest's world.
func (w *World) nosys(api.Memory, []uint64) errno { return errnoNosys }

// badf is for what takes a socket, of which there is none.
func (w *World) badf(api.Memory, []uint64) errno { return errnoBadf }

// nothing is for what needs nothing done.
func (w *World) nothing(api.Memory, []uint64) errno { return errnoSuccess }

func (w *World) argsSizesGet(m api.Memory, p []uint64) errno {
	size := 0
	for _, a := range w.Args {
		size += len(a) + 1
	}
	return putU32s(m, p[0], len(w.Args), p[1], size)
}

func (w *World) argsGet(m api.Memory, p []uint64) errno {
	argv, text := uint32(p[0]), uint32(p[1])
	for _, a := range w.Args {
		if !m.WriteUint32Le(argv, text) || !m.WriteString(text, a) || !m.WriteByte(text+uint32(len(a)), 0) {
			return errnoFault
		}
		argv += 4
		text += uint32(len(a)) + 1
	}
	return errnoSuccess
}

func (w *World) environSizesGet(m api.Memory, p []uint64) errno {
	return putU32s(m, p[0], 0, p[1], 0)
}

// putU32s writes two results.
func putU32s(m api.Memory, at1 uint64, v1 int, at2 uint64, v2 int) errno {
	if !m.WriteUint32Le(uint32(at1), uint32(v1)) || !m.WriteUint32Le(uint32(at2), uint32(v2)) {
		return errnoFault
	}
	return errnoSuccess
}

func (w *World) clockResGet(m api.Memory, p []uint64) errno {
	if uint32(p[0]) > clockMonotonic {
		return errnoInval
	}
	return putU64(m, p[1], clockStepNanos)
}

func (w *World) clockTimeGet(m api.Memory, p []uint64) errno {
	id := uint32(p[0])
	if id > clockMonotonic {
		return errnoInval
	}
	now := w.read[id] * clockStepNanos
	w.read[id]++
	if id == clockWall {
		now += firstWallNanos
	}
	return putU64(m, p[2], now)
}

func putU64(m api.Memory, at, v uint64) errno {
	if !m.WriteUint64Le(uint32(at), v) {
		return errnoFault
	}
	return errnoSuccess
}

func (w *World) randomGet(m api.Memory, p []uint64) errno {
	b, ok := m.Read(uint32(p[0]), uint32(p[1]))
	if !ok {
		return errnoFault
	}
	if _, err := w.dice.Read(b); err != nil {
		return errnoIO
	}
	return errnoSuccess
}

// procExit ends the guest. The instance stays as it is.
func (w *World) procExit(_ api.Memory, p []uint64) errno {
	panic(sys.NewExitError(uint32(p[0]))) //nolint:forbidigo // the engine takes it for the exit: no other way leaves a guest
}

// ExitCode returns the code that a guest ended with, when err says that it did so by itself.
func ExitCode(err error) (uint32, bool) {
	if exit, ok := errors.AsType[*sys.ExitError](err); ok {
		return exit.ExitCode(), true
	}
	return 0, err == nil
}

// The layout of poll_oneoff's arguments.
const (
	subscriptionBytes = 48
	subscriptionTag   = 8 // where the kind stands
	eventBytes        = 32
	eventKind         = 10
	maxSubscriptions  = 64
)

// pollOneoff answers in a world without waiting: every timer has run out, every descriptor is ready.
func (w *World) pollOneoff(m api.Memory, p []uint64) errno {
	in, out, n := uint32(p[0]), uint32(p[1]), uint32(p[2])
	if n == 0 || n > maxSubscriptions {
		return errnoInval
	}
	subscriptions, ok := m.Read(in, n*subscriptionBytes)
	if !ok {
		return errnoFault
	}
	events := make([]byte, n*eventBytes)
	for i := range n {
		s := subscriptions[i*subscriptionBytes:]
		e := events[i*eventBytes:]
		copy(e[:8], s[:8])
		binary.LittleEndian.PutUint16(e[eventKind:], uint16(s[subscriptionTag]))
	}
	if !m.Write(out, events) || !m.WriteUint32Le(uint32(p[3]), n) {
		return errnoFault
	}
	return errnoSuccess
}

// Module is the only module that guests may import from.
const Module = "wasi_snapshot_preview1"

// Functions are the functions that guests may import. Sockets are not among them except the two that every Go program
// names; they fail, since no socket exists.
var Functions = map[string]Function{
	"args_get":                {"ii:i", (*World).argsGet},
	"args_sizes_get":          {"ii:i", (*World).argsSizesGet},
	"environ_get":             {"ii:i", (*World).nothing},
	"environ_sizes_get":       {"ii:i", (*World).environSizesGet},
	"clock_res_get":           {"ii:i", (*World).clockResGet},
	"clock_time_get":          {"iIi:i", (*World).clockTimeGet},
	"fd_advise":               {"iIIi:i", (*World).fdSync},
	"fd_allocate":             {"iII:i", (*World).fdAllocate},
	"fd_close":                {"i:i", (*World).fdClose},
	"fd_datasync":             {"i:i", (*World).fdSync},
	"fd_fdstat_get":           {"ii:i", (*World).fdFdstatGet},
	"fd_fdstat_set_flags":     {"ii:i", (*World).fdFdstatSetFlags},
	"fd_fdstat_set_rights":    {"iII:i", (*World).nosys},
	"fd_filestat_get":         {"ii:i", (*World).fdFilestatGet},
	"fd_filestat_set_size":    {"iI:i", (*World).fdFilestatSetSize},
	"fd_filestat_set_times":   {"iIIi:i", (*World).fdSync},
	"fd_pread":                {"iiiIi:i", (*World).fdPread},
	"fd_prestat_get":          {"ii:i", (*World).fdPrestatGet},
	"fd_prestat_dir_name":     {"iii:i", (*World).fdPrestatDirName},
	"fd_pwrite":               {"iiiIi:i", (*World).fdPwrite},
	"fd_read":                 {"iiii:i", (*World).fdRead},
	"fd_readdir":              {"iiiIi:i", (*World).fdReaddir},
	"fd_renumber":             {"ii:i", (*World).fdRenumber},
	"fd_seek":                 {"iIii:i", (*World).fdSeek},
	"fd_sync":                 {"i:i", (*World).fdSync},
	"fd_tell":                 {"ii:i", (*World).fdTell},
	"fd_write":                {"iiii:i", (*World).fdWrite},
	"path_create_directory":   {"iii:i", (*World).nosys},
	"path_filestat_get":       {"iiiii:i", (*World).pathFilestatGet},
	"path_filestat_set_times": {"iiiiIIi:i", (*World).pathFilestatSetTimes},
	"path_link":               {"iiiiiii:i", (*World).nosys},
	"path_open":               {"iiiiiIIii:i", (*World).pathOpen},
	"path_readlink":           {"iiiiii:i", (*World).nosys},
	"path_remove_directory":   {"iii:i", (*World).nosys},
	"path_rename":             {"iiiiii:i", (*World).pathRename},
	"path_symlink":            {"iiiii:i", (*World).nosys},
	"path_unlink_file":        {"iii:i", (*World).pathUnlinkFile},
	"poll_oneoff":             {"iiii:i", (*World).pollOneoff},
	"proc_exit":               {"i:", (*World).procExit},
	"proc_raise":              {"i:i", (*World).nosys},
	"random_get":              {"ii:i", (*World).randomGet},
	"sched_yield":             {":i", (*World).nothing},
	"sock_accept":             {"iii:i", (*World).badf},
	"sock_shutdown":           {"ii:i", (*World).badf},
}

// Function is one of them.
type Function struct {
	Types string // parameters and results: i is a 32-bit number, I a 64-bit one
	call  func(w *World, m api.Memory, p []uint64) errno
}

// Offered lists the functions for a remedy.
func Offered() string {
	return strings.Join(slices.Sorted(maps.Keys(Functions)), " ")
}
