package wire

import "google.golang.org/protobuf/encoding/protowire"

// Copying is what a message of the copy of a dump is about.
type Copying uint32

// The two.
const (
	List Copying = 1 // which files there are
	Part Copying = 2 // a part of one
)

// ChunkBytes is how much of a file is asked for at once.
const ChunkBytes = 4 << 20

// CopyRequest asks for a dump's list of files, or for a part of one.
type CopyRequest struct {
	Kind   Copying
	Reader int32 // which of the replica's readers asks
	DB     string
	File   string // and the rest: of Part only
	Count  uint64
	Offset uint64
}

// CopyAnswer answers it.
type CopyAnswer struct {
	Kind   Copying
	Reader int32
	UUID   string // of the dump
	DB     string
	Code   Code     // OK or Error, such as while a dump is being made
	Files  []string // of List
	Chunk  *Chunk   // of Part; its data is valid as long as the bytes that were decoded
}

// Chunk is a part of a file.
type Chunk struct {
	End    bool // of the file
	Count  uint64
	Offset uint64
	Data   []byte
	Sum    string // masters leave it empty
	File   string
}

// Append appends the message.
func (r *CopyRequest) Append(dst []byte) []byte {
	dst = appendInt32(appendUint(dst, 1, uint64(r.Kind)), 2, r.Reader)
	dst = appendUint(appendData(dst, 3, r.DB), 4, 0)
	if r.Kind == Part {
		dst = appendData(dst, 5, appendUint(appendUint(appendData(nil, 1, r.File), 2, r.Count), 3, r.Offset))
	}
	return dst
}

// Parse decodes a request.
func (r *CopyRequest) Parse(b []byte) error {
	*r = CopyRequest{}
	p := parser{what: "a request of the copy", rest: b}
	for p.next() {
		switch p.number {
		case 1:
			r.Kind = Copying(p.enum(uint64(Part)))
		case 2:
			r.Reader = p.int32()
		case 3:
			r.DB = p.text()
		case 4:
			p.uint32()
		case 5:
			p.take(r.file(p.message("a request for a part")))
		}
	}
	needed := []int{1, 2, 3, 4}
	if r.Kind == Part {
		needed = append(needed, 5)
	}
	return p.need(needed...)
}

func (r *CopyRequest) file(p parser) error {
	for p.next() {
		switch p.number {
		case 1:
			r.File = p.text()
		case 2:
			r.Count = p.uint64()
		case 3:
			r.Offset = p.uint64()
		}
	}
	return p.need(1, 2, 3)
}

// Append appends the message.
func (a *CopyAnswer) Append(dst []byte) []byte {
	dst = appendInt32(appendUint(dst, 1, uint64(a.Kind)), 2, a.Reader)
	dst = appendUint(appendData(appendData(dst, 3, a.UUID), 4, a.DB), 5, 0)
	dst = appendUint(dst, 6, uint64(a.Code))
	if a.Files != nil {
		var b []byte
		for _, f := range a.Files {
			b = appendData(b, 1, f)
		}
		dst = appendData(dst, 7, b)
	}
	if c := a.Chunk; c != nil {
		b := appendUint(nil, 1, protowire.EncodeBool(c.End))
		b = appendData(appendUint(appendUint(b, 2, c.Count), 3, c.Offset), 4, c.Data)
		dst = appendData(dst, 8, appendData(appendData(b, 5, c.Sum), 6, c.File))
	}
	return dst
}

// Parse decodes an answer.
func (a *CopyAnswer) Parse(b []byte) error {
	*a = CopyAnswer{}
	p := parser{what: "an answer of the copy", rest: b}
	for p.next() {
		var err error
		switch p.number {
		case 1:
			a.Kind = Copying(p.enum(uint64(Part)))
		case 2:
			a.Reader = p.int32()
		case 3:
			a.UUID = p.text()
		case 4:
			a.DB = p.text()
		case 5:
			p.uint32()
		case 6:
			a.Code = Code(p.enum(uint64(Error)))
		case 7:
			a.Files, err = parseFiles(p.message("a list of files"))
		case 8:
			a.Chunk, err = parseChunk(p.message("a part of a file"))
		}
		p.take(err)
	}
	return p.need(1, 2, 3, 4, 5, 6)
}

func parseFiles(p parser) ([]string, error) {
	files := []string{}
	for p.next() {
		if p.number == 1 && p.is(protowire.BytesType) {
			files = append(files, string(p.bytes))
		}
	}
	return files, p.need()
}

func parseChunk(p parser) (*Chunk, error) {
	c := &Chunk{}
	for p.next() {
		switch p.number {
		case 1:
			c.End = p.int32() != 0
		case 2:
			c.Count = p.uint64()
		case 3:
			c.Offset = p.uint64()
		case 4:
			c.Data = p.data()
		case 5:
			c.Sum = p.text()
		case 6:
			c.File = p.text()
		}
	}
	return c, p.need(1, 2, 3, 4, 5, 6)
}
