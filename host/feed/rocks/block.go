package rocks

import "io"

// window is how much of a table is read at a time.
const window = 64 << 10

// blocks reads the blocks of one table.
type blocks struct {
	file     io.ReaderAt
	size     uint64
	checksum checksum
	inflater *inflater
	ahead    []byte // read for blocks to come, from the offset at
	at       uint64
}

// read reads a block into into, which it makes larger where needed. Ahead says that the next block will be read
// next.
func (b *blocks) read(h handle, into []byte, ahead bool) ([]byte, error) {
	if h.size > maxBlock || h.offset > b.size || h.size+blockTrailer > b.size-h.offset {
		return nil, damaged("a block of %d bytes at %d, in a file of %d", h.size, h.offset, b.size)
	}
	raw, err := b.raw(h.offset, h.size+blockTrailer, ahead)
	if err != nil {
		return nil, err
	}
	if b.checksum(raw[:h.size+1]) != u32(raw[h.size+1:]) {
		return nil, damaged("the checksum of the block at %d is wrong", h.offset)
	}
	return b.inflater.inflate(raw[h.size], raw[:h.size], into)
}

func (b *blocks) raw(offset, size uint64, ahead bool) ([]byte, error) {
	if offset < b.at || offset+size > b.at+uint64(len(b.ahead)) {
		n := size
		if ahead {
			n = min(max(n, window), b.size-offset)
		}
		b.ahead = room(b.ahead, int(n))[:n]
		b.at = offset
		if _, err := b.file.ReadAt(b.ahead, int64(offset)); err != nil {
			return nil, err
		}
	}
	from := offset - b.at
	return b.ahead[from : from+size], nil
}

// each gives every entry of a block to take, which must not keep it.
func (b *blocks) each(h handle, take func(key, value []byte) error) error {
	block, err := b.read(h, nil, false)
	if err != nil {
		return err
	}
	var e entries
	if err := e.reset(block); err != nil {
		return err
	}
	for {
		ok, err := e.next()
		if err != nil || !ok {
			return err
		}
		if err := take(e.key, e.value); err != nil {
			return err
		}
	}
}

// entries are those of a block, one after the other.
type entries struct {
	rest       []byte
	key, value []byte // of the current one, till the next
}

// reset begins at the first entry of block. What is behind the entries serves binary search and is left out.
func (e *entries) reset(block []byte) error {
	const hashed = 1 << 31
	if len(block) < 4 {
		return damaged("a block of %d bytes", len(block))
	}
	end := uint64(len(block) - 4)
	restarts := uint64(u32(block[end:]))
	if restarts&hashed != 0 { // a hash table of bytes, and its size as 16 bits
		restarts &^= hashed
		if end < 2 {
			return damaged("a block of %d bytes", len(block))
		}
		end -= 2
		buckets := uint64(block[end]) | uint64(block[end+1])<<8
		if buckets > end {
			return damaged("a block's hash table is larger than the block")
		}
		end -= buckets
	}
	if 4*restarts > end {
		return damaged("a block has %d restarts in %d bytes", restarts, len(block))
	}
	e.rest = block[:end-4*restarts]
	e.key, e.value = e.key[:0], nil
	return nil
}

// next goes to the next entry; it is false behind the last one.
func (e *entries) next() (bool, error) {
	if len(e.rest) == 0 {
		return false, nil
	}
	shared, own, size, rest := uint64(0), uint64(0), uint64(0), e.rest
	if len(rest) >= 3 && rest[0]|rest[1]|rest[2] < 0x80 { // as nearly all are
		shared, own, size, rest = uint64(rest[0]), uint64(rest[1]), uint64(rest[2]), rest[3:]
	} else {
		d := decoder{rest: rest}
		shared, own, size = d.uint(), d.uint(), d.uint()
		if d.err != nil {
			return false, d.err
		}
		rest = d.rest
	}
	left := uint64(len(rest))
	if shared > uint64(len(e.key)) || own > left || size > left-own {
		return false, damaged("an entry is longer than its block")
	}
	e.key = append(e.key[:shared], rest[:own]...)
	e.value = rest[own : own+size : own+size]
	e.rest = rest[own+size:]
	return true, nil
}
