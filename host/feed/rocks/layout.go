package rocks

import (
	"encoding/binary"
	"io"
	"os"
)

// A handle says where a block is. A byte for its compression and four of checksum follow it.
type handle struct{ offset, size uint64 }

const blockTrailer = 5

// handle takes one from the front.
func (d *decoder) handle() handle { return handle{d.uint(), d.uint()} }

// layout is what a table's footer and properties say about the table.
type layout struct {
	checksum  checksum
	index     handle
	twoLevels bool // the index is one of indexes
	firstKeys bool // the index tells each block's first key, too
	userKeys  bool // the index has keys without trailer
	deltas    bool // the index tells only how a block's size differs from the last one's
}

const (
	footerSize  = 53
	minVersion  = 2
	maxVersion  = 5
	magic       = 0x88e241b785f4cff7
	magicBefore = 0xdb4775248b80fb57 // of format version 0
)

var otherMagic = map[uint64]string{
	0x8242229663bf9564: "plain tables", 0x4f3418eb7a8f13b8: "plain tables", 0x926789d0c5f17873: "cuckoo tables",
}

const (
	indexTwoLevels = 2
	indexFirstKeys = 3
)

func readLayout(root *os.Root, f *file, comparator string) (layout, error) {
	at, err := root.Open(f.name())
	if err != nil {
		return layout{}, missing(err)
	}
	defer at.Close()
	stat, err := at.Stat()
	switch {
	case err != nil:
		return layout{}, err
	case uint64(stat.Size()) != f.size:
		return layout{}, damaged("it has %d bytes, and by the MANIFEST %d", stat.Size(), f.size)
	case f.size < footerSize:
		return layout{}, damaged("%d bytes are too few for a table", f.size)
	}
	l, meta, err := readFooter(at, stat.Size())
	if err != nil {
		return layout{}, err
	}
	b := blocks{file: at, size: f.size, checksum: l.checksum, inflater: &inflater{}}
	defer b.inflater.close()
	return l, l.readMeta(&b, meta, comparator)
}

// readFooter returns the layout as far as the footer tells it, and where the index of meta blocks is.
func readFooter(at io.ReaderAt, size int64) (layout, handle, error) {
	var footer [footerSize]byte
	if _, err := at.ReadAt(footer[:], size-footerSize); err != nil {
		return layout{}, handle{}, err
	}
	switch found := u64(footer[45:]); {
	case found == magicBefore:
		return layout{}, handle{}, unsupported("tables of format version 0")
	case otherMagic[found] != "":
		return layout{}, handle{}, unsupported("%s", otherMagic[found])
	case found != magic:
		return layout{}, handle{}, damaged("it does not end as a table does")
	}
	if version := u32(footer[41:]); version < minVersion || version > maxVersion {
		return layout{}, handle{}, unsupported("tables of format version %d", version)
	}
	l := layout{checksum: checksums[footer[0]]}
	if l.checksum == nil {
		return layout{}, handle{}, unsupported("blocks with checksums of type %d", footer[0])
	}
	d := decoder{rest: footer[1:41]}
	meta := d.handle()
	l.index = d.handle()
	return l, meta, d.err
}

func (l *layout) readMeta(b *blocks, meta handle, comparator string) error {
	properties := handle{}
	err := b.each(meta, func(key, value []byte) error {
		d := decoder{rest: value}
		switch string(key) {
		case "rocksdb.range_del":
			return unsupported("range deletions")
		case "rocksdb.compression_dict":
			return unsupported("compression dictionaries")
		case "rocksdb.properties":
			properties = d.handle()
		}
		return d.err
	})
	if err != nil {
		return err
	}
	if properties.size == 0 {
		return damaged("it has no properties")
	}
	return b.each(properties, func(key, value []byte) error { return l.property(string(key), value, comparator) })
}

func (l *layout) property(key string, value []byte, comparator string) error {
	number, _ := binary.Uvarint(value)
	switch key {
	case "rocksdb.block.based.table.index.type":
		if len(value) != 4 {
			return damaged("an index type of %d bytes", len(value))
		}
		kind := u32(value)
		if kind > indexFirstKeys {
			return unsupported("indexes of type %d", kind)
		}
		l.twoLevels, l.firstKeys = kind == indexTwoLevels, kind == indexFirstKeys
	case "rocksdb.index.key.is.user.key":
		l.userKeys = number != 0
	case "rocksdb.index.value.is.delta.encoded":
		l.deltas = number != 0
	case "rocksdb.external_sst_file.version":
		return unsupported("tables ingested from outside")
	case "rocksdb.comparator":
		if string(value) != comparator {
			return damaged("its comparator is %.60q, and by the MANIFEST %.60q", value, comparator)
		}
	}
	return nil
}
