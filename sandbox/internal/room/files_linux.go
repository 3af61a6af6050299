package room

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"deepoj/sandbox/internal/glob"
	"deepoj/sandbox/internal/wire"
)

// Files in /box are reached from a descriptor of /box, step by step, without
// following any link: the program may have planted some.

// beneath opens a path below the folder dir.
func beneath(dir int, name string, flags int, mode fs.FileMode) (int, error) {
	fd, err := unix.Openat2(dir, name, &unix.OpenHow{
		Flags:   uint64(flags | unix.O_CLOEXEC | unix.O_NOFOLLOW),
		Mode:    uint64(mode.Perm()),
		Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS | unix.RESOLVE_NO_XDEV,
	})
	if err != nil {
		return -1, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return fd, nil
}

// openBox opens /box.
func openBox() (int, error) {
	fd, err := unix.Open("/box", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, fmt.Errorf("open /box: %w", err)
	}
	return fd, nil
}

// put writes packed files below /box.
func (r *Room) put(packed *os.File) error {
	files, err := wire.Contents(packed)
	if err != nil {
		return err
	}
	if err := fits(files, r.boxBytes()); err != nil {
		return err
	}
	box, err := openBox()
	if err != nil {
		return err
	}
	defer unix.Close(box)
	owner := -1
	if r.writable {
		owner = r.UID
	}
	return fill(box, files, owner)
}

// fits refuses files that have more bytes together than a box holds.
func fits(files []wire.Content, most int64) error {
	var sum int64
	for _, f := range files {
		if sum += f.Size; sum > most || sum < 0 {
			return fmt.Errorf("the files have more than the %d bytes that the box holds, with %s of %d bytes", most, f.Path, f.Size)
		}
	}
	return nil
}

// fill writes files below the folder top.
func fill(top int, files []wire.Content, owner int) error {
	for _, f := range files {
		err := writeBelow(top, f, owner)
		if errors.Is(err, unix.ENAMETOOLONG) || errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.EISDIR) || errors.Is(err, unix.EEXIST) ||
			errors.Is(err, unix.ELOOP) || errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSPC) {
			return wire.Unfit("write %s: %v", f.Path, err)
		}
		if err != nil {
			return fmt.Errorf("write %s: %w", f.Path, err)
		}
	}
	return nil
}

// writeBelow writes a file below the folder top, and makes the folders that are
// missing. What it makes belongs to owner, or to us if that is negative.
func writeBelow(top int, c wire.Content, owner int) error {
	dir, err := makeFolders(top, path.Dir(c.Path), owner)
	if err != nil {
		return err
	}
	defer unix.Close(dir)
	name := path.Base(c.Path)
	// What is there is replaced and not written through: it may be a link, or a program that still runs.
	if err := unix.Unlinkat(dir, name, 0); err != nil && !errors.Is(err, unix.ENOENT) {
		return err
	}
	mode := c.Mode.Perm()
	mode = cmp.Or(mode, 0o644)
	fd, err := beneath(dir, name, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL, mode)
	if err != nil {
		return err
	}
	n, err := sendFile(fd, int(c.From.Fd()), c.Offset, c.Size)
	if err == nil && n < c.Size {
		err = io.ErrUnexpectedEOF
	}
	if err == nil && owner >= 0 {
		err = unix.Fchown(fd, owner, owner)
	}
	if err == nil {
		err = unix.Fchmod(fd, uint32(mode))
	}
	return errors.Join(err, unix.Close(fd))
}

// makeFolders opens the folder name below dir and makes what is missing of it.
func makeFolders(dir int, name string, owner int) (int, error) {
	current, err := unix.FcntlInt(uintptr(dir), unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return -1, fmt.Errorf("open a folder: %w", err)
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == "." {
			continue
		}
		err := unix.Mkdirat(current, part, 0o755)
		made := err == nil
		if err != nil && !errors.Is(err, unix.EEXIST) {
			return -1, errors.Join(fmt.Errorf("make the folder %s: %w", name, err), unix.Close(current))
		}
		next, err := beneath(current, part, unix.O_RDONLY|unix.O_DIRECTORY, 0)
		err = errors.Join(err, unix.Close(current))
		if err == nil && made && owner >= 0 {
			err = unix.Fchown(next, owner, owner)
		}
		if err != nil {
			return -1, err
		}
		current = next
	}
	return current, nil
}

