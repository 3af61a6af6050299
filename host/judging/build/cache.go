package build

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"deepoj/sandbox"
)

// cache keeps files that were expensive to build, by a key that names everything they depend on. An entry is one file:
// the SHA-256 of the rest, then a tar. A damaged entry counts as absent. What was used last is in memory, too.
type cache struct {
	dir    string
	max    int64 // bytes
	recent *recent[entry]

	mu   sync.Mutex
	size int64
}

// entry is an entry in memory.
type entry struct {
	about []byte // JSON
	made  *made
}

// maxRecent bounds what of a cache is in memory, in bytes.
const maxRecent = 64 << 20

func openCache(dir string, limit int64) (*cache, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("open cache: %w", err)
	}
	c := &cache{dir: dir, max: limit, recent: newRecent[entry](min(limit, maxRecent))}
	entries, err := c.entries()
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		c.size += e.Size()
	}
	return c, nil
}

// key names what depends on v, which must be encodable as JSON.
func key(v any) (string, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return "", fmt.Errorf("name a cache entry: %w", err)
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:]), nil
}

// about is the name, in the tar, of what describes the files.
const about = "about.json"

// get returns the files of an entry and fills in what describes them.
func (c *cache) get(key string, what any) ([]sandbox.File, bool) {
	m, ok := c.take(key, what)
	if !ok {
		return nil, false
	}
	return m.files, true
}

// take is get, of files that are put into boxes.
func (c *cache) take(key string, what any) (*made, bool) {
	path := filepath.Join(c.dir, key)
	now := time.Now()
	if e, ok := c.recent.get(key); ok && os.Chtimes(path, now, now) == nil { // for the order of eviction
		return e.made, json.Unmarshal(e.about, what) == nil
	}
	b, err := os.ReadFile(path)
	if err != nil || len(b) < sha256.Size {
		return nil, false
	}
	if sum := sha256.Sum256(b[sha256.Size:]); !bytes.Equal(sum[:], b[:sha256.Size]) {
		return nil, false
	}
	var files []sandbox.File
	var described []byte
	for r := tar.NewReader(bytes.NewReader(b[sha256.Size:])); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, false
		}
		data, err := io.ReadAll(r)
		if err != nil {
			return nil, false
		}
		if described == nil {
			if h.Name != about || json.Unmarshal(data, what) != nil {
				return nil, false
			}
			described = data
			continue
		}
		files = append(files, sandbox.File{Path: h.Name, Mode: fs.FileMode(h.Mode).Perm(), Data: data})
	}
	_ = os.Chtimes(path, now, now) // only the order of eviction suffers
	if described == nil {
		return nil, false
	}
	m := &made{files: files}
	c.keep(key, described, m)
	return m, true
}

// keep keeps an entry in memory.
func (c *cache) keep(key string, described []byte, m *made) {
	m.mu.Lock()
	m.kept = true
	m.mu.Unlock()
	c.recent.put(key, entry{described, m}, m.bytes()+int64(len(described)))
}

// put stores an entry. It removes the entries that were not used for longest when there is too much.
func (c *cache) put(key string, what any, files []sandbox.File) error {
	return c.store(key, what, &made{files: files})
}

// store is put, of files that are put into boxes.
func (c *cache) store(key string, what any, m *made) error {
	described, err := json.Marshal(what)
	if err == nil {
		err = c.write(key, described, m.files)
	}
	if err != nil {
		return fmt.Errorf("cache: %w", err)
	}
	c.keep(key, described, m)
	return nil
}

// write stores an entry on disk.
func (c *cache) write(key string, described []byte, files []sandbox.File) error {
	tmp, err := os.CreateTemp(c.dir, temporary+"*")
	if err != nil {
		return err
	}
	size, err := fill(tmp, described, files)
	err = errors.Join(err, tmp.Close())
	if err == nil {
		err = os.Rename(tmp.Name(), filepath.Join(c.dir, key))
	}
	if err != nil {
		return errors.Join(err, os.Remove(tmp.Name()))
	}
	return c.grow(size)
}

// fill writes an entry to the empty file f, and returns how many bytes it has. The files go there as they are: a program
// has megabytes, and is put together, hashed and written for each submission.
func fill(f *os.File, described []byte, files []sandbox.File) (size int64, err error) {
	if _, err := f.Write(make([]byte, sha256.Size)); err != nil {
		return 0, err
	}
	sum := sha256.New()
	w := tar.NewWriter(io.MultiWriter(f, sum))
	for _, file := range append([]sandbox.File{{Path: about, Mode: 0o600, Data: described}}, files...) {
		err := w.WriteHeader(&tar.Header{Name: file.Path, Mode: int64(file.Mode.Perm()), Size: int64(len(file.Data)), Format: tar.FormatPAX})
		if err == nil {
			_, err = w.Write(file.Data)
		}
		if err != nil {
			return 0, fmt.Errorf("%s: %w", file.Path, err)
		}
	}
	if err := w.Close(); err != nil {
		return 0, err
	}
	if size, err = f.Seek(0, io.SeekCurrent); err != nil {
		return 0, err
	}
	_, err = f.WriteAt(sum.Sum(nil), 0)
	return size, err
}

// temporary begins the names of unfinished entries.
const temporary = "tmp-"

// grow counts n new bytes and evicts what is too much.
func (c *cache) grow(n int64) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.size += n; c.size <= c.max {
		return nil
	}
	entries, err := c.entries()
	if err != nil {
		return err
	}
	slices.SortFunc(entries, func(a, b fs.FileInfo) int { return a.ModTime().Compare(b.ModTime()) })
	c.size = 0
	for _, e := range entries {
		c.size += e.Size()
	}
	for _, e := range entries {
		if c.size <= c.max/10*9 { // some room, so that not every put evicts
			break
		}
		if err := os.Remove(filepath.Join(c.dir, e.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("evict from cache: %w", err)
		}
		c.size -= e.Size()
	}
	return nil
}

func (c *cache) entries() ([]fs.FileInfo, error) {
	names, err := os.ReadDir(c.dir)
	if err != nil {
		return nil, fmt.Errorf("list cache: %w", err)
	}
	var infos []fs.FileInfo
	for _, n := range names {
		if info, err := n.Info(); err == nil {
			infos = append(infos, info)
		}
	}
	return infos, nil
}
