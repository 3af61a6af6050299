// Package wire is how the host and its children speak: the commands and limits that a
// child starts with, and the frames that a worker and the host exchange.
package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// The host and a worker speak over a pair of stream sockets, in turns: the host sends a request with file descriptors,
// the worker sends a reply. A frame is the lengths of a header and of a blob, 32 bits each, then both. What headers
// hold is in message.go.
const (
	frameHead    = 8
	maxHeader    = 4 << 20
	maxBlob      = 256 << 20
	MaxFiles     = 64
	firstReceive = 64 << 10
)

// socket is one end of the pair: the host's waits as goroutines do and has
// deadlines, the worker's is the business of its only thread.
type socket interface {
	// Receive returns 0 bytes at the end.
	receive(p, oob []byte) (n, oobn, flags int, err error)
	send(p, oob []byte) (int, error)
}

// hostSocket is the host's end.
type hostSocket struct{ *net.UnixConn }

func (s hostSocket) receive(p, oob []byte) (n, oobn, flags int, err error) {
	n, oobn, flags, _, err = s.ReadMsgUnix(p, oob)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return n, oobn, flags, err
}

func (s hostSocket) send(p, oob []byte) (int, error) {
	n, _, err := s.WriteMsgUnix(p, oob, nil)
	return n, err
}

// workerSocket is the worker's end: a descriptor that blocks.
type workerSocket int

func (s workerSocket) receive(p, oob []byte) (n, oobn, flags int, err error) {
	for {
		n, oobn, flags, _, err = unix.Recvmsg(int(s), p, oob, closeReceived)
		if !errors.Is(err, unix.EINTR) {
			return n, oobn, flags, err
		}
	}
}

func (s workerSocket) send(p, oob []byte) (int, error) {
	for {
		n, err := unix.SendmsgN(int(s), p, oob, nil, unix.MSG_NOSIGNAL)
		if !errors.Is(err, unix.EINTR) {
			return n, err
		}
	}
}

// Link speaks in frames over a socket.
type Link struct {
	socket socket
	first  []byte // what arrives with a frame's first packet
	oob    []byte
	frame  []byte // what is sent
}

// HostLink returns the host's end of a connection.
func HostLink(c *net.UnixConn) *Link { return newLink(hostSocket{c}) }

// WorkerLink returns the worker's end, a descriptor that blocks.
func WorkerLink(fd int) *Link { return newLink(workerSocket(fd)) }

func newLink(s socket) *Link {
	return &Link{socket: s, first: make([]byte, firstReceive), oob: make([]byte, unix.CmsgSpace(MaxFiles*4))}
}

// keptFrame is how large a buffer is kept for the next frame.
const keptFrame = 1 << 20

// Send writes a frame with descriptors. The header's encoding is appended by header.
func (l *Link) Send(header func([]byte) []byte, blob []byte, files []*os.File) error {
	frame := header(append(l.frame[:0], make([]byte, frameHead)...))
	binary.LittleEndian.PutUint32(frame, uint32(len(frame)-frameHead))
	binary.LittleEndian.PutUint32(frame[4:], uint32(len(blob)))
	frame = append(frame, blob...)
	if l.frame = frame; cap(frame) > keptFrame {
		l.frame = nil
	}
	return withDescriptors(files, make([]int, 0, len(files)), func(fds []int) error {
		var oob []byte
		if len(fds) > 0 {
			oob = unix.UnixRights(fds...)
		}
		for rest := frame; len(rest) > 0; oob = nil {
			n, err := l.socket.send(rest, oob)
			if err != nil {
				return fmt.Errorf("send frame: %w", err)
			}
			rest = rest[n:]
		}
		return nil
	})
}

