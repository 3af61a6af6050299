package runner

import (
	"errors"
	"io"
	"os"
	"slices"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
)

func TestAFileThatWasGivenBackIsEmptyAndBelongsToOneOnly(t *testing.T) {
	t.Parallel()
	r, err := New(t.TempDir(), prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	take := func() *os.File {
		t.Helper()
		f, err := r.Output(mostInMemory)
		if err != nil {
			t.Fatal(err)
		}
		if is, err := io.ReadAll(f); err != nil || len(is) > 0 {
			t.Fatalf("a file begins with %q, %v", is, err)
		}
		return f
	}
	var all []*os.File
	for range 2 * mostSpare {
		f := take()
		if slices.Contains(all, f) {
			t.Fatal("two have one file")
		}
		if _, err := f.WriteString("what the last one wrote"); err != nil {
			t.Fatal(err)
		}
		all = append(all, f)
	}
	for i, f := range all {
		if i%2 == 0 { // it stands anywhere
			if _, err := f.Seek(5, io.SeekStart); err != nil {
				t.Fatal(err)
			}
		}
		if err := r.GiveBack(f); err != nil {
			t.Fatal(err)
		}
	}
	open := 0
	for _, f := range all {
		if _, err := f.Stat(); err == nil {
			open++
		}
	}
	if open != mostSpare {
		t.Errorf("%d files are kept, want %d", open, mostSpare)
	}
	for range mostSpare {
		if !slices.Contains(all, take()) {
			t.Error("a file is made though there is one")
		}
	}
}

func TestWhatMayBecomeLargeIsNotKeptInMemory(t *testing.T) {
	t.Parallel()
	r, err := New(t.TempDir(), prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	for _, limit := range []int64{0, 1, mostInMemory, mostInMemory + 1, 1 << 40} {
		little := limit > 0 && limit <= mostInMemory
		f, err := r.Output(limit)
		if err != nil {
			t.Fatal(err)
		}
		_, named := os.Stat(f.Name())
		if memory := f.Name() == inMemory; memory != little || !errors.Is(named, os.ErrNotExist) {
			t.Errorf("a file for %d bytes is %s, %v", limit, f.Name(), named)
		}
		if err := r.GiveBack(f); err != nil {
			t.Fatal(err)
		}
		if _, err := f.Stat(); (err == nil) != little {
			t.Errorf("a file for %d bytes that was given back: %v", limit, err)
		}
	}
}
