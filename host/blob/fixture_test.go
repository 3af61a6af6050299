package blob

import (
	"errors"
	"os"
	"testing"
	"time"
)

// fsZero is a modification time no fresh file has.
var fsZero = time.Unix(1, 0)

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

func corrupt(err error) bool {
	_, ok := errors.AsType[*CorruptError](err)
	return ok
}

func incoming(t *testing.T, d *Dir) []string {
	t.Helper()
	entries, err := os.ReadDir(d.incoming())
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}