// maxCollected is how many entries of /box are looked at.
const maxCollected = 20000

// collect returns a memfd with the packed regular files that match globs.
func (r *Room) collect(globs []string, maxBytes int64) (*os.File, error) {
	c, err := findFiles(globs, min(maxBytes, r.host.share()))
	if err != nil {
		return nil, err
	}
	defer c.close()
	return c.pack()
}

// findFiles opens the regular files in /box that match globs.
func findFiles(globs []string, maxBytes int64) (*collector, error) {
	patterns, err := glob.Parse(globs)
	if err != nil {
		return nil, err
	}
	box, err := openBox()
	if err != nil {
		return nil, err
	}
	defer unix.Close(box)
	c := &collector{left: maxBytes, looks: maxCollected}
	if err := c.walk(box, "", glob.NewSearch(patterns)); err != nil {
		c.close()
		return nil, err
	}
	return c, nil
}

// collector finds files and keeps them open until they are packed.
type collector struct {
	left  int64 // bytes
	looks int   // entries of folders
	steps int   // of matching, so far
	index []wire.PackedFile
	files []*os.File
}

func (c *collector) close() { wire.CloseAll(c.files) }

// walk looks through the folder dir, whose path below /box is prefix.
func (c *collector) walk(dir int, prefix string, s glob.Search) error {
	fd, err := beneath(dir, ".", unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return err
	}
	d := os.NewFile(uintptr(fd), prefix)
	entries, err := d.ReadDir(c.looks + 1)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	if err != nil {
		return errors.Join(fmt.Errorf("list files: %w", err), d.Close())
	}
	if c.looks -= len(entries); c.looks < 0 {
		return errors.Join(wire.Unfit("there are more than %d files", maxCollected), d.Close())
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	for _, e := range entries {
		if err := c.visit(fd, e, path.Join(prefix, e.Name()), s); err != nil {
			return errors.Join(err, d.Close())
		}
	}
	return d.Close()
}

// visit looks at the entry e of the folder dir, whose path below /box is name.
func (c *collector) visit(dir int, e fs.DirEntry, name string, s glob.Search) error {
	below, file, folder, steps := s.Step(e.Name())
	c.steps += steps
	if e.IsDir() {
		if !folder {
			return nil
		}
		if strings.Count(name, "/") > 50 {
			return wire.Unfit("the folders are too deep at %s", name)
		}
		fd, err := beneath(dir, e.Name(), unix.O_RDONLY|unix.O_DIRECTORY, 0)
		if err != nil {
			return err
		}
		return errors.Join(c.walk(fd, name, below), unix.Close(fd))
	}
	if !e.Type().IsRegular() || !file {
		return nil
	}
	// Whatever it has become since it was listed: a file is opened without
	// waiting, and looked at again once it is open.
	fd, err := beneath(dir, e.Name(), unix.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	f := os.NewFile(uintptr(fd), name)
	c.files = append(c.files, f)
	st, err := f.Stat()
	if err != nil {
		return fmt.Errorf("look at a file: %w", err)
	}
	if !st.Mode().IsRegular() {
		return wire.Unfit("%s is not a regular file any more", name)
	}
	if c.left -= st.Size(); c.left < 0 {
		return wire.Unfit("the files have too many bytes, with %s of %d bytes", name, st.Size())
	}
	c.index = append(c.index, wire.PackedFile{Path: name, Mode: st.Mode().Perm(), Size: st.Size()})
	return nil
}

// pack returns a memfd with what was found.
func (c *collector) pack() (*os.File, error) {
	w, err := wire.MemoryFile("files")
	if err != nil {
		return nil, err
	}
	if err := errors.Join(c.packInto(w), wire.Seal(w)); err != nil {
		return nil, errors.Join(err, w.Close())
	}
	return w, nil
}

// packInto packs what was found into the empty file w.
func (c *collector) packInto(w *os.File) error {
	if err := wire.PackIndex(w, c.index); err != nil {
		return err
	}
	for i, f := range c.files {
		n, err := sendFile(int(w.Fd()), int(f.Fd()), 0, c.index[i].Size)
		if err == nil && n < c.index[i].Size {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return fmt.Errorf("read %s: %w", f.Name(), err)
		}
	}
	return nil
}
