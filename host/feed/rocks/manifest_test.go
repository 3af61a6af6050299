package rocks

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"deepoj/host/feed/rocks/rockstest"
)

// Version edits come to the tables that are live, and what is not known is refused.
func TestVersionEditsComeToTheLiveTables(t *testing.T) {
	u := func(values ...uint64) []byte { return rockstest.Uints(nil, values...) }
	add := func(family, level, number uint64) []byte {
		return rockstest.AddFile(family, level, number, 100, rockstest.Internal("a", 1, 1), rockstest.Internal("b", 1, 1))
	}
	made := rockstest.Text(u(tagFamily, 1, tagFamilyAdd), "lists")
	join := func(edits ...[]byte) []byte { return slices.Concat(edits...) }
	for _, c := range []struct {
		what  string
		edits [][]byte
		want  string
	}{
		{"files are added and deleted", [][]byte{add(0, 0, 7), add(0, 0, 8), u(tagDeletedFile, 0, 7)}, "default:[0/8]"},
		{"a file moves", [][]byte{add(0, 0, 7), join(u(tagDeletedFile, 0, 7), add(0, 3, 7))}, "default:[3/7]"},
		{"a family is added", [][]byte{made, add(1, 6, 9)}, "default:[] lists:[6/9]"},
		{"a family is dropped", [][]byte{made, add(1, 6, 9), u(tagFamily, 1, tagFamilyDrop)}, "default:[]"},
		{"a group is whole", [][]byte{join(u(tagInAtomicGroup, 1), add(0, 1, 7)), join(u(tagInAtomicGroup, 0), add(0, 1, 8))}, "default:[1/7 1/8]"},
		{"what may be ignored", [][]byte{rockstest.Text(u(tagMayBeIgnored|1), "the database's id"), u(tagNextFile, 9, tagLastSequence, 8, tagMaxFamily, 2, tagMinLogToKeep, 3)}, "default:[]"},
		{"a group is cut off", [][]byte{join(u(tagInAtomicGroup, 1), add(0, 1, 7))}, "damaged: an atomic group of edits is incomplete"},
		{"a group is broken", [][]byte{u(tagInAtomicGroup, 2), u(tagNextFile, 9)}, "damaged: an atomic group of edits is incomplete"},
		{"a family of none", [][]byte{add(4, 0, 7)}, "damaged: an edit of the column family 4, which is none"},
		{"a family twice", [][]byte{made, made}, "damaged: column family 1 is added twice"},
		{"nothing", nil, "damaged: it is empty"},
		{"an unknown tag", [][]byte{u(77, 1)}, "not supported: version edits with tag 77"},
		{"a blob file", [][]byte{u(tagBlobFile, 1)}, "not supported: blob files"},
		{"a table with blobs", [][]byte{join(add(0, 0, 7)[:len(add(0, 0, 7))-1], u(fileTagOldestBlob, 1, 1, fileTagEnd))}, "not supported: blob files"},
		{"another path", [][]byte{join(add(0, 0, 7)[:len(add(0, 0, 7))-1], u(65, 1, 1, fileTagEnd))}, "not supported: tables outside of the folder"},
		{"a level too far", [][]byte{add(0, 101, 7)}, "damaged: a table on level 101"},
		{"a short key", [][]byte{rockstest.AddFile(0, 0, 7, 1, "short", "short")}, "damaged: a key of 5 bytes"},
	} {
		families, err := readManifest(bytes.NewReader(rockstest.Log(c.edits...)))
		var got []string
		for _, f := range families {
			var files []string
			for _, number := range slices.Sorted(maps.Keys(f.files)) {
				files = append(files, fmt.Sprintf("%d/%d", f.files[number].level, number))
			}
			got = append(got, fmt.Sprintf("%s:%v", f.name, files))
		}
		slices.Sort(got)
		if said := strings.Join(got, " "); err != nil && !strings.HasPrefix(err.Error(), c.want) || err == nil && said != c.want {
			t.Errorf("%s: %s, %v, want %s", c.what, said, err, c.want)
		}
	}
}

// Tables of a level that overlap are damage, and so many tables that they cannot all be open are refused.
func TestTablesThatCannotBeMergedAreRefused(t *testing.T) {
	table := tableOf(rockstest.Block(1, entry{Key: rockstest.Internal("b", 1, 1), Value: "v"}))
	write := func(level, count uint64) error {
		dir := t.TempDir()
		var edits [][]byte
		for number := range count {
			edits = append(edits, rockstest.AddFile(0, level, number, uint64(len(table)), rockstest.Internal("a", 1, 1), rockstest.Internal("c", 1, 1)))
			put(t, filepath.Join(dir, (&file{number: number}).name()), table)
		}
		put(t, filepath.Join(dir, "MANIFEST-000001"), rockstest.Log(edits...))
		put(t, filepath.Join(dir, "CURRENT"), []byte("MANIFEST-000001\n"))
		_, err := read(dir, Range{})
		return err
	}
	if err := write(1, 2); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "overlap on level 1") {
		t.Errorf("an overlap: %v", err)
	}
	if err := write(0, maxSources+1); !errors.Is(err, ErrUnsupported) || !strings.Contains(err.Error(), "compact before the checkpoint") {
		t.Errorf("%d tables on level 0: %v", maxSources+1, err)
	}
	if err := write(0, 3); err != nil {
		t.Errorf("three tables on level 0: %v", err)
	}
}
