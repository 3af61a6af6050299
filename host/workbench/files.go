package workbench

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// ReadModule reads a file of at most as many bytes as a module may have. More is
// for the admission to refuse.
func ReadModule(name string) ([]byte, error) {
	const most = 64 << 20
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a file", name)
	}
	if info.Size() > most {
		return nil, fmt.Errorf("%s has %d bytes: no module has so many", name, info.Size())
	}
	return os.ReadFile(filepath.Clean(name))
}

// OpenRegular opens a file that can be read at any place. What cannot, such as a
// pipe, is copied.
func OpenRegular(name string) (*os.File, error) {
	f, err := os.Open(filepath.Clean(name))
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	switch {
	case err != nil:
	case info.IsDir():
		err = fmt.Errorf("%s is a folder", name)
	case info.Mode().IsRegular():
		return f, nil
	case info.Mode()&(fs.ModeNamedPipe|fs.ModeCharDevice|fs.ModeSocket) != 0:
		var copied *os.File
		if copied, err = copyOf(f); err == nil {
			return copied, f.Close()
		}
	}
	return nil, errors.Join(err, f.Close())
}

// copyOf returns a file without a name that holds what is read.
func copyOf(f *os.File) (*os.File, error) {
	t, err := os.CreateTemp("", "deepoj-plugin-")
	if err != nil {
		return nil, err
	}
	_, err = t.ReadFrom(f)
	if err = errors.Join(err, os.Remove(t.Name())); err != nil {
		return nil, errors.Join(err, t.Close())
	}
	return t, nil
}