// withDescriptors calls fn with the descriptors of files, which stay open and in their mode meanwhile.
func withDescriptors(files []*os.File, fds []int, fn func([]int) error) error {
	if len(files) == 0 {
		return fn(fds)
	}
	raw, err := files[0].SyscallConn()
	if err != nil {
		return fmt.Errorf("take descriptor: %w", err)
	}
	var inner error
	err = raw.Control(func(fd uintptr) { inner = withDescriptors(files[1:], append(fds, int(fd)), fn) })
	if err != nil {
		return fmt.Errorf("take descriptor: %w", err)
	}
	return inner
}

// Receive reads a frame. The header and the blob are valid until the next one is
// received; the descriptors are the caller's also when there is an error.
func (l *Link) Receive() (header, blob []byte, fds []int, err error) {
	n, oobn, flags, err := l.socket.receive(l.first, l.oob)
	if err != nil {
		return nil, nil, nil, err
	}
	if n == 0 {
		return nil, nil, nil, io.EOF
	}
	fds, err = parseRights(l.oob[:oobn])
	if err == nil && flags&unix.MSG_CTRUNC != 0 {
		err = errors.New("receive frame: too many descriptors")
	}
	if err != nil {
		return nil, nil, fds, err
	}
	if n, err = l.fill(l.first, n, frameHead); err != nil {
		return nil, nil, fds, err
	}
	headLen, blobLen := binary.LittleEndian.Uint32(l.first), binary.LittleEndian.Uint32(l.first[4:])
	if headLen > maxHeader || blobLen > maxBlob {
		return nil, nil, fds, fmt.Errorf("receive frame: %d and %d bytes are too many", headLen, blobLen)
	}
	body, size := l.first[frameHead:], int(headLen)+int(blobLen)
	if size > len(body) {
		body = make([]byte, size)
		copy(body, l.first[frameHead:n])
	}
	if _, err := l.fill(body, n-frameHead, size); err != nil {
		return nil, nil, fds, err
	}
	return body[:headLen:headLen], body[headLen:size:size], fds, nil
}

// fill receives until p, which has n bytes, has at least want.
func (l *Link) fill(p []byte, n, want int) (int, error) {
	for n < want {
		k, _, _, err := l.socket.receive(p[n:want], nil)
		if err == nil && k == 0 {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return n, fmt.Errorf("receive frame: %w", err)
		}
		n += k
	}
	return n, nil
}

// parseRights returns the descriptors of a control message.
func parseRights(oob []byte) ([]int, error) {
	if len(oob) == 0 {
		return nil, nil
	}
	messages, err := unix.ParseSocketControlMessage(oob)
	if err != nil {
		return nil, fmt.Errorf("receive descriptors: %w", err)
	}
	var all []int
	for i := range messages {
		fds, err := unix.ParseUnixRights(&messages[i])
		if err != nil {
			return all, fmt.Errorf("receive descriptors: %w", err)
		}
		all = append(all, fds...)
	}
	return all, nil
}

// The hidden commands of a program, which it hands to the runtime's Child.
const (
	CompileCommand = "plugin-compile"
	WorkerCommand  = "plugin-worker"
)

// Exit statuses of a child. A Go program that dies by itself has 2.
const (
	ExitDone    = 0
	ExitInvalid = 3 // the module is not valid; why is on stdout
	ExitBroken  = 4 // the child could not do its work; why is on stderr
)

// Files of a module's folder in the cache, and the compiler's own folder beside them all.
const (
	ModuleFile = "module.wasm" // rewritten
	CodeDir    = "code"
)

// Limits are what a child does to itself before it touches a module.
type Limits struct {
	Dir        string        `json:"dir,omitempty"`         // compile child: the module's folder; worker: the cache
	Again      bool          `json:"again,omitempty"`       // compile child: the module was compiled before
	GuestBytes int64         `json:"guest_bytes,omitempty"` // worker: largest memory of a guest
	DataBytes  int64         `json:"data_bytes"`            // what it may allocate
	CPU        time.Duration `json:"cpu,omitempty"`         // whole seconds; 0 = no limit
}

// MaxDetail is how much is kept of what an engine says of a trap, and of other descriptions.
const MaxDetail = 2 << 10
