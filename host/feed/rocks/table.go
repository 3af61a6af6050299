package rocks

import "os"

// index goes through the handles of an index block.
type index struct {
	layout *layout
	block  []byte
	rest   []byte
	key    []byte // at or above every key of the block at handle
	handle handle
}

func (x *index) reset(b *blocks, h handle) error {
	block, err := b.read(h, x.block, false)
	if err != nil {
		return err
	}
	x.block = block
	var e entries
	if err := e.reset(block); err != nil {
		return err
	}
	x.rest, x.key, x.handle = e.rest, x.key[:0], handle{}
	return nil
}

func (x *index) next() (bool, error) {
	if len(x.rest) == 0 {
		return false, nil
	}
	d := decoder{rest: x.rest}
	shared, own := d.uint(), d.uint()
	if !x.layout.deltas {
		d.uint() // the value's length, which follows from the value
	}
	if shared > uint64(len(x.key)) {
		return false, damaged("an entry of an index shares %d bytes with a key of %d", shared, len(x.key))
	}
	x.key = append(x.key[:shared], d.take(own)...)
	if x.layout.deltas && shared > 0 {
		x.handle.offset += x.handle.size + blockTrailer
		x.handle.size += unzigzag(d.uint())
	} else {
		x.handle = d.handle()
	}
	if x.layout.firstKeys {
		d.bytes()
	}
	x.rest = d.rest
	return d.err == nil, d.err
}

// unzigzag decodes a signed difference; adding it wraps around as it should.
func unzigzag(v uint64) uint64 { return v>>1 ^ -(v & 1) }

// userKey is the current key without its trailer.
func (x *index) userKey() ([]byte, error) {
	if x.layout.userKeys {
		return x.key, nil
	}
	if len(x.key) < trailer {
		return nil, damaged("a key of %d bytes in an index", len(x.key))
	}
	return x.key[:len(x.key)-trailer], nil
}

// table goes through the entries of one table, from a key on.
type table struct {
	file       *os.File
	data       blocks // its window runs ahead of the index's
	meta       blocks
	outer      index // of indexes, when there are two levels
	inner      index
	twoLevels  bool
	block      []byte
	entries    entries
	from       []byte
	order      Order
	positioned bool // at or behind from
}

// open begins at the first entry of f that is at or above from.
func (t *table) open(root *os.Root, f *file, from []byte, order Order, inflater *inflater) error {
	at, err := root.Open(f.name())
	if err != nil {
		return missing(err)
	}
	t.file = at
	t.data = blocks{file: at, size: f.size, checksum: f.layout.checksum, inflater: inflater, ahead: t.data.ahead[:0]}
	t.meta = blocks{file: at, size: f.size, checksum: f.layout.checksum, inflater: inflater, ahead: t.meta.ahead[:0]}
	t.outer.layout, t.inner.layout = &f.layout, &f.layout
	t.twoLevels, t.positioned = f.layout.twoLevels, from == nil
	t.from, t.order = from, order
	t.entries.rest = nil
	if t.twoLevels {
		t.inner.rest = nil
		return t.outer.reset(&t.meta, f.layout.index)
	}
	return t.inner.reset(&t.meta, f.layout.index)
}

func (t *table) close() {
	if t.file != nil {
		t.file.Close()
		t.file = nil
	}
}

// next goes to the next entry; it is false behind the last one.
func (t *table) next() (bool, error) {
	for {
		ok, err := t.entries.next()
		if err != nil {
			return false, err
		}
		if !ok {
			if ok, err = t.nextBlock(); err != nil || !ok {
				return false, err
			}
			continue
		}
		if len(t.entries.key) < trailer {
			return false, damaged("a key of %d bytes", len(t.entries.key))
		}
		if t.positioned || t.order(t.entries.key[:len(t.entries.key)-trailer], t.from) >= 0 {
			t.positioned = true
			return true, nil
		}
	}
}

func (t *table) nextBlock() (bool, error) {
	for {
		ok, err := t.seek(&t.inner)
		if err != nil {
			return false, err
		}
		if ok {
			break
		}
		if !t.twoLevels {
			return false, nil
		}
		if ok, err = t.seek(&t.outer); err != nil || !ok {
			return false, err
		}
		if err := t.inner.reset(&t.meta, t.outer.handle); err != nil {
			return false, err
		}
	}
	block, err := t.data.read(t.inner.handle, t.block, true)
	if err != nil {
		return false, err
	}
	t.block = block
	return true, t.entries.reset(block)
}

// seek goes to the next handle whose block may hold a key at or above from.
func (t *table) seek(x *index) (bool, error) {
	for {
		ok, err := x.next()
		if err != nil || !ok || t.positioned {
			return ok, err
		}
		key, err := x.userKey()
		if err != nil || t.order(key, t.from) >= 0 {
			return err == nil, err
		}
	}
}

// verify reads every block of f's entries and returns how many bytes they become.
func verify(root *os.Root, f *file) (size int64, err error) {
	var t table
	inflater := &inflater{}
	defer inflater.close()
	defer t.close()
	if err := t.open(root, f, nil, nil, inflater); err != nil {
		return 0, err
	}
	for {
		ok, err := t.nextBlock()
		if err != nil || !ok {
			return size, err
		}
		size += int64(len(t.block))
	}
}
