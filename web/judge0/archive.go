package judge0

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
	"unicode/utf8"

	"deepoj/host/judge"
)

// MaxArchiveBytes bounds the files of an archive together, unpacked.
const MaxArchiveBytes = 8 << 20

// What else an archive may hold.
const (
	maxArchiveFiles = 256
	maxArchiveName  = 200 // bytes of a path
)

// unzip returns the files of an archive. What it claims about sizes is not believed.
func unzip(archive []byte) ([]judge.RunFile, error) {
	r, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		return nil, errors.New("is not a ZIP archive")
	}
	if len(r.File) > maxArchiveFiles {
		return nil, fmt.Errorf("has %d entries, more than %d", len(r.File), maxArchiveFiles)
	}
	var files []judge.RunFile
	seen := map[string]bool{}
	left := int64(MaxArchiveBytes)
	for _, f := range r.File {
		if strings.HasSuffix(f.Name, "/") {
			continue // a folder; those that are needed are made
		}
		if !plainPath(f.Name) || !f.Mode().IsRegular() {
			return nil, fmt.Errorf("has an entry %.60q, which is no regular file below the working directory", f.Name)
		}
		if seen[f.Name] {
			return nil, fmt.Errorf("has %.60q twice", f.Name)
		}
		seen[f.Name] = true
		data, err := content(f, left)
		if err != nil {
			return nil, err
		}
		left -= int64(len(data))
		files = append(files, judge.RunFile{Name: f.Name, Data: data, Exec: f.Mode()&0o100 != 0})
	}
	for _, f := range files {
		for parent := path.Dir(f.Name); parent != "."; parent = path.Dir(parent) {
			if seen[parent] {
				return nil, fmt.Errorf("has %.60q as a file and as a folder", parent)
			}
		}
	}
	return files, nil
}

func content(f *zip.File, left int64) (data []byte, err error) {
	in, err := f.Open()
	if err != nil {
		return nil, fmt.Errorf("has an entry %.60q that cannot be read", f.Name)
	}
	defer in.Close()
	if data, err = io.ReadAll(io.LimitReader(in, left+1)); err != nil {
		return nil, fmt.Errorf("has an entry %.60q that cannot be read", f.Name)
	}
	if int64(len(data)) > left {
		return nil, fmt.Errorf("has more than %d MiB unpacked", MaxArchiveBytes>>20)
	}
	return data, nil
}

// plainPath reports whether name is a path of plain names with slashes between them.
func plainPath(name string) bool {
	if name == "" || len(name) > maxArchiveName || !utf8.ValidString(name) || path.Clean(name) != name || path.IsAbs(name) ||
		name == "." || name == ".." || strings.HasPrefix(name, "../") {
		return false
	}
	return !strings.ContainsFunc(name, func(c rune) bool { return c < ' ' || c == 0x7f || c == '\\' })
}
