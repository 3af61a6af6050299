package wire

import (
	"encoding/binary"
	"fmt"
	"io"
)

// Ports of a master, above the one that it serves clients at.
const (
	ReplicationSpan = 2000
	CopySpan        = 10001
)

// MaxFrame is the size in bytes of the largest message that the protocol knows.
const MaxFrame = 512 << 20

const (
	frameHead = 4
	step      = 1 << 20 // so much memory is taken on a mere claim
)

// AppendFrame appends a frame with the message that fill appends.
func AppendFrame(dst []byte, fill func([]byte) []byte) []byte {
	start := len(dst)
	dst = fill(append(dst, 0, 0, 0, 0))
	binary.BigEndian.PutUint32(dst[start:], uint32(len(dst)-start-frameHead))
	return dst
}

// ReadFrame reads a frame and returns its message, in the memory of buf if that suffices. One that claims more than
// most bytes is refused before it is read. At the end between two frames the error is io.EOF.
func ReadFrame(r io.Reader, buf []byte, most int) ([]byte, error) {
	var head [frameHead]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, err
	}
	claimed := binary.BigEndian.Uint32(head[:])
	if uint64(claimed) > uint64(most) {
		return nil, fmt.Errorf("a frame claims %d bytes, and %d are allowed here", claimed, most)
	}
	size := int(claimed)
	if size <= cap(buf) {
		return readFull(r, buf[:size])
	}
	buf = buf[:0]
	for len(buf) < size { // memory follows what comes, not what is claimed
		from := len(buf)
		next := min(size, max(2*from, step))
		grown := make([]byte, next)
		copy(grown, buf)
		if _, err := readFull(r, grown[from:]); err != nil {
			return nil, err
		}
		buf = grown
	}
	return buf, nil
}

func readFull(r io.Reader, b []byte) ([]byte, error) {
	if _, err := io.ReadFull(r, b); err != nil {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return nil, err
	}
	return b, nil
}
