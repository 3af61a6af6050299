package rocks

import (
	"encoding/binary"
	"fmt"
	"io"
)

// A family is a column family: its tables, and how its keys are ordered.
type family struct {
	name       string
	comparator string
	logNumber  uint64 // logs below it hold nothing of this family that its tables lack
	files      map[uint64]*file
}

// A file is a live table.
type file struct {
	number            uint64
	size              uint64
	level             uint64
	smallest, largest []byte // internal keys
	layout            layout
}

func (f *file) name() string { return fmt.Sprintf("%06d.sst", f.number) }

// edit is one record of the MANIFEST: a change to one column family.
type edit struct {
	family     uint64
	comparator string
	logNumber  uint64
	added      bool
	dropped    bool
	name       string
	deleted    []uint64
	files      []*file
	remaining  uint64 // edits that follow in its atomic group
}

// Tags of version edits.
const (
	tagComparator     = 1
	tagLogNumber      = 2
	tagNextFile       = 3
	tagLastSequence   = 4
	tagCompactCursor  = 5
	tagDeletedFile    = 6
	tagNewFile        = 7
	tagPrevLogNumber  = 9
	tagMinLogToKeep   = 10
	tagNewFile2       = 100
	tagNewFile3       = 102
	tagNewFile4       = 103
	tagFamily         = 200
	tagFamilyAdd      = 201
	tagFamilyDrop     = 202
	tagMaxFamily      = 203
	tagInAtomicGroup  = 300
	tagBlobFile       = 400
	tagBlobGarbage    = 401
	tagMayBeIgnored   = 1 << 13
	fileTagEnd        = 1
	fileTagOldestBlob = 4
	fileTagNoIgnoring = 1 << 6
)

// readManifest returns the column families, by id, that the edits of a MANIFEST come to.
func readManifest(r io.Reader) (map[uint64]*family, error) {
	families := map[uint64]*family{0: {name: "default", comparator: bytewise, files: map[uint64]*file{}}}
	group := uint64(0)
	edits := 0
	err := readLog(r, func(record []byte) error {
		e, err := readEdit(record)
		if err != nil {
			return err
		}
		edits++
		if group > 0 && e.remaining != group-1 {
			return damaged("an atomic group of edits is incomplete")
		}
		group = e.remaining
		return e.apply(families)
	})
	switch {
	case err != nil:
		return nil, err
	case edits == 0:
		return nil, damaged("it is empty")
	case group > 0:
		return nil, damaged("an atomic group of edits is incomplete")
	}
	return families, nil
}

func (e *edit) apply(families map[uint64]*family) error {
	f := families[e.family]
	switch {
	case e.added && f != nil && (e.family != 0 || e.name != "default"):
		return damaged("column family %d is added twice", e.family)
	case e.added && f == nil:
		f = &family{name: e.name, comparator: bytewise, files: map[uint64]*file{}}
		families[e.family] = f
	case f == nil:
		return damaged("an edit of the column family %d, which is none", e.family)
	}
	if e.dropped {
		delete(families, e.family)
		return nil
	}
	if e.comparator != "" {
		f.comparator = e.comparator
	}
	f.logNumber = max(f.logNumber, e.logNumber)
	for _, number := range e.deleted {
		delete(f.files, number)
	}
	for _, live := range e.files {
		f.files[live.number] = live
	}
	return nil
}

func readEdit(record []byte) (edit, error) {
	var e edit
	d := decoder{rest: record}
	for len(d.rest) > 0 && d.err == nil {
		switch tag := d.uint(); tag {
		case tagComparator:
			e.comparator = string(d.bytes())
		case tagLogNumber:
			e.logNumber = d.uint()
		case tagNextFile, tagLastSequence, tagPrevLogNumber, tagMinLogToKeep, tagMaxFamily:
			d.uint()
		case tagCompactCursor:
			d.uint()
			d.bytes()
		case tagDeletedFile:
			d.uint() // its level
			e.deleted = append(e.deleted, d.uint())
		case tagNewFile, tagNewFile2, tagNewFile3, tagNewFile4:
			f, err := readFile(&d, tag)
			if err != nil {
				return e, err
			}
			e.files = append(e.files, f)
		case tagFamily:
			e.family = d.uint()
		case tagFamilyAdd:
			e.name, e.added = string(d.bytes()), true
		case tagFamilyDrop:
			e.dropped = true
		case tagInAtomicGroup:
			e.remaining = d.uint()
		case tagBlobFile, tagBlobGarbage:
			return e, unsupported("blob files")
		default:
			if tag&tagMayBeIgnored == 0 {
				return e, unsupported("version edits with tag %d", tag)
			}
			d.bytes()
		}
	}
	return e, d.err
}

func readFile(d *decoder, tag uint64) (*file, error) {
	f := &file{level: d.uint(), number: d.uint()}
	if tag == tagNewFile3 {
		if d.uint() != 0 {
			return nil, unsupported("tables outside of the folder")
		}
	}
	f.size = d.uint()
	f.smallest, f.largest = d.key(), d.key()
	if tag != tagNewFile {
		d.uint() // smallest and largest sequence number
		d.uint()
	}
	for tag == tagNewFile4 && d.err == nil {
		field := d.uint()
		if field == fileTagEnd {
			break
		}
		d.bytes()
		switch {
		case field == fileTagOldestBlob:
			return nil, unsupported("blob files")
		case field&fileTagNoIgnoring != 0:
			return nil, unsupported("tables outside of the folder, or with field %d", field)
		}
	}
	if f.level > 100 {
		return nil, damaged("a table on level %d", f.level)
	}
	return f, d.err
}

// decoder takes varints and strings from the front of rest. After an error it returns zeros.
type decoder struct {
	rest []byte
	err  error
}

func (d *decoder) fail(err error) {
	if d.err == nil {
		d.err = err
	}
	d.rest = nil
}

func (d *decoder) uint() uint64 {
	v, n := binary.Uvarint(d.rest)
	if n <= 0 {
		d.fail(damaged("a number is cut off"))
		return 0
	}
	d.rest = d.rest[n:]
	return v
}

func (d *decoder) take(n uint64) []byte {
	if n > uint64(len(d.rest)) {
		d.fail(damaged("%d bytes are said to follow where %d are", n, len(d.rest)))
		return nil
	}
	b := d.rest[:n:n]
	d.rest = d.rest[n:]
	return b
}

func (d *decoder) bytes() []byte { return d.take(d.uint()) }

// key takes an internal key, and copies it: records are read into one buffer.
func (d *decoder) key() []byte {
	b := d.bytes()
	if d.err == nil && len(b) < trailer {
		d.fail(damaged("a key of %d bytes", len(b)))
	}
	return append([]byte(nil), b...)
}
