package blob

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// cache is a Dir that stays about as small as it should: what was not used for the longest time goes first. A file that
// is open stays readable when it goes, and one that was used a moment ago stays.
type cache struct {
	dir   *Dir
	limit int64         // bytes
	young time.Duration // for how long a file stays at least

	mu    sync.Mutex
	used  map[Digest]time.Time // when a file was last used by this process
	added int64                // bytes since the folder was last counted
	held  int64                // bytes when it was
	count time.Time            // when it was
}

// openCache returns the cache in folder path.
func openCache(path string, limit int64) (*cache, error) {
	if limit <= 0 {
		return nil, fmt.Errorf("a cache of %d bytes: it needs a positive bound", limit)
	}
	dir, err := OpenDir(path)
	if err != nil {
		return nil, err
	}
	c := &cache{dir: dir, limit: limit, young: time.Minute, used: map[Digest]time.Time{}}
	return c, c.trim(true)
}

// file returns an open file with the content of g. The error is [ErrNotFound]
// when it has to come from elsewhere, also because the file here was damaged.
func (c *cache) file(ctx context.Context, g Digest) (*os.File, error) {
	f, err := c.dir.File(ctx, g)
	if _, damaged := errors.AsType[*CorruptError](err); damaged {
		return nil, errors.Join(ErrNotFound, c.drop(g))
	}
	if err == nil {
		c.mu.Lock()
		c.used[g] = time.Now()
		c.mu.Unlock()
	}
	return f, err
}

// put stores what r yields.
func (c *cache) put(ctx context.Context, r io.Reader) (Digest, int64, error) {
	g, n, err := c.dir.Put(ctx, r)
	if err != nil {
		return "", 0, err
	}
	c.mu.Lock()
	c.used[g] = time.Now()
	c.added += n
	c.mu.Unlock()
	return g, n, c.trim(false)
}

// drop removes a file.
func (c *cache) drop(g Digest) error {
	if err := os.Remove(c.dir.path(g)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("drop blob %s: %w", g, err)
	}
	return nil
}

// trim counts the folder, which other processes may use too, and removes files
// until it is a tenth below the limit, if it may be beyond it or must be counted.
func (c *cache) trim(must bool) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !must && (c.held+c.added <= c.limit || time.Since(c.count) < c.young/60) {
		return nil
	}
	type entry struct {
		g    Digest
		size int64
		used time.Time
	}
	var entries []entry
	var held int64
	err := c.dir.each(func(g Digest, info fs.FileInfo) error {
		used := info.ModTime()
		if last := c.used[g]; last.After(used) {
			used = last
		}
		entries = append(entries, entry{g, info.Size(), used})
		held += info.Size()
		return nil
	})
	if err != nil {
		return err
	}
	slices.SortFunc(entries, func(a, b entry) int { return a.used.Compare(b.used) })
	enough := c.limit
	if held > c.limit {
		enough -= c.limit / 10 // so that this is not to do again at once
	}
	for _, e := range entries {
		if held <= enough || time.Since(e.used) < c.young {
			break
		}
		if err := c.drop(e.g); err != nil {
			return err
		}
		delete(c.used, e.g)
		held -= e.size
	}
	if len(c.used) > remembered {
		maps.DeleteFunc(c.used, func(_ Digest, t time.Time) bool { return time.Since(t) > time.Hour })
	}
	c.held, c.added, c.count = held, 0, time.Now()
	return nil
}

// each calls f with every stored file.
func (d *Dir) each(f func(Digest, fs.FileInfo) error) error {
	folders, err := os.ReadDir(d.root)
	if err != nil {
		return fmt.Errorf("list blobs: %w", err)
	}
	for _, folder := range folders {
		if len(folder.Name()) != 2 {
			continue
		}
		files, err := os.ReadDir(filepath.Join(d.root, folder.Name()))
		if err != nil {
			return fmt.Errorf("list blobs: %w", err)
		}
		for _, file := range files {
			g, err := Parse(algorithm + file.Name())
			if err != nil {
				continue // not ours
			}
			info, err := file.Info()
			if errors.Is(err, fs.ErrNotExist) {
				continue // gone meanwhile
			}
			if err != nil {
				return fmt.Errorf("list blobs: %w", err)
			}
			if err := f(g, info); err != nil {
				return err
			}
		}
	}
	return nil
}
