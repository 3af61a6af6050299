package source

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"deepoj/host/problem"
)

// Open returns the package at a path of this machine: a folder, or a ZIP file with the package at its top or in its
// only folder. Links are followed within the package and nowhere else. Close it after the package was saved.
func Open(name string) (fsys fs.FS, slug string, closer io.Closer, err error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, "", nil, fmt.Errorf("open package: %w", err)
	}
	full, err := filepath.Abs(name)
	if err != nil {
		return nil, "", nil, fmt.Errorf("open package: %w", err)
	}
	slug = strings.TrimSuffix(filepath.Base(full), ".zip")
	if info.IsDir() {
		root, err := os.OpenRoot(name)
		if err != nil {
			return nil, "", nil, fmt.Errorf("open package: %w", err)
		}
		return root.FS(), slug, root, nil
	}
	z, err := zip.OpenReader(name)
	if err != nil {
		return nil, "", nil, fmt.Errorf("open package %s: %w", name, err)
	}
	a, err := Unzip(&z.Reader)
	if err != nil {
		return nil, "", nil, errors.Join(fmt.Errorf("open package %s: %w", name, err), z.Close())
	}
	return a, slug, z, nil
}

// What a ZIP file may be at most.
const (
	maxUnzipped = problem.MaxBytes // bytes of all its files together, as its directory says
	maxPacked   = 64 << 20         // bytes of all its files together that may be packed as tightly as they like
	maxRatio    = 100              // bytes for a byte of the archive, of more than that
	maxLink     = 4096             // bytes of a link
	maxHops     = 16               // links from one name to a file
)

// Unzip returns the files of a ZIP archive as a file system in which symbolic links work, as long as they stay within
// the archive. A file that turns out to be longer than the archive says is an error when it is read.
func Unzip(z *zip.Reader) (fs.FS, error) {
	a, err := unpack(z)
	if err != nil {
		return nil, err
	}
	return a.top()
}

