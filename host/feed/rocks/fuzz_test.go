package rocks

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"

	"deepoj/host/feed/rocks/rockstest"
)

// pieces cuts b into strings by its own bytes.
func pieces(b []byte) (cut [][]byte) {
	for len(b) > 0 {
		n := min(int(b[0]), len(b)-1)
		cut = append(cut, b[1:1+n])
		b = b[1+n:]
	}
	return cut
}

// Entries that were written are read back, and any other block ends in an error or at its end.
func FuzzBlock(f *testing.F) {
	f.Add([]byte("\x03key\x05value\x04keys\x00"), byte(2))
	f.Add(rockstest.Block(1, entry{Key: "a", Value: "b"}), byte(1))
	f.Add([]byte{0, 1, 2, 3, 1, 0, 1, 0, 0, 0x80}, byte(1))
	f.Fuzz(func(t *testing.T, b []byte, every byte) {
		var want []entry
		for cut := pieces(b); len(cut) > 1; cut = cut[2:] {
			want = append(want, entry{Key: string(cut[0]), Value: string(cut[1])})
		}
		got, err := entriesOf(rockstest.Block(1+int(every), want...))
		if err != nil || !slices.Equal(got, want) {
			t.Fatalf("%q, %v, and %q was written", got, err, want)
		}
		if got, err = entriesOf(b); err != nil && !errors.Is(err, ErrDamaged) || len(got) > len(b) {
			t.Fatalf("%d entries of %d bytes, %v", len(got), len(b), err)
		}
	})
}

func entriesOf(block []byte) (got []entry, err error) {
	var e entries
	if err := e.reset(block); err != nil {
		return nil, err
	}
	for {
		ok, err := e.next()
		if err != nil || !ok {
			return got, err
		}
		got = append(got, entry{Key: string(e.key), Value: string(e.value)})
	}
}

// Records that were written are read back; with a byte changed none is read that was not written.
func FuzzLog(f *testing.F) {
	f.Add([]byte("\x03key\x05value\x04keys\x00"), uint32(3), byte(1))
	f.Add(bytes.Repeat([]byte("\xff0123456789abcdef"), 1000), uint32(32768), byte(4))
	f.Fuzz(func(t *testing.T, b []byte, at uint32, change byte) {
		want := pieces(b)
		if len(want) > 0 { // one that does not fit into a block
			want = append(want, bytes.Repeat(want[0], 300))
		}
		log := rockstest.Log(want...)
		got, err := recordsOf(log)
		if err != nil || !slices.EqualFunc(got, want, bytes.Equal) {
			t.Fatalf("%d records, %v, and %d were written", len(got), err, len(want))
		}
		if len(log) > 0 {
			log[int(at)%len(log)] ^= change
			got, _ = recordsOf(log)
			if len(got) > len(want) || !slices.EqualFunc(got, want[:len(got)], bytes.Equal) {
				t.Fatalf("with byte %d changed by %#x %d records are read", int(at)%len(log), change, len(got))
			}
		}
		recordsOf(b)
	})
}

func recordsOf(log []byte) (got [][]byte, err error) {
	err = readLog(bytes.NewReader(log), func(record []byte) error {
		got = append(got, slices.Clone(record))
		return nil
	})
	return got, err
}

// A file that an edit adds is the one that was written, and any edit is taken or refused.
func FuzzManifest(f *testing.F) {
	f.Add([]byte("smallest"), []byte("largest"), uint64(7), uint64(1<<40), rockstest.Text(rockstest.Uints(nil, tagComparator), bytewise))
	f.Add([]byte(""), []byte("\xff"), uint64(0), uint64(0), rockstest.Uints(nil, tagFamily, 1, tagFamilyAdd, 1, 'x', tagInAtomicGroup, 1))
	f.Fuzz(func(t *testing.T, smallest, largest []byte, number, size uint64, any []byte) {
		want := &file{number: number, size: size, level: number % 7, smallest: append(smallest, 1, 0, 0, 0, 0, 0, 0, 0), largest: append(largest, 1, 0, 0, 0, 0, 0, 0, 0)}
		families, err := readManifest(bytes.NewReader(rockstest.Log(addFile(want))))
		if err != nil {
			t.Fatal(err)
		}
		if got := families[0].files[number]; fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("%v, and %v was written", got, want)
		}
		if _, err := readManifest(bytes.NewReader(rockstest.Log(addFile(want), any))); err != nil &&
			!errors.Is(err, ErrDamaged) && !errors.Is(err, ErrUnsupported) {
			t.Fatal(err)
		}
	})
}

