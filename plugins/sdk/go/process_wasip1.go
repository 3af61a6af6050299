package sdk

import (
	"bytes"
	"errors"
	"io"
	"runtime"
	"strconv"
	"structs"
	"unsafe"
)

// What a guest needs of WASI preview 1. Addresses and sizes have 32 bits there, whatever Go makes of them.

//go:wasmimport wasi_snapshot_preview1 args_sizes_get
//go:noescape
func argsSizesGet(count, size *uint32) (errno uint32)

//go:wasmimport wasi_snapshot_preview1 args_get
//go:noescape
func argsGet(starts *uint32, text *byte) (errno uint32)

//go:wasmimport wasi_snapshot_preview1 fd_read
//go:noescape
func fdRead(fd int32, pieces *piece, count uint32, done *uint32) (errno uint32)

//go:wasmimport wasi_snapshot_preview1 fd_write
//go:noescape
func fdWrite(fd int32, pieces *piece, count uint32, done *uint32) (errno uint32)

//go:wasmimport wasi_snapshot_preview1 proc_exit
func procExit(status uint32)

// piece is an iovec: memory to read into or to write.
type piece struct {
	_             structs.HostLayout
	address, size uint32
}

func pieceOf(b []byte) *piece {
	return &piece{address: uint32(uintptr(unsafe.Pointer(unsafe.SliceData(b)))), size: uint32(len(b))}
}

// eintr is the errno of a call to be made again.
const eintr = 27

// descriptor is an open file.
type descriptor int32

// The standard streams.
const (
	stdin descriptor = iota
	stdout
	stderr
)

// Read implements [io.Reader].
func (d descriptor) Read(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	for {
		var done uint32
		errno := fdRead(int32(d), pieceOf(b), 1, &done)
		runtime.KeepAlive(b)
		switch {
		case errno == eintr:
		case errno != 0:
			return 0, failed("fd_read", errno)
		case done == 0:
			return 0, io.EOF
		default:
			return int(done), nil
		}
	}
}

// Write implements [io.Writer].
func (d descriptor) Write(b []byte) (int, error) {
	written := 0
	for written < len(b) {
		var done uint32
		errno := fdWrite(int32(d), pieceOf(b[written:]), 1, &done)
		runtime.KeepAlive(b)
		switch {
		case errno == eintr:
		case errno != 0:
			return written, failed("fd_write", errno)
		case done == 0:
			return written, io.ErrShortWrite
		default:
			written += int(done)
		}
	}
	return written, nil
}

// arguments returns what the guest was called with, its name first.
func arguments() ([]string, error) {
	var count, size uint32
	if errno := argsSizesGet(&count, &size); errno != 0 {
		return nil, failed("args_sizes_get", errno)
	}
	if count == 0 {
		return nil, nil
	}
	starts, text := make([]uint32, count), make([]byte, size)
	if errno := argsGet(unsafe.SliceData(starts), unsafe.SliceData(text)); errno != 0 {
		return nil, failed("args_get", errno)
	}
	args := make([]string, 0, count)
	for range count {
		arg, rest, _ := bytes.Cut(text, []byte{0})
		args, text = append(args, string(arg)), rest
	}
	return args, nil
}

func exit(status int) { procExit(uint32(status)) }

func failed(call string, errno uint32) error {
	return errors.New(call + " fails with errno " + strconv.FormatUint(uint64(errno), 10))
}
