package pikiwidb

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deepoj/host/feed/rocks"
)

// A dump is read only when it is whole and of a storage that is known; else the error names what is wrong.
func TestADumpThatIsNotWholeIsRefused(t *testing.T) {
	two := func() string { return write(t, newDump(), newDump()) }
	d, err := Open(two(), 2)
	if err != nil {
		t.Fatal(err)
	}
	if d.Info != (Info{"10.0.0.7", 9221, 267, 45044585}) {
		t.Errorf("info is %+v", d.Info)
	}
	d.Close()
	for _, c := range []struct {
		what      string
		instances int
		spoil     func(dir string)
		kind      error
		want      string
	}{
		{"without info", 2, func(dir string) { os.Remove(filepath.Join(dir, "info")) }, rocks.ErrDamaged, "a dump without info"},
		{"an instance less", 3, func(string) {}, rocks.ErrDamaged, "instance 2 of 3 is missing"},
		{"an instance more", 1, func(string) {}, rocks.ErrDamaged, "it has 2 instances and the master 1"},
		{"a gap", 0, func(dir string) { os.Rename(filepath.Join(dir, "0"), filepath.Join(dir, "2")) }, rocks.ErrDamaged, "instance 0 of 2 is missing"},
		{"no instance", 0, func(dir string) { os.RemoveAll(filepath.Join(dir, "0")); os.RemoveAll(filepath.Join(dir, "1")) }, rocks.ErrDamaged, "instance 0 of 1 is missing"},
		{"without CURRENT", 2, func(dir string) { os.Remove(filepath.Join(dir, "1", "CURRENT")) }, rocks.ErrDamaged, "CURRENT is missing"},
		{"without MANIFEST", 2, func(dir string) { os.Remove(filepath.Join(dir, "1", "MANIFEST-000001")) }, rocks.ErrDamaged, "MANIFEST-000001 is missing"},
		{"3.5", 0, func(dir string) { os.Mkdir(filepath.Join(dir, "hashes"), 0o700) }, rocks.ErrUnsupported, "the storage of 3.5 (folder hashes)"},
	} {
		dir := two()
		c.spoil(dir)
		if _, err := Open(dir, c.instances); !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.what, err, c.want)
		}
	}
	for content, want := range map[string]string{
		"":                                "1 lines",
		"1s\nhost\n9221\n0\n":             "4 lines",
		"1s\nhost\n9221\n0\n1\n2\n3\n4\n": "8 lines",
		"1s\nhost\n99221\n0\n1\n":         `the port "99221"`,
		"1s\nhost\n9221\n4294967296\n1\n": `the file number "4294967296"`,
		"1s\nhost\n9221\n0\n-1\n":         `the offset "-1"`,
	} {
		dir := two()
		put(t, filepath.Join(dir, "info"), content)
		if _, err := Open(dir, 2); !errors.Is(err, rocks.ErrDamaged) || !strings.Contains(err.Error(), want) {
			t.Errorf("info %q: %v, want %s", content, err, want)
		}
	}
}

// What the storage holds and no master writes is an error that says what, never a record.
func TestStorageThatNoMasterWritesIsRefused(t *testing.T) {
	key := zero(8) + "k\x00\x00"
	hash := "\x01" + number(1)[:4] + number(7) + zero(32)
	for _, c := range []struct {
		key, value, family, row, content string
		kind                             error
		want                             string
	}{
		{key + zero(16), "", "", "", "", rocks.ErrDamaged, "a key without a type"},
		{key + zero(16), "\x09" + zero(40), "", "", "", rocks.ErrUnsupported, "keys of type 9"},
		{key + zero(16), "\x00short", "", "", "", rocks.ErrDamaged, "a string of 6 bytes"},
		{key + zero(16), hash + "!", "", "", "", rocks.ErrDamaged, "a hash of 46 bytes"},
		{key + zero(15), hash, "", "", "", rocks.ErrDamaged, "too few for a key"},
		{"short", hash, "", "", "", rocks.ErrDamaged, "has no end"},
		{zero(8) + "endless", hash, "", "", "", rocks.ErrDamaged, "has no end"},
		{key + zero(16), "\x00" + zero(24) + number(1<<62), "", "", "", rocks.ErrDamaged, "the time 4611686018427387904"},
		{key + zero(16), hash, "hash_data_cf", key + number(7), zero(24), rocks.ErrDamaged, "an element of a hash with 8 bytes"},
		{key + zero(16), hash, "hash_data_cf", key + number(7) + zero(16), zero(23), rocks.ErrDamaged, "an element's value of 23 bytes"},
		{key + zero(16), "\x04" + hash[1:], "zset_data_cf", key + number(7) + "m" + zero(16), "score" + zero(24), rocks.ErrDamaged, "a score of 5 bytes"},
		{key + zero(16), "\x04" + hash[1:], "zset_data_cf", key + number(7) + "m" + zero(16), number(0x7ff8<<48) + zero(24), rocks.ErrDamaged, "no number"},
		{key + zero(16), "\x05" + zero(60) + number(1)[:4] + number(7), "stream_data_cf", key + number(7) + "id" + zero(16), "", rocks.ErrDamaged, "a stream's id of 2 bytes"},
		{key + zero(16), "\x05" + zero(60) + number(1)[:4] + number(7), "stream_data_cf", key + number(7) + zero(32), "", rocks.ErrDamaged, "0 fields and values"},
		{key + zero(16), "\x05" + zero(60) + number(1)[:4] + number(7), "stream_data_cf", key + number(7) + zero(32), number(1)[:4] + "f", rocks.ErrDamaged, "1 fields and values"},
		{key + zero(16), "\x05" + zero(60) + number(1)[:4] + number(7), "stream_data_cf", key + number(7) + zero(32), number(1 << 31)[:4] + "f", rocks.ErrDamaged, "a field of 2147483648 bytes"},
		{key + zero(16), "\x05" + zero(60) + number(1)[:4] + number(7), "stream_data_cf", key + number(7) + zero(32), "f", rocks.ErrDamaged, "cut off"},
	} {
		d := newDump()
		d["default"][c.key] = c.value
		if c.family != "" {
			d[c.family][c.row] = c.content
		}
		for _, mode := range []Mode{Single, ByType} {
			records, err := tryRead(t.Context(), write(t, d), all(mode))
			if !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.want) || len(records) > 0 {
				t.Errorf("%q: %v and %d records, want %q", c.want, err, len(records), c.want)
			}
		}
	}
	d := newDump()
	delete(d, "set_data_cf")
	if _, err := tryRead(t.Context(), write(t, d), all(Single)); !errors.Is(err, rocks.ErrUnsupported) || !strings.Contains(err.Error(), "without the column family set_data_cf") {
		t.Errorf("without a column family: %v", err)
	}
}
