package reading

import (
	"encoding/binary"
	"fmt"
	"io"
)

// What the process says: one byte of kind, four of length, and so many more.
const (
	frameHead  = 'H' // an answer, as JSON
	frameData  = 'D' // part of the file that was asked for
	frameEnd   = 'E' // that was all of it
	frameError = 'X' // why it cannot be read
)

// What a frame may have at most, in bytes.
const (
	maxHead  = 64 << 20
	maxData  = 64 << 10
	maxError = 4 << 10
)

// A question is the number of a file in the package's list, in four bytes.
const questionSize = 4

func writeFrame(w io.Writer, kind byte, content []byte) error {
	b := make([]byte, 5, 5+len(content))
	b[0] = kind
	binary.BigEndian.PutUint32(b[1:], uint32(len(content)))
	_, err := w.Write(append(b, content...))
	return err
}

// readFrame reads a frame that may be of the kinds that limits has. An error other than
// those of r says what is wrong with it.
func readFrame(r io.Reader, limits map[byte]uint32, into []byte) (kind byte, content []byte, err error) {
	var b [5]byte
	if _, err := io.ReadFull(r, b[:]); err != nil {
		return 0, nil, err
	}
	n := binary.BigEndian.Uint32(b[1:])
	most, known := limits[b[0]]
	if !known || n > most {
		return 0, nil, fmt.Errorf("frame %q of %d bytes", b[0], n)
	}
	if uint32(cap(into)) < n {
		into = make([]byte, n)
	}
	_, err = io.ReadFull(r, into[:n])
	return b[0], into[:n], err
}
