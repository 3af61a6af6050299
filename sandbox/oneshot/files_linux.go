package oneshot

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"deepoj/sandbox/internal/wire"
)

// maxDir bounds the bytes of a folder that --dir copies.
const maxDir = 1 << 30

// jobFiles are the files of a job, opened on the host.
type jobFiles struct {
	contents  []wire.Content // for the working directory
	stdio     []*os.File
	collected *os.File // a folder, or an empty file
	opened    []*os.File
}

func (f *jobFiles) close() { wire.CloseAll(f.opened) }

// open opens all files that the command line names. What it returns must be closed also after an error.
func (j *job) open() (*jobFiles, error) {
	f := &jobFiles{}
	for _, dir := range j.dirs {
		if err := f.addDir(dir); err != nil {
			return f, fmt.Errorf("read the folder %s: %w", dir, err)
		}
	}
	for i, s := range []struct {
		path, what string
		flags      int
		inherited  wire.Slot
	}{
		{j.in, "the input", os.O_RDONLY, wire.SlotReadable},
		{j.out, "an output", os.O_WRONLY | os.O_CREATE | os.O_TRUNC, wire.SlotWritable},
		{j.err, "an output", os.O_WRONLY | os.O_CREATE | os.O_TRUNC, wire.SlotWritable},
	} {
		if s.path == "" {
			continue
		}
		file, err := openNamed(s.path, s.flags, s.inherited)
		if err != nil {
			return f, fmt.Errorf("open %s: %w", s.what, err)
		}
		f.opened, f.stdio = append(f.opened, file), append(f.stdio, file)
		j.request.Stdio[i] = true
	}
	if j.collectTo == "" {
		return f, nil
	}
	var err error
	f.collected, err = openNamed(j.collectTo, os.O_RDONLY|unix.O_DIRECTORY, wire.SlotKept)
	if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR) {
		f.collected, err = openNamed(j.collectTo, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, wire.SlotKept)
	}
	if err != nil {
		return f, fmt.Errorf("open where to collect files: %w", err)
	}
	f.opened = append(f.opened, f.collected)
	return f, nil
}

// addDir adds the regular files below a folder, or those packed in a file. Only a name leads to a folder: it is opened
// with our rights, and an inherited descriptor says nothing of those of whoever passed it.
func (f *jobFiles) addDir(path string) error {
	file, err := openNamed(path, os.O_RDONLY, wire.SlotPacked)
	if err != nil {
		return err
	}
	f.opened = append(f.opened, file)
	st, err := file.Stat()
	if err != nil {
		return err
	}
	if !st.IsDir() {
		packed, err := wire.Contents(file)
		f.contents = append(f.contents, packed...)
		return err
	}
	root, err := os.OpenRoot(path)
	if err != nil {
		return err
	}
	defer root.Close()
	left := int64(maxDir)
	return fs.WalkDir(root.FS(), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		file, err := root.Open(path)
		if err != nil {
			return err
		}
		f.opened = append(f.opened, file)
		st, err := file.Stat()
		if err != nil {
			return err
		}
		if left -= st.Size(); left < 0 {
			return fmt.Errorf("more than %d bytes", int64(maxDir))
		}
		packed := wire.PackedFile{Path: filepath.ToSlash(path), Mode: st.Mode().Perm(), Size: st.Size()}
		f.contents = append(f.contents, wire.Content{PackedFile: packed, From: file})
		return nil
	})
}
