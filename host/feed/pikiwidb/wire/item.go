package wire

import (
	"encoding/binary"
	"fmt"
	"strconv"

	"deepoj/host/feed/wal"
)

// Command is an item of the binlog. Its head of 34 bytes is little-endian:
//
//	type u16 = 1 · time u32, seconds · term u32 · logic id u64 · file number u32 · offset u64 · length of the rest u32
type Command struct {
	Time    uint32 // seconds since 1970
	Term    uint32
	LogicID uint64
	At      wal.Position // where the item itself begins
	Argv    [][]byte     // the name and the arguments
}

const (
	itemHead  = 34
	firstType = 1
)

// Append appends the item.
func (c *Command) Append(dst []byte) []byte {
	start := len(dst)
	dst = binary.LittleEndian.AppendUint16(dst, firstType)
	dst = binary.LittleEndian.AppendUint32(dst, c.Time)
	dst = binary.LittleEndian.AppendUint32(dst, c.Term)
	dst = binary.LittleEndian.AppendUint64(dst, c.LogicID)
	dst = binary.LittleEndian.AppendUint32(dst, c.At.Filenum)
	dst = binary.LittleEndian.AppendUint64(dst, c.At.Offset)
	dst = append(dst, 0, 0, 0, 0)
	dst = append(strconv.AppendInt(append(dst, '*'), int64(len(c.Argv)), 10), "\r\n"...)
	for _, a := range c.Argv {
		dst = append(strconv.AppendInt(append(dst, '$'), int64(len(a)), 10), "\r\n"...)
		dst = append(append(dst, a...), "\r\n"...)
	}
	binary.LittleEndian.PutUint32(dst[start+itemHead-4:], uint32(len(dst)-start-itemHead))
	return dst
}

// Parse decodes an item. Its arguments lie in b, and the slice of them where that of the item before was.
func (c *Command) Parse(b []byte) error {
	*c = Command{Argv: c.Argv[:0]}
	if len(b) < itemHead {
		return fmt.Errorf("an item of the binlog has %d bytes, and its head alone has %d", len(b), itemHead)
	}
	if kind := binary.LittleEndian.Uint16(b); kind != firstType {
		return fmt.Errorf("an item of the binlog is of type %d, and only %d is known", kind, firstType)
	}
	c.Time = binary.LittleEndian.Uint32(b[2:])
	c.Term = binary.LittleEndian.Uint32(b[6:])
	c.LogicID = binary.LittleEndian.Uint64(b[10:])
	c.At = wal.Position{Filenum: binary.LittleEndian.Uint32(b[18:]), Offset: binary.LittleEndian.Uint64(b[22:])}
	rest := b[itemHead:]
	if claimed := binary.LittleEndian.Uint32(b[30:]); uint64(claimed) != uint64(len(rest)) {
		return fmt.Errorf("an item of the binlog claims %d bytes behind its head and has %d", claimed, len(rest))
	}
	count, rest, ok := number(rest, '*')
	if !ok || count < 1 || count > len(rest)/len("$0\r\n\r\n") {
		return fmt.Errorf("an item of the binlog holds no command: %.40q", b[itemHead:])
	}
	for i := range count {
		var size int
		if size, rest, ok = number(rest, '$'); !ok || size > len(rest)-2 || rest[size] != '\r' || rest[size+1] != '\n' {
			return fmt.Errorf("an item of the binlog has a command of %d words, and word %d is cut off or not there", count, i+1)
		}
		c.Argv = append(c.Argv, rest[:size:size])
		rest = rest[size+2:]
	}
	if len(rest) > 0 {
		return fmt.Errorf("an item of the binlog has %d bytes behind its command", len(rest))
	}
	return nil
}

// number reads a line of a mark and a number, which may begin with zeros: a master pads with them.
func number(b []byte, mark byte) (n int, rest []byte, ok bool) {
	if len(b) == 0 || b[0] != mark {
		return 0, b, false
	}
	i := 1
	for ; i < len(b) && '0' <= b[i] && b[i] <= '9'; i++ {
		if n = 10*n + int(b[i]-'0'); n > MaxFrame {
			return 0, b, false
		}
	}
	if i == 1 || i+2 > len(b) || b[i] != '\r' || b[i+1] != '\n' {
		return 0, b, false
	}
	return n, b[i+2:], true
}
