package rocks

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"deepoj/host/feed/rocks/rockstest"
)

// A flipped bit is an error, or changes nothing that is read (filters, names of hosts, padding).
func TestAFlippedBitNeverChangesWhatIsRead(t *testing.T) {
	dir := filepath.Join(unpack(t), "v5-xxh3-zstd")
	want := wanted(t, dir)
	for _, name := range []string{"000009.sst", "MANIFEST-000005", "CURRENT"} {
		path := filepath.Join(dir, name)
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		found := 0
		step := 1 + len(content)/700
		for i := 0; i < len(content); i += step {
			flipped := slices.Clone(content)
			flipped[i] ^= 1 << (i % 8)
			put(t, path, flipped)
			got, err := read(dir, Range{})
			switch {
			case err != nil:
				found++
			case !slices.Equal(got, want):
				t.Fatalf("%s: with bit %d of byte %d flipped other keys are read, without an error", name, i%8, i)
			}
		}
		if 2*step*found < len(content) {
			t.Errorf("%s: %d of %d flipped bits were found", name, found, len(content)/step)
		}
		put(t, path, content)
	}
}

// A file that is missing, cut off or too long is an error, never fewer keys.
func TestAnIncompleteCheckpointIsNotRead(t *testing.T) {
	dir := filepath.Join(unpack(t), "v5-xxh3-zstd")
	want := wanted(t, dir)
	for _, name := range []string{"000009.sst", "MANIFEST-000005", "CURRENT"} {
		path := filepath.Join(dir, name)
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if _, err := read(dir, Range{}); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), name+" is missing") {
			t.Errorf("without %s: %v", name, err)
		}
		for n := 0; n < len(content)-1; n += 1 + len(content)/180 {
			put(t, path, content[:n])
			got, err := read(dir, Range{})
			if !errors.Is(err, ErrDamaged) && (err != nil || !slices.Equal(got, want)) { // its last edit may say nothing of tables
				t.Fatalf("%s cut to %d bytes of %d: %d keys, %v", name, n, len(content), len(got), err)
			}
		}
		put(t, path, append(slices.Clone(content), content...))
		if got, err := read(dir, Range{}); !errors.Is(err, ErrDamaged) && (err != nil || !slices.Equal(got, want)) {
			t.Errorf("%s twice: %d keys, %v", name, len(got), err)
		}
		put(t, path, content)
	}
	if _, err := read(filepath.Join(dir, "none"), Range{}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a folder that is not there: %v", err)
	}
}

// Names in a checkpoint come from a stranger and do not lead out of its folder.
func TestNothingOutsideOfTheFolderIsRead(t *testing.T) {
	dir := filepath.Join(unpack(t), "v5-xxh3")
	outside := filepath.Join(t.TempDir(), "outside")
	for _, name := range []string{"000009.sst", "MANIFEST-000005"} {
		path := filepath.Join(dir, name)
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		put(t, outside, content)
		os.Remove(path)
		if err := os.Symlink(outside, path); err != nil {
			t.Fatal(err)
		}
		if got, err := read(dir, Range{}); err == nil {
			t.Errorf("%s led outside, and %d keys were read", name, len(got))
		}
		os.Remove(path)
		put(t, path, content)
	}
	for _, current := range []string{"../outside\n", "MANIFEST-000005/../../outside\n", "MANIFEST-\n", "\n", ""} {
		put(t, filepath.Join(dir, "CURRENT"), []byte(current))
		if _, err := read(dir, Range{}); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "CURRENT") {
			t.Errorf("CURRENT %q: %v", current, err)
		}
	}
}

// A log belongs to the checkpoint by its number, and batches without writes are none.
func TestLogsAreRefusedWhenTheyHoldWrites(t *testing.T) {
	dir := filepath.Join(unpack(t), "v5-xxh3")
	batch := func(count byte) []byte { return rockstest.Log(append(make([]byte, 8), count, 0, 0, 0)) }
	for _, c := range []struct {
		name    string
		content []byte
		want    error
	}{
		{"000001.log", batch(1), nil}, // older than every table
		{"000099.log", batch(0), nil},
		{"000099.log", nil, nil},
		{"000099.log", batch(1), ErrUnsupported},
		{"000099.log", batch(1)[:15], ErrDamaged},
		{"000099.log", rockstest.Log([]byte("short")), ErrDamaged},
	} {
		put(t, filepath.Join(dir, c.name), c.content)
		if _, err := read(dir, Range{}); !errors.Is(err, c.want) || (err != nil) != (c.want != nil) {
			t.Errorf("%s of %d bytes: %v, want %v", c.name, len(c.content), err, c.want)
		}
		os.Remove(filepath.Join(dir, c.name))
	}
}

// Keys are merged by sequence number, and what does not rise is damage.
func TestVersionsOfAKeyAreMergedByTheirSequenceNumbers(t *testing.T) {
	a := func(key string, sequence uint64, kind byte, value string) entry {
		return entry{Key: rockstest.Internal(key, sequence, kind), Value: value}
	}
	for _, c := range []struct {
		name   string
		tables [][]entry
		want   string
	}{
		{"newest of three", [][]entry{{a("k", 5, 1, "old")}, {a("k", 9, 1, "new")}, {a("k", 7, 1, "middle")}}, "[{k new}] <nil>"},
		{"deleted", [][]entry{{a("k", 5, 1, "old"), a("l", 1, 1, "l")}, {a("k", 9, 0, "")}}, "[{l l}] <nil>"},
		{"put after deletion", [][]entry{{a("k", 9, 0, ""), a("k", 5, 1, "old")}, {a("k", 10, 1, "new")}}, "[{k new}] <nil>"},
		{"a merge of the past", [][]entry{{a("k", 9, 1, "new"), a("k", 5, 2, "merge")}}, "[{k new}] <nil>"},
		{"a merge", [][]entry{{a("k", 9, 2, "merge"), a("k", 5, 1, "old")}}, "merge operands"},
		{"an unknown type", [][]entry{{a("k", 9, 99, "")}}, "entries of type 99"},
		{"falling keys", [][]entry{{a("b", 1, 1, ""), a("a", 2, 1, "")}}, "out of order"},
		{"a key without trailer", [][]entry{{{Key: "short"}}}, "a key of 5 bytes"},
	} {
		dir := t.TempDir()
		var tables [][]byte
		for _, entries := range c.tables {
			tables = append(tables, tableOf(rockstest.Block(2, entries...)))
		}
		checkpointOf(t, dir, tables...)
		got, err := read(dir, Range{})
		if said := fmt.Sprint(got, err); said != c.want && (err == nil || !strings.Contains(said, c.want)) {
			t.Errorf("%s: %s, want %s", c.name, said, c.want)
		}
	}
}

// Sizes that a file claims are checked before memory is taken for them.
func TestClaimsOfSizeTakeNoMemory(t *testing.T) {
	var f inflater
	defer f.close()
	for kind := range ratios {
		claim := append(rockstest.Uints(nil, maxBlock), bytes.Repeat([]byte{0x51}, 100)...)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, err := f.inflate(kind, claim, nil); !errors.Is(err, ErrDamaged) {
			t.Errorf("compression %d: %v", kind, err)
		}
		runtime.ReadMemStats(&after)
		if allocated := after.TotalAlloc - before.TotalAlloc; allocated > 8<<20 {
			t.Errorf("compression %d: 100 bytes took %d of memory", kind, allocated)
		}
	}
}
