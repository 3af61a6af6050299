package sandbox

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path"
	"strings"

	"golang.org/x/sys/unix"
)

// Files travel packed in a memfd: the length of the index as four bytes in big
// endian, the index as JSON, and the contents one after the other.

type packedFile struct {
	Path string      `json:"path"`
	Mode fs.FileMode `json:"mode"`
	Size int64       `json:"size"`
}

// maxIndex bounds the index in bytes, and so the number of files.
const maxIndex = 4 << 20

// pack returns a memfd that holds files.
func pack(files []File) (*os.File, error) {
	var index []packedFile
	for _, f := range files {
		if err := checkPath(f.Path); err != nil {
			return nil, err
		}
		index = append(index, packedFile{f.Path, f.Mode, int64(len(f.Data))})
	}
	w, err := packIndex(index)
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		if _, err := w.Write(f.Data); err != nil {
			return nil, errors.Join(fmt.Errorf("pack %s: %w", f.Path, err), w.Close())
		}
	}
	return w, nil
}

// packIndex returns a memfd that holds index; the contents are to follow.
func packIndex(index []packedFile) (*os.File, error) {
	b, err := json.Marshal(index)
	if err != nil {
		return nil, fmt.Errorf("pack files: %w", err)
	}
	if len(b) > maxIndex {
		return nil, errors.New("too many files to pack")
	}
	w, err := memfd("files")
	if err != nil {
		return nil, err
	}
	head := binary.BigEndian.AppendUint32(nil, uint32(len(b)))
	if _, err := w.Write(append(head, b...)); err != nil {
		return nil, errors.Join(fmt.Errorf("pack files: %w", err), w.Close())
	}
	return w, nil
}

// readIndex reads the index of packed files and returns a reader of the
// contents that follow.
func readIndex(f *os.File) ([]packedFile, io.Reader, error) {
	r := io.NewSectionReader(f, 0, math.MaxInt64)
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, nil, fmt.Errorf("read packed files: %w", err)
	}
	n := binary.BigEndian.Uint32(head[:])
	if n > maxIndex {
		return nil, nil, errors.New("read packed files: the index is too long")
	}
	b := make([]byte, n)
	if _, err := io.ReadFull(r, b); err != nil {
		return nil, nil, fmt.Errorf("read packed files: %w", err)
	}
	var index []packedFile
	if err := json.Unmarshal(b, &index); err != nil {
		return nil, nil, fmt.Errorf("read packed files: %w", err)
	}
	for _, p := range index {
		if err := checkPath(p.Path); err != nil {
			return nil, nil, err
		}
		if p.Size < 0 {
			return nil, nil, fmt.Errorf("read packed files: %s has a negative size", p.Path)
		}
	}
	return index, r, nil
}

// unpack reads packed files.
func unpack(f *os.File) ([]File, error) {
	index, r, err := readIndex(f)
	if err != nil {
		return nil, err
	}
	st, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("read packed files: %w", err)
	}
	left := st.Size()
	files := make([]File, 0, len(index))
	for _, p := range index {
		if left -= p.Size; left < 0 {
			return nil, errors.New("read packed files: the contents are cut")
		}
		data := make([]byte, p.Size)
		if _, err := io.ReadFull(r, data); err != nil {
			return nil, fmt.Errorf("read packed files: %w", err)
		}
		files = append(files, File{p.Path, p.Mode, data})
	}
	return files, nil
}

// checkPath refuses a path that is not plainly below its root.
func checkPath(p string) error {
	if p == "" || path.IsAbs(p) || path.Clean(p) != p || p == "." || p == ".." ||
		strings.HasPrefix(p, "../") || strings.ContainsRune(p, 0) || len(p) > 1024 {
		return fmt.Errorf("%q is not a plain relative path", p)
	}
	return nil
}

// memfd returns an empty anonymous file.
func memfd(name string) (*os.File, error) {
	fd, err := unix.MemfdCreate(name, unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return nil, fmt.Errorf("make a memory file: %w", err)
	}
	return os.NewFile(uintptr(fd), name), nil
}