// unpack returns all of an archive.
func unpack(z *zip.Reader) (*archive, error) {
	a := &archive{files: map[string]*zip.File{}, links: map[string]string{}, folders: map[string][]string{".": nil}}
	if len(z.File) > problem.MaxFiles {
		return nil, fmt.Errorf("the archive has %d entries, at most %d are read", len(z.File), problem.MaxFiles)
	}
	var total, packed uint64
	var largest *zip.File
	for _, f := range z.File {
		name := strings.TrimSuffix(f.Name, "/")
		if !fs.ValidPath(name) || name == "." || strings.Contains(name, `\`) {
			return nil, fmt.Errorf("the archive has an entry named %q, which is no name in a folder", f.Name)
		}
		packed += f.CompressedSize64
		if total += f.UncompressedSize64; total > maxUnzipped || f.UncompressedSize64 > maxUnzipped {
			return nil, fmt.Errorf("the archive unpacks to more than %d GiB: %q has %d MiB", maxUnzipped>>30, problem.Brief(f.Name), f.UncompressedSize64>>20)
		}
		if largest == nil || f.UncompressedSize64 > largest.UncompressedSize64 {
			largest = f
		}
		if err := a.add(name, f); err != nil {
			return nil, err
		}
	}
	if total > maxPacked && total/maxRatio >= packed {
		return nil, fmt.Errorf("the archive unpacks to %d MiB, more than %d times its size: %q alone has %d MiB; let generators make what is so regular",
			total>>20, maxRatio, problem.Brief(largest.Name), largest.UncompressedSize64>>20)
	}
	return a, nil
}

// archive is a ZIP file as a file system.
type archive struct {
	files   map[string]*zip.File
	links   map[string]string   // targets, as they are written
	folders map[string][]string // names of children
}

func (a *archive) add(name string, f *zip.File) error {
	if f.Mode().IsDir() {
		return a.folder(name)
	}
	_, isLink := a.links[name]
	_, isFolder := a.folders[name]
	if a.files[name] != nil || isLink || isFolder {
		return fmt.Errorf("the archive has two entries named %q", name)
	}
	switch {
	case f.Mode()&fs.ModeSymlink != 0:
		r, err := f.Open()
		if err != nil {
			return fmt.Errorf("link %s: %w", name, err)
		}
		target, err := io.ReadAll(io.LimitReader(r, maxLink))
		if err = errors.Join(err, r.Close()); err != nil {
			return fmt.Errorf("link %s: %w", name, err)
		}
		a.links[name] = string(target)
	case f.Mode().IsRegular():
		a.files[name] = f
	default:
		return fmt.Errorf("the archive's entry %s is neither a file nor a folder nor a link", name)
	}
	if err := a.folder(path.Dir(name)); err != nil {
		return err
	}
	a.folders[path.Dir(name)] = append(a.folders[path.Dir(name)], path.Base(name))
	return nil
}

// folder makes a folder and those above it.
func (a *archive) folder(name string) error {
	if _, known := a.folders[name]; known {
		return nil
	}
	if _, link := a.links[name]; link || a.files[name] != nil {
		return fmt.Errorf("the archive has two entries named %q", name)
	}
	if err := a.folder(path.Dir(name)); err != nil {
		return err
	}
	a.folders[name] = []string{}
	a.folders[path.Dir(name)] = append(a.folders[path.Dir(name)], path.Base(name))
	return nil
}

// top returns the archive, or its only folder when that is all it has.
func (a *archive) top() (fs.FS, error) {
	top := slices.DeleteFunc(slices.Clone(a.folders["."]), func(n string) bool { return n == "__MACOSX" })
	if len(top) == 1 {
		if _, folder := a.folders[top[0]]; folder {
			return fs.Sub(a, top[0])
		}
	}
	return a, nil
}

// resolve follows the links in a name.
func (a *archive) resolve(name string) (string, error) {
	hops := 0
	done := "."
	rest := strings.Split(name, "/")
	for len(rest) > 0 {
		part := rest[0]
		rest = rest[1:]
		switch part {
		case ".", "":
			continue
		case "..":
			if done == "." {
				return "", fs.ErrNotExist // out of the archive
			}
			done = path.Dir(done)
			continue
		}
		next := path.Join(done, part)
		target, link := a.links[next]
		if !link {
			done = next
			continue
		}
		if hops++; hops > maxHops || path.IsAbs(target) {
			return "", fs.ErrNotExist
		}
		rest = append(strings.Split(target, "/"), rest...)
	}
	return done, nil
}

// Open implements fs.FS.
func (a *archive) Open(name string) (fs.File, error) {
	fail := func(err error) (fs.File, error) { return nil, &fs.PathError{Op: "open", Path: name, Err: err} }
	if !fs.ValidPath(name) {
		return fail(fs.ErrInvalid)
	}
	real, err := a.resolve(name)
	if err != nil {
		return fail(err)
	}
	if children, ok := a.folders[real]; ok {
		return &openFolder{a: a, name: real, left: slices.Sorted(slices.Values(children))}, nil
	}
	f := a.files[real]
	if f == nil {
		return fail(fs.ErrNotExist)
	}
	r, err := f.Open()
	if err != nil {
		return fail(err)
	}
	return &openFile{ReadCloser: r, info: entry{name: path.Base(name), size: int64(f.UncompressedSize64)}}, nil
}

// ReadLink implements fs.ReadLinkFS.
func (a *archive) ReadLink(name string) (string, error) {
	fail := func(err error) (string, error) {
		return "", &fs.PathError{Op: "readlink", Path: name, Err: err}
	}
	if !fs.ValidPath(name) {
		return fail(fs.ErrInvalid)
	}
	above, err := a.resolve(path.Dir(name))
	if err != nil {
		return fail(err)
	}
	target, link := a.links[path.Join(above, path.Base(name))]
	if !link {
		return fail(fs.ErrInvalid)
	}
	return target, nil
}

// Lstat implements fs.ReadLinkFS.
func (a *archive) Lstat(name string) (fs.FileInfo, error) {
	if _, err := a.ReadLink(name); err == nil {
		return entry{name: path.Base(name), mode: fs.ModeSymlink}, nil
	}
	return fs.Stat(a, name)
}

// entry describes a file, folder or link.
type entry struct {
	name string
	size int64
	mode fs.FileMode
	sys  any // of a folder that was opened: its name without links
}

func (e entry) Name() string { return e.name }

func (e entry) Size() int64 { return e.size }

func (e entry) Mode() fs.FileMode { return e.mode | 0o444 }

func (e entry) Type() fs.FileMode { return e.mode.Type() }

func (e entry) ModTime() time.Time { return time.Time{} }

func (e entry) IsDir() bool { return e.mode.IsDir() }

func (e entry) Sys() any { return e.sys }

func (e entry) Info() (fs.FileInfo, error) { return e, nil }

type openFile struct {
	io.ReadCloser
	info entry
}

func (f *openFile) Stat() (fs.FileInfo, error) { return f.info, nil }

type openFolder struct {
	a    *archive
	name string
	left []string
}

func (f *openFolder) Stat() (fs.FileInfo, error) {
	return entry{name: path.Base(f.name), mode: fs.ModeDir, sys: resolved(f.name)}, nil
}

func (f *openFolder) Read([]byte) (int, error) { return 0, errors.New("is a folder") }

func (f *openFolder) Close() error { return nil }

// ReadDir implements fs.ReadDirFile.
func (f *openFolder) ReadDir(n int) ([]fs.DirEntry, error) {
	take := len(f.left)
	if n > 0 && take == 0 {
		return nil, io.EOF
	}
	if n > 0 {
		take = min(take, n)
	}
	var list []fs.DirEntry
	for _, child := range f.left[:take] {
		full := path.Join(f.name, child)
		e := entry{name: child}
		if _, ok := f.a.folders[full]; ok {
			e.mode = fs.ModeDir
		} else if _, ok := f.a.links[full]; ok {
			e.mode = fs.ModeSymlink
		} else {
			e.size = int64(f.a.files[full].UncompressedSize64)
		}
		list = append(list, e)
	}
	f.left = f.left[take:]
	return list, nil
}

// FileInfo describes a file of a size.
func FileInfo(name string, size int64) fs.FileInfo { return entry{name: path.Base(name), size: size} }
