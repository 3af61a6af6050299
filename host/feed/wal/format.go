package wal

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
)

const (
	headerBytes = 56
	checked     = 44 // bytes of the header that its checksum covers
	version     = 1
	binlogRaw   = 1
	magic       = "PWAL"
)

// appendRecord encodes r, whose payload consists of parts.
func appendRecord(dst []byte, r Record, parts [][]byte) []byte {
	start := len(dst)
	var h [headerBytes]byte
	dst = append(dst, h[:]...)
	for _, p := range parts {
		dst = append(dst, p...)
	}
	payload := dst[start+headerBytes:]
	b := dst[start : start+headerBytes]
	copy(b, magic)
	binary.LittleEndian.PutUint16(b[4:], headerBytes)
	b[6] = version
	b[7] = binlogRaw
	// flags (8) and reserved (10) are 0.
	binary.LittleEndian.PutUint32(b[12:], r.Epoch)
	binary.LittleEndian.PutUint64(b[16:], r.Seq)
	binary.LittleEndian.PutUint32(b[24:], r.Position.Filenum)
	binary.LittleEndian.PutUint64(b[28:], r.Position.Offset)
	binary.LittleEndian.PutUint32(b[36:], uint32(len(payload)))
	binary.LittleEndian.PutUint32(b[40:], crc32.Checksum(payload, castagnoli))
	binary.LittleEndian.PutUint32(b[checked:], crc32.Checksum(b[:checked], castagnoli))
	// reserved2 (48) and reserved3 (52) are 0.
	return dst
}

// header is the fixed part of a record.
type header struct {
	Record

	length   int64 // of the payload
	checksum uint32
	intact   bool // the head matches its own checksum: if something else is wrong with it, it was written so
}

// end returns how many bytes the record has.
func (h header) end() int64 { return headerBytes + h.length }

// parseHeader decodes the first bytes of a record. What is wrong with them is an empty string when nothing is.
func parseHeader(b []byte) (h header, wrong string) {
	if len(b) < headerBytes {
		return h, fmt.Sprintf("the file ends %d bytes into the head of a record", len(b))
	}
	if string(b[:4]) != magic {
		return h, "no record begins here"
	}
	if sum := binary.LittleEndian.Uint32(b[checked:]); sum != crc32.Checksum(b[:checked], castagnoli) {
		return h, "the head of the record does not match its checksum"
	}
	h.intact = true
	switch {
	case b[6] != version:
		return h, otherVersion(b[6])
	case binary.LittleEndian.Uint16(b[4:]) != headerBytes:
		return h, fmt.Sprintf("the head of the record claims %d bytes, and this version has %d", binary.LittleEndian.Uint16(b[4:]), headerBytes)
	case b[7] != binlogRaw:
		return h, fmt.Sprintf("the record is of type %d, and this version knows %d only", b[7], binlogRaw)
	case binary.LittleEndian.Uint32(b[8:]) != 0 || binary.LittleEndian.Uint64(b[48:]) != 0:
		return h, "the head of the record has bits set that mean nothing in this version"
	}
	h.Epoch = binary.LittleEndian.Uint32(b[12:])
	h.Seq = binary.LittleEndian.Uint64(b[16:])
	h.Position.Filenum = binary.LittleEndian.Uint32(b[24:])
	h.Position.Offset = binary.LittleEndian.Uint64(b[28:])
	h.length = int64(binary.LittleEndian.Uint32(b[36:]))
	h.checksum = binary.LittleEndian.Uint32(b[40:])
	if h.length > maxRecord {
		return h, fmt.Sprintf("the record claims a payload of %d bytes, and %d are allowed", h.length, maxRecord)
	}
	return h, ""
}

func otherVersion(v byte) string {
	return fmt.Sprintf("version %d of the format wrote this, and this program reads version %d: let the program that wrote it send what is left", v, version)
}