// What was compressed comes back, and of anything else no more than it said.
func FuzzInflate(f *testing.F) {
	f.Add([]byte("a text that repeats, a text that repeats"))
	f.Add(rockstest.Uints(nil, 5, 0x40, 0x40))
	f.Add(make([]byte, 5000))
	inflater := &inflater{}
	encoder, err := zstd.NewWriter(nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, plain []byte) {
		if len(plain) == 0 { // no block is
			return
		}
		size := rockstest.Uints(nil, uint64(len(plain)))
		var deflated bytes.Buffer
		deflate, _ := flate.NewWriter(&deflated, 6)
		deflate.Write(plain)
		deflate.Close()
		packed := make([]byte, lz4.CompressBlockBound(len(plain)))
		n, _ := lz4.CompressBlock(plain, packed, nil)
		for kind, block := range map[byte][]byte{
			compressedNot:    plain,
			compressedSnappy: snappy.Encode(nil, plain),
			compressedZlib:   append(slices.Clone(size), deflated.Bytes()...),
			compressedLZ4:    append(slices.Clone(size), packed[:n]...),
			compressedZstd:   encoder.EncodeAll(plain, slices.Clone(size)),
		} {
			if kind == compressedLZ4 && n == 0 {
				continue // what does not become smaller
			}
			if got, err := inflater.inflate(kind, block, nil); err != nil || !bytes.Equal(got, plain) {
				t.Fatalf("compression %d: %q, %v, and %q was written", kind, got, err, plain)
			}
			if claimed, _ := binary.Uvarint(plain); kind != compressedNot {
				if got, err := inflater.inflate(kind, plain, nil); err == nil && uint64(len(got)) != claimed {
					t.Fatalf("compression %d: %d bytes of %q", kind, len(got), plain)
				}
			}
		}
	})
}

// Any table, with every checksum right, yields rising keys or an error.
func FuzzTable(f *testing.F) {
	a := func(key string, kind byte) entry {
		return entry{Key: rockstest.Internal(key, 1, kind), Value: "value of " + key}
	}
	f.Add(tableOf(rockstest.Block(2, a("a", 1), a("ab", 1), a("b", 0), a("c", 1))))
	root := unpack(f)
	for _, name := range []string{"partitioned-deltas", "first-key", "hashed-blocks"} {
		content, err := os.ReadFile(filepath.Join(root, name, "000009.sst"))
		if err != nil {
			f.Fatal(err)
		}
		content[len(content)-footerSize] = unchecked
		f.Add(content)
	}
	f.Fuzz(func(t *testing.T, table []byte) {
		if len(table) >= footerSize {
			table = slices.Clone(table)
			for _, b := range tableBlocks(table) {
				copy(table[b.offset+b.size+1:], "\x00\x00\x00\x00")
			}
		}
		dir := t.TempDir()
		checkpointOf(t, dir, table)
		got, err := read(dir, Range{})
		if err != nil && !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrUnsupported) {
			t.Fatal(err)
		}
		for i := 1; i < len(got); i++ {
			if got[i-1].Key >= got[i].Key {
				t.Fatalf("%q comes before %q", got[i-1].Key, got[i].Key)
			}
		}
	})
}

// tableBlocks finds the blocks that a table says it has, without regard to checksums.
func tableBlocks(table []byte) (found []handle) {
	l, meta, err := readFooter(bytes.NewReader(table), int64(len(table)))
	if err != nil {
		return nil
	}
	size := uint64(len(table))
	whole := func(h handle) bool {
		return h.offset < size && h.size < size && h.offset+h.size+blockTrailer <= size
	}
	b := blocks{file: bytes.NewReader(table), size: size, inflater: &inflater{}}
	b.checksum = func([]byte) uint32 { return u32(b.ahead[len(b.ahead)-4:]) }
	var walk func(h handle, depth int)
	add := func(h handle) bool {
		if !whole(h) || len(found) > 10000 {
			return false
		}
		found = append(found, h)
		return true
	}
	walk = func(h handle, depth int) {
		x := index{layout: &l}
		if !add(h) || depth == 0 || x.reset(&b, h) != nil {
			return
		}
		for {
			if ok, err := x.next(); err != nil || !ok {
				return
			}
			walk(x.handle, depth-1)
		}
	}
	if add(meta) {
		b.each(meta, func(key, value []byte) error {
			d := decoder{rest: value}
			if h := d.handle(); string(key) == "rocksdb.properties" && add(h) {
				b.each(h, func(key, value []byte) error { return l.property(string(key), value, bytewise) })
			}
			return nil
		})
	}
	depth := 1
	if l.twoLevels {
		depth = 2
	}
	walk(l.index, depth)
	return found
}

func addFile(f *file) []byte {
	return rockstest.AddFile(0, f.level, f.number, f.size, string(f.smallest), string(f.largest))
}

// unchecked is a checksum that is 0 always, so that fuzzing gets behind checksums.
const unchecked = 200

func init() { checksums[unchecked] = func([]byte) uint32 { return 0 } }

func tableOf(block []byte) []byte {
	return rockstest.Table{Comparator: bytewise, Checksum: unchecked, Sum: checksums[unchecked], Blocks: [][]byte{block}}.Bytes()
}

// checkpointOf writes a checkpoint of the given tables, all on level 0.
func checkpointOf(tb testing.TB, dir string, tables ...[]byte) {
	tb.Helper()
	records := [][]byte{rockstest.Text(rockstest.Uints(nil, tagComparator), bytewise)}
	for i, content := range tables {
		f := &file{number: uint64(i + 1), size: uint64(len(content))}
		f.smallest, f.largest = []byte(rockstest.Internal("", 0, 1)), []byte(rockstest.Internal("\xff", 0, 1))
		records = append(records, addFile(f))
		put(tb, filepath.Join(dir, f.name()), content)
	}
	put(tb, filepath.Join(dir, "MANIFEST-000001"), rockstest.Log(records...))
	put(tb, filepath.Join(dir, "CURRENT"), []byte("MANIFEST-000001\n"))
}

func put(tb testing.TB, path string, content []byte) {
	tb.Helper()
	if err := os.WriteFile(path, content, 0o600); err != nil {
		tb.Fatal(err)
	}
}
