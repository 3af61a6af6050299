package rocks

import (
	"bytes"
	"encoding/binary"
	"io"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// maxBlock bounds a block, and with it a value: a server takes no command above 256 MiB.
const maxBlock = 257 << 20

// Kinds of compression, by RocksDB's number.
const (
	compressedNot    = 0
	compressedSnappy = 1
	compressedZlib   = 2
	compressedLZ4    = 4
	compressedLZ4HC  = 5
	compressedZstd   = 7
)

// ratios is how many bytes one byte of each kind can become at most: who claims more gets no memory.
var ratios = map[byte]int{compressedSnappy: 32, compressedZlib: 1032, compressedLZ4: 255, compressedLZ4HC: 255, compressedZstd: 1 << 16}

var compressionNames = map[byte]string{3: "bzip2", 6: "xpress", 0x40: "an early zstd"}

// inflater decompresses blocks. It serves one goroutine.
type inflater struct {
	flate io.ReadCloser
	zstd  *zstd.Decoder
}

func (f *inflater) close() {
	if f.zstd != nil {
		f.zstd.Close()
	}
}

// inflate decompresses block into into, which it makes larger where needed.
func (f *inflater) inflate(kind byte, block, into []byte) ([]byte, error) {
	ratio, known := ratios[kind]
	switch {
	case kind == compressedNot:
		return append(room(into, len(block)), block...), nil
	case !known && compressionNames[kind] != "":
		return nil, unsupported("blocks compressed with %s", compressionNames[kind])
	case !known:
		return nil, unsupported("blocks of compression %d", kind)
	}
	size, n := uint64(0), 0
	if kind == compressedSnappy {
		decoded, err := snappy.DecodedLen(block)
		if err != nil {
			return nil, damaged("a block's snappy: %v", err)
		}
		size = uint64(decoded)
	} else if size, n = binary.Uvarint(block); n <= 0 {
		return nil, damaged("a block does not say its size")
	}
	block = block[n:]
	if size == 0 || size > maxBlock || size > uint64(len(block)+16)*uint64(ratio) {
		return nil, damaged("a block of %d bytes says it becomes %d", len(block), size)
	}
	into = room(into, int(size))
	got, err := f.decompress(kind, block, into[:0:size])
	switch {
	case err != nil:
		return nil, damaged("a block's compression: %v", err)
	case uint64(len(got)) != size:
		return nil, damaged("a block becomes %d bytes and says %d", len(got), size)
	}
	return got, nil
}

// decompress fills into up to its capacity.
func (f *inflater) decompress(kind byte, block, into []byte) (got []byte, err error) {
	switch kind {
	case compressedSnappy:
		return snappy.Decode(into[:cap(into)], block)
	case compressedLZ4, compressedLZ4HC:
		n, err := lz4.UncompressBlock(block, into[:cap(into)])
		return into[:max(n, 0)], err
	case compressedZstd:
		if f.zstd == nil {
			if f.zstd, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecodeAllCapLimit(true)); err != nil {
				return nil, err
			}
		}
		return f.zstd.DecodeAll(block, into)
	}
	from := bytes.NewReader(block) // deflate, without zlib's header
	if f.flate == nil {
		f.flate = flate.NewReader(from)
	} else if err := f.flate.(flate.Resetter).Reset(from, nil); err != nil {
		return nil, err
	}
	n, err := io.ReadFull(f.flate, into[:cap(into)])
	return into[:n], err
}

// room returns into, emptied, with space for n bytes. It lets memory go that one large value needed.
func room(into []byte, n int) []byte {
	if cap(into) < n || cap(into) > 1<<20 && n < cap(into)/8 {
		return make([]byte, 0, n)
	}
	return into[:0]
}
