package wal

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestALogIsRemovedUnlessSomebodyHasIt(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	log, err := Open(Options{Dir: dir, SegmentBytes: 100})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		if _, err := log.Append(1, Position{Offset: uint64(i)}, []byte("what the source sends")); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := log.WaitDurable(t.Context(), 3); err != nil {
		t.Fatal(err)
	}
	if n, err := Remove(dir); n != 0 || !errors.Is(err, ErrLocked) {
		t.Errorf("a log that is in use: %d files are removed, %v", n, err)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	mine := filepath.Join(dir, "notes.txt")
	if err := os.WriteFile(mine, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	files, err := Files(dir)
	if err != nil || len(files) < 2 {
		t.Fatalf("the log has %v, %v", files, err)
	}
	if n, err := Remove(dir); n != len(files) || err != nil {
		t.Errorf("%d of %d files are removed, %v", n, len(files), err)
	}
	if left, err := Files(dir); len(left) != 0 || err != nil {
		t.Errorf("left are %v, %v", left, err)
	}
	if _, err := os.Stat(mine); err != nil {
		t.Error(err)
	}
	if n, err := Remove(filepath.Join(dir, "nowhere")); n != 0 || err != nil {
		t.Errorf("where there is none, %d files are removed, %v", n, err)
	}
}
