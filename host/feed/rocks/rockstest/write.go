// Package rockstest gives tests RocksDB checkpoints: it writes them, of plain blocks and one table for a column family,
// and unpacks those that RocksDB wrote.
package rockstest

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math/bits"
	"os"
	"path/filepath"
	"slices"
)

// An Entry is a key and its value.
type Entry struct{ Key, Value string }

// Uints appends varints.
func Uints(b []byte, values ...uint64) []byte {
	for _, v := range values {
		b = binary.AppendUvarint(b, v)
	}
	return b
}

// Text appends a string behind its length.
func Text(b []byte, s string) []byte { return append(Uints(b, uint64(len(s))), s...) }

// Internal is a key with its sequence number and type.
func Internal(key string, sequence uint64, kind byte) string {
	return string(binary.LittleEndian.AppendUint64([]byte(key), sequence<<8|uint64(kind)))
}

func crc(b ...[]byte) uint32 {
	sum := uint32(0)
	for _, part := range b {
		sum = crc32.Update(sum, crc32.MakeTable(crc32.Castagnoli), part)
	}
	return bits.RotateLeft32(sum, 17) + 0xa282ead8
}

// Log writes records as a log does: in blocks of 32 KiB, with fragments where a record does not fit.
func Log(records ...[]byte) (log []byte) {
	const size, header = 32 << 10, 7
	for _, record := range records {
		for first := true; ; first = false {
			left := size - len(log)%size
			if left < header {
				log = append(log, make([]byte, left)...)
				left = size
			}
			n := min(len(record), left-header)
			last := n == len(record)
			kind := byte(3)
			switch {
			case first && last:
				kind = 1
			case first:
				kind = 2
			case last:
				kind = 4
			}
			log = binary.LittleEndian.AppendUint32(log, crc([]byte{kind}, record[:n]))
			log = binary.LittleEndian.AppendUint16(log, uint16(n))
			log = append(append(log, kind), record[:n]...)
			if last {
				break
			}
			record = record[n:]
		}
	}
	return log
}

// Block writes entries with a restart every few of them.
func Block(every int, entries ...Entry) (block []byte) {
	var restarts []uint32
	last := ""
	for i, e := range entries {
		shared := 0
		if i%every == 0 {
			restarts = append(restarts, uint32(len(block)))
		} else {
			for shared < min(len(last), len(e.Key)) && last[shared] == e.Key[shared] {
				shared++
			}
		}
		block = Uints(block, uint64(shared), uint64(len(e.Key)-shared), uint64(len(e.Value)))
		block = append(append(block, e.Key[shared:]...), e.Value...)
		last = e.Key
	}
	for _, r := range restarts {
		block = binary.LittleEndian.AppendUint32(block, r)
	}
	return binary.LittleEndian.AppendUint32(block, uint32(len(restarts)))
}

// A Table is a table to be written.
type Table struct {
	Comparator string
	Checksum   byte                  // its type; 0 is crc32c
	Sum        func(b []byte) uint32 // for another type
	Blocks     [][]byte
}

// Bytes are the table's.
func (t Table) Bytes() (table []byte) {
	kind, sum := t.Checksum, t.Sum
	if kind == 0 {
		kind, sum = 1, func(b []byte) uint32 { return crc(b) }
	}
	add := func(b []byte) string {
		handle := Uints(nil, uint64(len(table)), uint64(len(b)))
		from := len(table)
		table = append(append(table, b...), 0)
		table = binary.LittleEndian.AppendUint32(table, sum(table[from:]))
		return string(handle)
	}
	var index []Entry
	for _, b := range t.Blocks {
		index = append(index, Entry{Internal("\xff\xff\xff", 0, 1), add(b)})
	}
	at := add(Block(1, index...))
	properties := add(Block(16, Entry{"rocksdb.block.based.table.index.type", "\x00\x00\x00\x00"}, Entry{"rocksdb.comparator", t.Comparator}))
	meta := add(Block(1, Entry{"rocksdb.properties", properties}))
	footer := make([]byte, 53)
	footer[0] = kind
	copy(footer[1:], meta+at)
	binary.LittleEndian.PutUint32(footer[41:], 5)
	binary.LittleEndian.PutUint64(footer[45:], 0x88e241b785f4cff7)
	return append(table, footer...)
}

// AddFile is the version edit that adds a table to a column family.
func AddFile(family, level, number, size uint64, smallest, largest string) []byte {
	return Uints(Text(Text(Uints(nil, 200, family, 103, level, number, size), smallest), largest), 1, 2, 1)
}

// A Family is a column family to be written: its entries by their keys, and how they are ordered where it is not by
// their bytes.
type Family struct {
	Name       string
	Comparator string
	Order      func(a, b []byte) int
	Entries    map[string]string
}

// Write writes a checkpoint of the column families into dir.
func Write(dir string, families ...Family) error {
	const bytewise = "leveldb.BytewiseComparator"
	records := [][]byte{Text(Uints(nil, 1), bytewise)}
	for i, f := range families {
		id, comparator := uint64(i+1), cmp.Or(f.Comparator, bytewise)
		if f.Name == "default" {
			id = 0
		} else {
			records = append(records, Text(Uints(Text(Uints(nil, 200, id, 201), f.Name), 1), comparator))
		}
		if len(f.Entries) == 0 {
			continue
		}
		content := f.table(comparator)
		number := uint64(i + 10)
		records = append(records, AddFile(id, 6, number, uint64(len(content)), Internal("", 0, 1), Internal("\xff", 0, 1)))
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%06d.sst", number)), content, 0o600); err != nil {
			return err
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "MANIFEST-000001"), Log(records...), 0o600); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "CURRENT"), []byte("MANIFEST-000001\n"), 0o600)
}

func (f Family) table(comparator string) []byte {
	var entries []Entry
	for key, value := range f.Entries {
		entries = append(entries, Entry{key, value})
	}
	slices.SortFunc(entries, func(a, b Entry) int {
		if f.Order != nil {
			return f.Order([]byte(a.Key), []byte(b.Key))
		}
		return cmp.Compare(a.Key, b.Key)
	})
	table := Table{Comparator: comparator}
	for some := range slices.Chunk(entries, 20) {
		for i := range some {
			some[i].Key = Internal(some[i].Key, 1, 1)
		}
		table.Blocks = append(table.Blocks, Block(4, some...))
	}
	return table.Bytes()
}
