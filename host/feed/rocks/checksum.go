package rocks

import (
	"hash/crc32"
	"math/bits"

	"github.com/cespare/xxhash/v2"
	"github.com/zeebo/xxh3"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// masked is how RocksDB stores a CRC, so that the CRC of data that holds CRCs stays a good one.
func masked(c uint32) uint32 { return bits.RotateLeft32(c, 17) + 0xa282ead8 }

// A checksum sums up a block and the byte after it, which names its compression.
type checksum func(block []byte) uint32

// checksums are RocksDB's, by their number.
var checksums = map[byte]checksum{
	1: func(b []byte) uint32 { return masked(crc32.Checksum(b, castagnoli)) },
	2: xxh32,
	3: func(b []byte) uint32 { return uint32(xxhash.Sum64(b)) },
	4: func(b []byte) uint32 {
		last := len(b) - 1
		return uint32(xxh3.Hash(b[:last])) ^ uint32(b[last])*0x6b9083d9
	},
}

const (
	prime1 uint32 = 2654435761
	prime2 uint32 = 2246822519
	prime3 uint32 = 3266489917
	prime4 uint32 = 668265263
	prime5 uint32 = 374761393
)

// xxh32 is xxHash of 32 bits with seed 0.
func xxh32(b []byte) uint32 {
	sum, size := prime5, uint32(len(b))
	if len(b) >= 16 {
		first := prime1
		lanes := [4]uint32{first + prime2, prime2, 0, -first}
		for ; len(b) >= 16; b = b[16:] {
			for i := range lanes {
				lanes[i] = bits.RotateLeft32(lanes[i]+u32(b[4*i:])*prime2, 13) * prime1
			}
		}
		sum = bits.RotateLeft32(lanes[0], 1) + bits.RotateLeft32(lanes[1], 7) +
			bits.RotateLeft32(lanes[2], 12) + bits.RotateLeft32(lanes[3], 18)
	}
	sum += size
	for ; len(b) >= 4; b = b[4:] {
		sum = bits.RotateLeft32(sum+u32(b)*prime3, 17) * prime4
	}
	for _, c := range b {
		sum = bits.RotateLeft32(sum+uint32(c)*prime5, 11) * prime1
	}
	sum = (sum ^ sum>>15) * prime2
	sum = (sum ^ sum>>13) * prime3
	return sum ^ sum>>16
}
