package plugin

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// The host and a worker speak over a pair of stream sockets, in turns: the host
// sends a request with file descriptors, the worker sends a reply. A frame is
// the lengths of a JSON header and of a blob, 32 bits each, then both.
const (
	frameHead    = 8
	maxHeader    = 4 << 20
	maxBlob      = 256 << 20
	maxFiles     = 64
	firstReceive = 64 << 10
)

// batch asks a worker to call guests, one after the other. The descriptors of
// the calls follow each other. Only a single call may have a blob.
type batch struct {
	Calls []request `json:"calls"`
}

// replies answers a batch: a reply for each call, whose parts follow each other
// in the blob.
type replies struct {
	All []reply `json:"replies"`
}

// request asks a worker to call a guest.
type request struct {
	Dir         string   `json:"dir"`                // the module's folder in the cache
	Args        []string `json:"args"`               // argv; argv[0] is the dialect's word for the guest
	Files       []string `json:"files,omitempty"`    // names of the descriptors that are files of the guest, in order
	Stdin       stdin    `json:"stdin,omitempty"`    // where the guest reads
	Feedback    bool     `json:"feedback,omitempty"` // whether there is a folder to write in
	MemoryBytes int64    `json:"memory_bytes"`
	Fuel        int64    `json:"fuel"`
	OutputBytes int64    `json:"output_bytes"`
}

// stdin says where a guest reads.
type stdin string

const (
	stdinEmpty stdin = ""
	stdinBlob  stdin = "blob" // the blob of the request
	stdinFile  stdin = "file" // the descriptor after those of Files, from 0
	stdinLive  stdin = "live" // the descriptor after those of Files; the next is stdout
)

// reply is what came of it. The parts of its blob are in the order of Parts.
type reply struct {
	Exit        uint32 `json:"exit"`
	Fault       fault  `json:"fault,omitempty"` // why there is no exit status
	Detail      string `json:"detail,omitempty"`
	Fuel        uint64 `json:"fuel"`
	CPUNanos    int64  `json:"cpu_nanos"`
	HeardEnd    bool   `json:"heard_end,omitempty"` // with stdinLive: the program was first to stop talking
	MemoryBytes int64  `json:"memory_bytes"`        // what the guest's memory grew to
	GrowsDenied int    `json:"grows_denied,omitempty"`
	Parts       []part `json:"parts,omitempty"`
}

// part is a stream or file that a guest wrote.
type part struct {
	Name  string `json:"name"`
	Bytes int    `json:"bytes"`
}

// Names of parts. Those with a slash are no files of the feedback folder.
const (
	partStdout = "/stdout"
	partStderr = "/stderr"
	partTalk   = "/talk"
	partJudge  = "judgemessage.txt"
	partTout   = "tout"
)

// fault says what kept a guest from ending by itself.
type fault string

const (
	faultNone   fault = ""
	faultFuel   fault = "fuel"
	faultOutput fault = "output"
	faultTrap   fault = "trap"
	faultMemory fault = "memory" // less memory than its module starts with
	faultModule fault = "module" // the folder in the cache is damaged
)

// link is one end of the pair.
type link struct {
	*net.UnixConn
	first []byte // what arrives with a frame's first packet
	oob   []byte
}

func newLink(c *net.UnixConn) *link {
	return &link{c, make([]byte, firstReceive), make([]byte, unix.CmsgSpace(maxFiles*4))}
}

// send writes a frame with descriptors.
func (l *link) send(header any, blob []byte, files []*os.File) error {
	head, err := json.Marshal(header)
	if err != nil {
		return fmt.Errorf("encode frame: %w", err)
	}
	frame := make([]byte, frameHead, frameHead+len(head)+len(blob))
	binary.LittleEndian.PutUint32(frame, uint32(len(head)))
	binary.LittleEndian.PutUint32(frame[4:], uint32(len(blob)))
	frame = append(append(frame, head...), blob...)
	return withDescriptors(files, nil, func(fds []int) error {
		var oob []byte
		if len(fds) > 0 {
			oob = unix.UnixRights(fds...)
		}
		n, _, err := l.WriteMsgUnix(frame, oob, nil)
		if err == nil && n < len(frame) {
			_, err = l.Write(frame[n:])
		}
		if err != nil {
			return fmt.Errorf("send frame: %w", err)
		}
		return nil
	})
}

// withDescriptors calls fn with the descriptors of files, which stay open and in
// their mode meanwhile.
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

// receive reads a frame into header and returns its blob and descriptors. The
// descriptors are the caller's also when there is an error.
func (l *link) receive(header any) (blob []byte, files []*os.File, err error) {
	buf := l.first
	n, oobn, flags, _, err := l.ReadMsgUnix(buf, l.oob)
	if err != nil {
		return nil, nil, err
	}
	if n == 0 {
		return nil, nil, io.EOF
	}
	files, err = parseRights(l.oob[:oobn])
	if err == nil && flags&unix.MSG_CTRUNC != 0 {
		err = errors.New("receive frame: too many descriptors")
	}
	if err != nil {
		return nil, files, err
	}
	if n < frameHead {
		if _, err := io.ReadFull(l, buf[n:frameHead]); err != nil {
			return nil, files, fmt.Errorf("receive frame: %w", err)
		}
		n = frameHead
	}
	headLen, blobLen := binary.LittleEndian.Uint32(buf), binary.LittleEndian.Uint32(buf[4:])
	if headLen > maxHeader || blobLen > maxBlob {
		return nil, files, fmt.Errorf("receive frame: %d and %d bytes are too many", headLen, blobLen)
	}
	body := make([]byte, int(headLen)+int(blobLen))
	have := copy(body, buf[frameHead:n])
	if _, err := io.ReadFull(l, body[have:]); err != nil {
		return nil, files, fmt.Errorf("receive frame: %w", err)
	}
	if err := json.Unmarshal(body[:headLen], header); err != nil {
		return nil, files, fmt.Errorf("receive frame: %w", err)
	}
	return body[headLen:], files, nil
}

// parseRights returns the descriptors of a control message.
func parseRights(oob []byte) ([]*os.File, error) {
	if len(oob) == 0 {
		return nil, nil
	}
	messages, err := unix.ParseSocketControlMessage(oob)
	if err != nil {
		return nil, fmt.Errorf("receive descriptors: %w", err)
	}
	var files []*os.File
	for i := range messages {
		fds, err := unix.ParseUnixRights(&messages[i])
		if err != nil {
			return files, fmt.Errorf("receive descriptors: %w", err)
		}
		for _, fd := range fds {
			files = append(files, os.NewFile(uintptr(fd), "received"))
		}
	}
	return files, nil
}
