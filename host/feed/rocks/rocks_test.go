package rocks

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"deepoj/host/feed/rocks/rockstest"
)

// unpack writes the databases of testdata/checkpoints.tar.zst, which generate.cc made, into a folder.
func unpack(tb testing.TB) string {
	tb.Helper()
	dir := tb.TempDir()
	if err := rockstest.Unpack(dir, "testdata/checkpoints.tar.zst"); err != nil {
		tb.Fatal(err)
	}
	return dir
}

type entry = rockstest.Entry

// wanted is what RocksDB itself read in the checkpoint.
func wanted(t *testing.T, dir string) (want []entry) {
	t.Helper()
	file, err := os.Open(filepath.Join(dir, "want.txt"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 8<<20)
	for lines.Scan() {
		key, value, _ := strings.Cut(lines.Text(), " ")
		want = append(want, entry{Key: unhex(t, key), Value: unhex(t, value)})
	}
	return want
}

func unhex(t *testing.T, s string) string {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func backwards(a, b []byte) int { return bytes.Compare(b, a) }

var orders = map[string]Order{"rocksdb.ReverseBytewiseComparator": backwards}

// read returns the live keys of the default column family within r.
func read(dir string, r Range) (got []entry, err error) {
	c, err := Open(dir, orders)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	it, err := c.Iterate("default", r)
	if err != nil {
		return nil, err
	}
	defer it.Close()
	for it.Next() {
		got = append(got, entry{Key: string(it.Key()), Value: string(it.Value())})
	}
	return got, it.Err()
}

func same(t *testing.T, got, want []entry) {
	t.Helper()
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			t.Fatalf("key %d is %.80q = %.80q, and RocksDB reads %.80q = %.80q", i, got[i].Key, got[i].Value, want[i].Key, want[i].Value)
		}
	}
	if len(got) != len(want) {
		t.Fatalf("%d keys, and RocksDB reads %d", len(got), len(want))
	}
}

// Every format that RocksDB writes here is read as RocksDB reads it, whole and from any key to any other.
func TestKeysAreThoseThatRocksDBReads(t *testing.T) {
	root := unpack(t)
	names, err := filepath.Glob(filepath.Join(root, "*"))
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	for _, dir := range names {
		name := filepath.Base(dir)
		if strings.HasPrefix(name, "refused-") {
			continue
		}
		count++
		t.Run(name, func(t *testing.T) {
			want := wanted(t, dir)
			got, err := read(dir, Range{})
			if err != nil {
				t.Fatal(err)
			}
			same(t, got, want)
			order := bytes.Compare
			if name == "reverse" {
				order = backwards
			}
			borders := [][]byte{nil, []byte("key"), []byte("key05"), []byte("key099999~"), []byte("z")}
			for i := 0; i < len(want); i += 37 {
				borders = append(borders, []byte(want[i].Key), []byte(want[i].Key+"\x00"))
			}
			for i, from := range borders {
				to := borders[(i*7+3)%len(borders)]
				got, err := read(dir, Range{from, to})
				if err != nil {
					t.Fatal(err)
				}
				same(t, got, slices.DeleteFunc(slices.Clone(want), func(e entry) bool {
					return order([]byte(e.Key), from) < 0 && from != nil || to != nil && order([]byte(e.Key), to) >= 0
				}))
			}
		})
	}
	if count != 19 {
		t.Errorf("%d databases were read", count)
	}
}

// What is not read right is refused with its name.
func TestWhatIsNotSupportedIsRefusedByName(t *testing.T) {
	root := unpack(t)
	for name, want := range map[string]string{
		"merge": "merge operands", "range-deletion": "range deletions", "blob": "blob files", "log": "write-ahead log only",
		"entity": "wide columns", "dictionary": "compression dictionaries", "bzip2": "compressed with bzip2",
		"no-checksum": "checksums of type 0", "ingested": "ingested from outside", "v0": "format version 0",
	} {
		_, err := read(filepath.Join(root, "refused-"+name), Range{})
		if !errors.Is(err, ErrUnsupported) || !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
	c, err := Open(filepath.Join(root, "reverse"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Iterate("default", Range{}); !errors.Is(err, ErrUnsupported) || !strings.Contains(err.Error(), "rocksdb.ReverseBytewiseComparator") {
		t.Errorf("an unknown comparator: %v", err)
	}
	if _, err := c.Iterate("none", Range{}); !errors.Is(err, ErrUnsupported) || !strings.Contains(err.Error(), "column family none") {
		t.Errorf("a column family that is none: %v", err)
	}
	if got := c.Families(); !slices.Equal(got, []string{"default"}) {
		t.Errorf("column families are %q", got)
	}
}
