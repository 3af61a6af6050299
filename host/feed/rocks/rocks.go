// Package rocks reads the live keys of a RocksDB checkpoint, without RocksDB.
//
// A checkpoint is a folder with CURRENT, one MANIFEST and the tables that it names. Open reads them and refuses
// what it could not read right; Iterate merges the tables of one column family by key and sequence number and
// yields the newest value of each key that is not deleted. Everything in the folder may come from a stranger:
// lengths are checked before memory is taken, and every block against its checksum.
//
// Read are block-based tables of format versions 2 to 5, plain, with snappy, zlib, lz4 and zstd, with plain, delta
// encoded, partitioned and first-key indexes, and the checksums crc32c, xxHash, xxHash64 and XXH3. Refused by name
// are other tables and versions, bzip2, compression dictionaries, blob files, merge operands that are a key's
// newest entry, range deletions, wide columns, ingested files, unknown comparators, and writes that are in the
// write-ahead log only.
//
//	rocks.go     checkpoints and column families
//	manifest.go  version edits: which tables are live
//	log.go       records of MANIFEST and write-ahead log
//	layout.go    footer and properties of a table
//	block.go     blocks, and the entries in them
//	checksum.go  checksums of blocks
//	inflate.go   compression of blocks
//	table.go     the entries of one table, by its index
//	iterator.go  tables merged
package rocks

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

var (
	// ErrDamaged says that the checkpoint is incomplete or not what its checksums say.
	ErrDamaged = errors.New("damaged")
	// ErrUnsupported says that the checkpoint uses something that this package does not read.
	ErrUnsupported = errors.New("not supported")
)

func damaged(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrDamaged}, args...)...)
}

func unsupported(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrUnsupported}, args...)...)
}

// An Order compares two keys, as a RocksDB comparator does.
type Order func(a, b []byte) int

// bytewise is the name of RocksDB's usual comparator.
const bytewise = "leveldb.BytewiseComparator"

// A Checkpoint is one that has been found whole. Any number of iterators may run over it at the same time.
type Checkpoint struct {
	root     *os.Root
	families map[string]*family
	orders   map[string]Order
}

// Open reads the checkpoint in dir. Orders are the comparators by name that its column families need besides
// the bytewise one.
func Open(dir string, orders map[string]Order) (*Checkpoint, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	c := &Checkpoint{root: root, families: map[string]*family{}, orders: map[string]Order{bytewise: bytes.Compare}}
	maps.Copy(c.orders, orders)
	if err := c.load(); err != nil {
		root.Close()
		return nil, fmt.Errorf("RocksDB checkpoint %s: %w", dir, err)
	}
	return c, nil
}

// Close lets go of the folder. Iterators must have been closed.
func (c *Checkpoint) Close() error { return c.root.Close() }

// Families returns the names of the column families in order.
func (c *Checkpoint) Families() []string { return slices.Sorted(maps.Keys(c.families)) }

func (c *Checkpoint) load() error {
	current, err := c.root.ReadFile("CURRENT")
	if err != nil {
		return missing(err)
	}
	name := strings.TrimSuffix(string(current), "\n")
	if digits, ok := strings.CutPrefix(name, "MANIFEST-"); !ok || strings.Trim(digits, "0123456789") != "" || digits == "" {
		return damaged("CURRENT names %.40q and no MANIFEST", name)
	}
	manifest, err := c.root.Open(name)
	if err != nil {
		return missing(err)
	}
	defer manifest.Close()
	byID, err := readManifest(manifest)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	oldest, live := ^uint64(0), map[string]bool{}
	for _, f := range byID {
		if c.families[f.name] != nil {
			return damaged("%s: two column families %.40q", name, f.name)
		}
		c.families[f.name] = f
		oldest = min(oldest, f.logNumber)
	}
	for _, family := range c.Families() {
		f := c.families[family]
		for _, number := range slices.Sorted(maps.Keys(f.files)) {
			table := f.files[number]
			if table.layout, err = readLayout(c.root, table, f.comparator); err != nil {
				return fmt.Errorf("%s: %w", table.name(), err)
			}
			live[table.name()] = true
		}
	}
	if err := c.refuseStrays(live); err != nil {
		return err
	}
	return c.refuseLogs(oldest)
}

// refuseStrays returns an error when there are tables that the MANIFEST does not name: a MANIFEST that was cut off
// behind a record looks whole, and the tables are its loss.
func (c *Checkpoint) refuseStrays(live map[string]bool) error {
	names, err := fs.Glob(c.root.FS(), "*.sst")
	if err != nil {
		return err
	}
	for _, name := range names {
		if !live[name] {
			return damaged("%s is there, and the MANIFEST does not name it", name)
		}
	}
	return nil
}

// Verify reads every block of every table and returns how many bytes they become.
func (c *Checkpoint) Verify() (size int64, err error) {
	for _, name := range c.Families() {
		for _, live := range c.families[name].files {
			n, err := verify(c.root, live)
			if err != nil {
				return size, fmt.Errorf("%s: %w", live.name(), err)
			}
			size += n
		}
	}
	return size, nil
}

// refuseLogs returns an error when a write-ahead log holds writes that no table has.
func (c *Checkpoint) refuseLogs(oldest uint64) error {
	names, err := fs.Glob(c.root.FS(), "*.log")
	if err != nil {
		return err
	}
	for _, name := range names {
		number, err := strconv.ParseUint(strings.TrimSuffix(name, ".log"), 10, 64)
		if err != nil || number < oldest {
			continue
		}
		if err := c.refuseLog(name); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

func (c *Checkpoint) refuseLog(name string) error {
	log, err := c.root.Open(name)
	if err != nil {
		return missing(err)
	}
	defer log.Close()
	return readLog(log, func(batch []byte) error {
		if len(batch) < 12 {
			return damaged("a batch of %d bytes", len(batch))
		}
		if u32(batch[8:]) != 0 {
			return unsupported("writes that are in the write-ahead log only: checkpoint with its tables flushed")
		}
		return nil
	})
}

// missing makes a file that is not there a fault of the checkpoint.
func missing(err error) error {
	if pathError, ok := errors.AsType[*fs.PathError](err); ok && errors.Is(err, fs.ErrNotExist) {
		return damaged("%s is missing", filepath.Base(pathError.Path))
	}
	return err
}
