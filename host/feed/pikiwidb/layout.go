package pikiwidb

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"strings"

	"deepoj/host/feed/rocks"
)

// Type is a key's data type, by the number that the storage has for it.
type Type uint8

// The types.
const (
	String Type = iota
	Hash
	Set
	List
	ZSet
	Stream
)

// types is how many there are.
const types = 6

var typeNames = [types]string{"string", "hash", "set", "list", "zset", "stream"}

func (t Type) String() string { return typeNames[t] }

// families are the column families that hold the elements of each type.
var families = [types]string{Hash: "hash_data_cf", Set: "set_data_cf", List: "list_data_cf", ZSet: "zset_data_cf", Stream: "stream_data_cf"}

// keysFamily holds every key, and the strings whole.
const keysFamily = "default"

// Types is a set of types.
type Types uint8

// AllTypes are the six.
const AllTypes Types = 1<<types - 1

// Has reports whether t is among s.
func (s Types) Has(t Type) bool { return s>>t&1 == 1 }

// ParseTypes reads names that commas part.
func ParseTypes(names string) (set Types, err error) {
	for name := range strings.SplitSeq(names, ",") {
		known := false
		for t, typeName := range typeNames {
			if strings.TrimSpace(name) == typeName {
				set |= 1 << t
				known = true
			}
		}
		if !known {
			return 0, fmt.Errorf("%.40q is no data type: name some of %s", name, strings.Join(typeNames[:], ", "))
		}
	}
	return set, nil
}

const (
	zeros       = 8  // before each key
	reserve     = 16 // behind each key, and behind each value
	version     = 8
	valueSuffix = reserve + 8     // and ctime
	metaSuffix  = reserve + 8 + 8 // and etime
)

func damaged(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{rocks.ErrDamaged}, args...)...)
}

// escape encodes a key, or what keys begin with, as it stands in the storage before its end.
func escape(key string) []byte {
	return append(make([]byte, zeros), strings.ReplaceAll(key, "\x00", "\x00\x01")...)
}

// splitKey returns the part of a stored key up to the 00 00 that ends it, and the key.
func splitKey(stored []byte) (prefix, key []byte, err error) {
	end := keyEnd(stored)
	if end < 0 {
		return nil, nil, damaged("a key of %d bytes has no end", len(stored))
	}
	prefix = stored[:end]
	escaped := stored[zeros : end-2]
	if bytes.IndexByte(escaped, 0) < 0 {
		return prefix, escaped, nil
	}
	return prefix, bytes.ReplaceAll(escaped, []byte{0, 1}, []byte{0}), nil
}

// keyEnd returns the index behind the 00 00, or -1.
func keyEnd(stored []byte) int {
	if len(stored) < zeros {
		return -1
	}
	i := bytes.Index(stored[zeros:], []byte{0, 0})
	if i < 0 {
		return -1
	}
	return zeros + i + 2
}

// listComparator orders the elements of lists by key, version and index.
const listComparator = "floyd.ListsDataKeyComparator"

func compareListKeys(a, b []byte) int {
	i, j := keyEnd(a), keyEnd(b)
	if i < 0 || j < 0 { // what keys begin with, or damage
		return bytes.Compare(a, b)
	}
	if c := bytes.Compare(a[:i], b[:j]); c != 0 {
		return c
	}
	a, b = a[i:], b[j:]
	for range 2 {
		if len(a) < 8 || len(b) < 8 {
			return cmp.Compare(len(a), len(b))
		}
		if c := cmp.Compare(binary.LittleEndian.Uint64(a), binary.LittleEndian.Uint64(b)); c != 0 {
			return c
		}
		a, b = a[8:], b[8:]
	}
	return 0
}

// meta is what the storage says of a key: for a string all of it.
type meta struct {
	kind    Type
	count   uint64
	version uint64
	expires int64  // in ms since 1970, or 0
	value   []byte // of a string
}

const (
	stringSize = 1 + metaSuffix
	setSize    = 1 + 4 + version + metaSuffix
	listSize   = 1 + 8 + version + 2*16 + metaSuffix
	streamSize = 1 + 4 + 8 + 3*16 + 4 + version
)

var metaSizes = [types]int{String: stringSize, Hash: setSize, Set: setSize, List: listSize, ZSet: setSize, Stream: streamSize}

func parseMeta(v []byte) (m meta, err error) {
	if len(v) == 0 {
		return m, damaged("a key without a type")
	}
	m.kind = Type(v[0])
	if m.kind >= types {
		return m, fmt.Errorf("%w: keys of type %d", rocks.ErrUnsupported, v[0])
	}
	if want := metaSizes[m.kind]; len(v) < want || m.kind != String && len(v) != want {
		return m, damaged("a %s of %d bytes", m.kind, len(v))
	}
	number := binary.LittleEndian
	switch m.kind {
	case String:
		m.count, m.value = 1, v[1:len(v)-metaSuffix]
	case Stream:
		m.count = uint64(max(0, int32(number.Uint32(v[streamSize-version-4:]))))
		m.version = number.Uint64(v[streamSize-version:])
		return m, nil
	case List:
		m.count, m.version = number.Uint64(v[1:]), number.Uint64(v[9:])
	case Hash, Set, ZSet:
		m.count, m.version = uint64(number.Uint32(v[1:])), number.Uint64(v[5:])
	}
	m.expires, err = milliseconds(number.Uint64(v[len(v)-8:]))
	return m, err
}

// milliseconds reads a time of the storage.
func milliseconds(stored uint64) (int64, error) {
	const inMilliseconds = 1 << 63
	ms := stored &^ inMilliseconds
	if ms == stored {
		if ms > math.MaxInt64/1000 {
			return 0, damaged("the time %d", stored)
		}
		ms *= 1000
	}
	return int64(ms), nil
}

// appendScore writes a score as a server does: whole numbers without an exponent, others as short as they stay exact.
func appendScore(b []byte, score float64) []byte {
	switch {
	case math.IsInf(score, 1):
		return append(b, "inf"...)
	case math.IsInf(score, -1):
		return append(b, "-inf"...)
	case score == math.Trunc(score) && math.Abs(score) < 1e17:
		return strconv.AppendFloat(b, score, 'f', 0, 64)
	}
	return strconv.AppendFloat(b, score, 'g', -1, 64)
}
