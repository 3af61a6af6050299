package wire

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"

	"golang.org/x/sys/unix"
)

// Files travel packed in a sealed memfd: the length of the index as four bytes in big
// endian, the index as JSON, and the contents one after the other.

// PackedFile is an entry of the index.
type PackedFile struct {
	Path string      `json:"path"`
	Mode fs.FileMode `json:"mode"`
	Size int64       `json:"size"`
}

// maxIndex bounds the index in bytes, and so the number of files.
const maxIndex = 4 << 20

// Pack returns a memfd that holds files.
func Pack(files []File) (*os.File, error) {
	var index []PackedFile
	for _, f := range files {
		if err := CheckPath(f.Path); err != nil {
			return nil, err
		}
		index = append(index, PackedFile{f.Path, f.Mode, int64(len(f.Data))})
	}
	w, err := MemoryFile("files")
	if err != nil {
		return nil, err
	}
	if err := PackIndex(w, index); err != nil {
		return nil, errors.Join(err, w.Close())
	}
	for _, f := range files {
		if _, err := w.Write(f.Data); err != nil {
			return nil, errors.Join(fmt.Errorf("pack %s: %w", f.Path, err), w.Close())
		}
	}
	if err := Seal(w); err != nil {
		return nil, errors.Join(err, w.Close())
	}
	return w, nil
}

// Seal makes a memory file immutable.
func Seal(f *os.File) error {
	if _, err := unix.FcntlInt(f.Fd(), unix.F_ADD_SEALS, unix.F_SEAL_SEAL|Sealed); err != nil {
		return fmt.Errorf("seal a memory file: %w", err)
	}
	return nil
}

// PackIndex writes index to the empty file w; the contents are to follow.
func PackIndex(w *os.File, index []PackedFile) error {
	b, err := json.Marshal(index)
	if err != nil {
		return fmt.Errorf("pack files: %w", err)
	}
	if len(b) > maxIndex {
		return Unfit("there are too many files to pack")
	}
	head := binary.BigEndian.AppendUint32(nil, uint32(len(b)))
	if _, err := w.Write(append(head, b...)); err != nil {
		return fmt.Errorf("pack files: %w", err)
	}
	return nil
}

// readIndex reads the index of packed files and returns where the contents begin.
func readIndex(f *os.File) ([]PackedFile, int64, error) {
	r := io.NewSectionReader(f, 0, math.MaxInt64)
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, 0, fmt.Errorf("read packed files: %w", err)
	}
	n := binary.BigEndian.Uint32(head[:])
	if n > maxIndex {
		return nil, 0, errors.New("read packed files: the index is too long")
	}
	b := make([]byte, n)
	if _, err := io.ReadFull(r, b); err != nil {
		return nil, 0, fmt.Errorf("read packed files: %w", err)
	}
	var index []PackedFile
	if err := json.Unmarshal(b, &index); err != nil {
		return nil, 0, fmt.Errorf("read packed files: %w", err)
	}
	for _, p := range index {
		if err := CheckPath(p.Path); err != nil {
			return nil, 0, err
		}
		if p.Size < 0 {
			return nil, 0, fmt.Errorf("read packed files: %s has a negative size", p.Path)
		}
	}
	return index, int64(len(head)) + int64(n), nil
}

// Contents returns the packed files of f, which must stay open.
func Contents(f *os.File) ([]Content, error) {
	index, offset, err := readIndex(f)
	if err != nil {
		return nil, err
	}
	files := make([]Content, len(index))
	for i, p := range index {
		files[i] = Content{p, f, offset}
		if offset += p.Size; offset < 0 {
			return nil, fmt.Errorf("read packed files: %s is too large", p.Path)
		}
	}
	return files, nil
}

// Unpack reads packed files.
func Unpack(f *os.File) ([]File, error) {
	index, offset, err := readIndex(f)
	if err != nil {
		return nil, err
	}
	st, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("read packed files: %w", err)
	}
	left := st.Size() - offset
	r := io.NewSectionReader(f, offset, left)
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

// MemoryFile returns an empty anonymous file.
func MemoryFile(name string) (*os.File, error) {
	fd, err := unix.MemfdCreate(name, unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return nil, fmt.Errorf("make a memory file: %w", err)
	}
	return os.NewFile(uintptr(fd), name), nil
}

// Content is a file to be written below /box: size bytes of a file of the host from an offset on.
type Content struct {
	PackedFile
	From   *os.File
	Offset int64
}
