package wire

import (
	"bytes"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"

	"deepoj/host/feed/wal"
)

// schema is the protocol as a master's own files say it: message, then label, type, number of each field.
const schema = `
Type: 1 2 3 4 5 6
StatusCode: 1 2 3
ReplyCode: 1 2 3 4
BinlogOffset: req uint32 1, req uint64 2, opt uint32 3, opt uint64 4
Node: req string 1, req int32 2
Slot: req string 1, req uint32 2
MetaAsk: req Node 1, opt string 2
TryAsk: req Node 1, req Slot 2, req BinlogOffset 3
SyncAsk: req Node 1, req string 2, req uint32 3, req BinlogOffset 4, req BinlogOffset 5, req int32 6, req bool 7
InnerRequest: req Type 1, opt MetaAsk 2, opt TryAsk 3, opt TryAsk 4, opt SyncAsk 5
DBInfo: req string 1, req int32 2, opt int32 3
MetaAnswer: req bool 1, rep DBInfo 2, req string 3, opt string 4
TryAnswer: req ReplyCode 1, req Slot 2, opt BinlogOffset 3, opt int32 4
DumpAnswer: req Slot 1, req int32 2
SyncAnswer: req Slot 1, req BinlogOffset 2, req bytes 3, req int32 4
InnerResponse: req Type 1, req StatusCode 2, opt string 3, opt MetaAnswer 4, opt DumpAnswer 5, opt TryAnswer 6, rep SyncAnswer 7
CopyType: 1 2
CopyCode: 1 2
FileRequest: req string 1, req uint64 2, req uint64 3
RsyncRequest: req CopyType 1, req int32 2, req string 3, req uint32 4, opt FileRequest 5
MetaResponse: rep string 1
FileResponse: req int32 1, req uint64 2, req uint64 3, req bytes 4, req string 5, req string 6
RsyncResponse: req CopyType 1, req int32 2, req string 3, req string 4, req uint32 5, req CopyCode 6, opt MetaResponse 7, opt FileResponse 8
`

// described makes the schema known to the library of protobuf.
var described = func() protoreflect.FileDescriptor {
	file := &descriptorpb.FileDescriptorProto{Name: new("t.proto"), Package: new("t"), Syntax: new("proto2")}
	scalars := map[string]descriptorpb.FieldDescriptorProto_Type{
		"uint32": descriptorpb.FieldDescriptorProto_TYPE_UINT32, "uint64": descriptorpb.FieldDescriptorProto_TYPE_UINT64,
		"int32": descriptorpb.FieldDescriptorProto_TYPE_INT32, "bool": descriptorpb.FieldDescriptorProto_TYPE_BOOL,
		"string": descriptorpb.FieldDescriptorProto_TYPE_STRING, "bytes": descriptorpb.FieldDescriptorProto_TYPE_BYTES,
	}
	labels := map[string]descriptorpb.FieldDescriptorProto_Label{
		"req": descriptorpb.FieldDescriptorProto_LABEL_REQUIRED, "opt": descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL,
		"rep": descriptorpb.FieldDescriptorProto_LABEL_REPEATED,
	}
	enums := map[string]bool{}
	for line := range strings.SplitSeq(strings.TrimSpace(schema), "\n") {
		name, rest, _ := strings.Cut(line, ": ")
		if !strings.Contains(rest, "req") && !strings.Contains(rest, "rep") {
			e := &descriptorpb.EnumDescriptorProto{Name: &name}
			for v := range strings.FieldsSeq(rest) {
				n, _ := strconv.Atoi(v)
				e.Value = append(e.Value, &descriptorpb.EnumValueDescriptorProto{Name: new(name + v), Number: new(int32(n))})
			}
			file.EnumType = append(file.EnumType, e)
			enums[name] = true
			continue
		}
		m := &descriptorpb.DescriptorProto{Name: &name}
		for f := range strings.SplitSeq(rest, ", ") {
			w := strings.Fields(f)
			n, _ := strconv.Atoi(w[2])
			field := &descriptorpb.FieldDescriptorProto{Name: new("f" + w[2]), Number: new(int32(n)), Label: labels[w[0]].Enum()}
			kind, scalar := scalars[w[1]]
			switch {
			case scalar:
				field.Type = kind.Enum()
			case enums[w[1]]:
				field.Type, field.TypeName = descriptorpb.FieldDescriptorProto_TYPE_ENUM.Enum(), new(".t."+w[1])
			default:
				field.Type, field.TypeName = descriptorpb.FieldDescriptorProto_TYPE_MESSAGE.Enum(), new(".t."+w[1])
			}
			m.Field = append(m.Field, field)
		}
		file.MessageType = append(file.MessageType, m)
	}
	d, err := protodesc.NewFile(file, nil)
	if err != nil {
		panic(err)
	}
	return d
}()

// message is one that is encoded and decoded.
type message interface {
	Append(dst []byte) []byte
	Parse(b []byte) error
}

// official decodes b by the library, which checks that all that is required is there, and encodes it again.
func official(name string, b []byte) ([]byte, error) {
	m := dynamicpb.NewMessage(described.Messages().ByName(protoreflect.Name(name)))
	if err := proto.Unmarshal(b, m); err != nil {
		return nil, err
	}
	if len(m.GetUnknown()) > 0 {
		return nil, errors.New("fields that the schema does not know")
	}
	return proto.MarshalOptions{Deterministic: true}.Marshal(m)
}

func some[T any](r *rand.Rand, all ...T) T { return all[r.IntN(len(all))] }

func position(r *rand.Rand) wal.Position {
	return wal.Position{Filenum: some(r, 0, 267, uint32(math.MaxUint32)), Offset: some(r, 0, 45044585, uint64(math.MaxUint64))}
}

func session(r *rand.Rand) int32 { return some(r, int32(0), 7, -1, math.MaxInt32, math.MinInt32) }

func requests(r *rand.Rand) *Request {
	q := &Request{Kind: Kind(1 + r.IntN(4)), Node: Node{some(r, "", "10.0.0.1"), session(r)}}
	if q.Kind == MetaSync {
		q.Password = some(r, "", "secret")
		return q
	}
	q.DB = some(r, "db0", "db12")
	if q.Kind == BinlogSync {
		q.Ack = Ack{position(r), position(r), session(r), some(r, true, false)}
		return q
	}
	q.At = position(r)
	return q
}

func answers(r *rand.Rand) *Answer {
	a := &Answer{Kind: Kind(1 + r.IntN(4)), Code: Code(1 + r.IntN(3)), Reply: some(r, "", "Slave AlreadyExist")}
	switch a.Kind {
	case MetaSync:
		a.Meta = &Meta{Classic: some(r, true, false), RunID: "run", ReplicationID: some(r, "", "id")}
		for range r.IntN(3) {
			a.Meta.DBs = append(a.Meta.DBs, DB{"db0", session(r), session(r)})
		}
	case TrySync:
		a.Try = &Try{Verdict: Verdict(1 + r.IntN(4)), DB: "db0", Session: session(r)}
		if some(r, true, false) {
			at := position(r)
			a.Try.End = &at
		}
	case DBSync:
		a.Dump = &Dump{"db0", session(r)}
	case BinlogSync:
		for range 1 + r.IntN(5) {
			a.Items = append(a.Items, Item{[]byte("db0"), position(r), []byte(some(r, "", "item")), session(r)})
		}
	}
	return a
}

func copyRequests(r *rand.Rand) *CopyRequest {
	q := &CopyRequest{Kind: List, Reader: session(r), DB: "db0"}
	if some(r, true, false) {
		q.Kind, q.File, q.Count, q.Offset = Part, some(r, "info", "0/000012.sst"), r.Uint64(), r.Uint64()
	}
	return q
}

func copyAnswers(r *rand.Rand) *CopyAnswer {
	a := &CopyAnswer{Kind: List, Reader: session(r), UUID: some(r, "", "uuid"), DB: "db0", Code: some(r, OK, Error)}
	switch {
	case some(r, true, false):
		a.Kind, a.Chunk = Part, &Chunk{some(r, true, false), r.Uint64(), r.Uint64(), []byte(some(r, "", "data")), "", "info"}
	case a.Code == OK:
		a.Files = []string{}
		for range r.IntN(4) {
			a.Files = append(a.Files, some(r, "info", "0/CURRENT"))
		}
	}
	return a
}

// What we encode is what the library of protobuf encodes by the master's schema, and we decode what it encodes.
func TestMessagesAreThoseOfTheSchema(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		for _, c := range []struct {
			name      string
			one, same message
		}{
			{"InnerRequest", requests(r), &Request{}},
			{"InnerResponse", answers(r), &Answer{}},
			{"RsyncRequest", copyRequests(r), &CopyRequest{}},
			{"RsyncResponse", copyAnswers(r), &CopyAnswer{}},
		} {
			b := c.one.Append(nil)
			theirs, err := official(c.name, b)
			if err != nil {
				t.Fatalf("%s %+v: %v", c.name, c.one, err)
			}
			if err := c.same.Parse(theirs); err != nil || !equal(c.one, c.same) {
				t.Fatalf("%s %+v\nis\n%+v, %v", c.name, c.one, c.same, err)
			}
			if again := c.same.Append(nil); !bytes.Equal(again, b) {
				t.Fatalf("%s is %x and then %x", c.name, b, again)
			}
		}
	}
}

// equal compares messages; an empty slice is as none, but in lists of files.
func equal(a, b message) bool {
	if x, ok := a.(*Answer); ok && len(x.Items) == 0 {
		x.Items = nil
		b.(*Answer).Items = nil
	}
	return reflect.DeepEqual(a, b)
}

// A message that lacks what is required, or has what has no meaning, is refused by name.
func TestMessagesThatMeanNothingAreRefused(t *testing.T) {
	t.Parallel()
	good := &Answer{Kind: BinlogSync, Code: OK, Items: []Item{{[]byte("db0"), wal.Position{Filenum: 1, Offset: 2}, []byte("x"), 3}}}
	b := good.Append(nil)
	for n := range b {
		if (&Answer{}).Parse(b[:n]) == nil && n != 4 { // what stands alone before the item is a message
			t.Errorf("the first %d bytes are taken for a message", n)
		}
	}
	for name, c := range map[string]struct {
		m    message
		b    []byte
		want string
	}{
		"nothing":          {&Answer{}, nil, "an answer: the required field 1 is missing"},
		"another kind":     {&Answer{}, appendUint(appendUint(nil, 1, 9), 2, 1), "field 1 is 9"},
		"another code":     {&Answer{}, appendUint(appendUint(nil, 1, 4), 2, 4), "field 2 is 4"},
		"twice":            {&Answer{}, appendUint(appendUint(nil, 1, 4), 1, 4), "field 1 comes twice"},
		"text for number":  {&Answer{}, appendData(nil, 1, "x"), "wire type"},
		"a wide number":    {&Answer{}, appendData(appendUint(appendUint(nil, 1, 2), 2, 1), 6, appendUint(nil, 4, 1<<40)), "more than 32 bits"},
		"a file too far":   {&Request{}, appendData(nil, 3, appendData(nil, 3, appendUint(nil, 1, 1<<32))), "field 1 is 4294967296"},
		"an item alone":    {&Answer{}, appendData(nil, 7, ""), "an item: the required field 1 is missing"},
		"without its body": {&Request{}, appendUint(nil, 1, 2), "a request of TrySync: what it is about is missing"},
		"a node alone":     {&Request{}, appendData(nil, 5, appendData(nil, 1, "")), "a node"},
		"a part alone":     {&CopyRequest{}, appendUint(appendData(appendInt32(appendUint(nil, 1, 2), 2, 0), 3, "db0"), 4, 0), "field 5 is missing"},
		"no files":         {&CopyAnswer{}, appendUint(nil, 6, 3), "field 6 is 3"},
	} {
		if err := c.m.Parse(c.b); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

func fuzzMessage[T any, P interface {
	*T
	message
}](f *testing.F, name string, make func(*rand.Rand) P) {
	f.Helper()
	r := rand.New(rand.NewPCG(3, 4))
	for range 20 {
		f.Add(make(r).Append(nil))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		one, same := P(new(T)), P(new(T))
		if one.Parse(b) != nil {
			return
		}
		encoded := one.Append(nil)
		if err := same.Parse(encoded); err != nil || !equal(one, same) {
			t.Fatalf("%x is\n%+v\nand then\n%+v, %v", b, one, same, err)
		}
		if _, err := official(name, encoded); err != nil && !strings.Contains(err.Error(), "UTF-8") {
			t.Fatalf("%+v is refused by the schema: %v", one, err)
		}
	})
}

func FuzzRequest(f *testing.F)     { fuzzMessage(f, "InnerRequest", requests) }
func FuzzAnswer(f *testing.F)      { fuzzMessage(f, "InnerResponse", answers) }
func FuzzCopyRequest(f *testing.F) { fuzzMessage(f, "RsyncRequest", copyRequests) }
func FuzzCopyAnswer(f *testing.F)  { fuzzMessage(f, "RsyncResponse", copyAnswers) }

// A frame is its length and its message; one that is cut off, or that claims more than is allowed, is an error, and a
// claim alone takes no memory.
func TestFramesAreBounded(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 3<<20+7)
	for _, text := range []string{"", "x", long} {
		frame := AppendFrame([]byte("before"), func(b []byte) []byte { return append(b, text...) })[6:]
		for _, buf := range [][]byte{nil, make([]byte, 0, 4<<20), make([]byte, 3)} {
			got, err := ReadFrame(bytes.NewReader(frame), buf, len(text))
			if err != nil || string(got) != text {
				t.Errorf("%d bytes come as %d, %v", len(text), len(got), err)
			}
		}
		if len(text) == 0 {
			continue
		}
		if _, err := ReadFrame(bytes.NewReader(frame), nil, len(text)-1); err == nil || !strings.Contains(err.Error(), "claims") {
			t.Errorf("a frame that is too large: %v", err)
		}
		for _, n := range []int{1, 3, 4, len(frame) - 1} {
			if _, err := ReadFrame(bytes.NewReader(frame[:n]), nil, MaxFrame); !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("%d of %d bytes: %v", n, len(frame), err)
			}
		}
	}
	if _, err := ReadFrame(strings.NewReader(""), nil, MaxFrame); !errors.Is(err, io.EOF) {
		t.Errorf("the end: %v", err)
	}
	allocated := testing.Benchmark(func(b *testing.B) {
		b.ReportAllocs()
		for range b.N {
			_, _ = ReadFrame(bytes.NewReader([]byte{0x1f, 0xff, 0xff, 0xff, 1, 2, 3}), nil, MaxFrame)
		}
	}).AllocedBytesPerOp()
	if allocated > 2<<20 {
		t.Errorf("a claim of half a gigabyte takes %d bytes", allocated)
	}
}

// An item is the bytes that a master of 4.0.1 was seen to send.
func TestItemsAreThoseOfAMaster(t *testing.T) {
	t.Parallel()
	raw := []byte("\x01\x00" + "\x81\xb7\x01\x6b" + "\x02\x00\x00\x00" + "\x05\x00\x00\x00\x00\x00\x00\x00" + "\x0b\x01\x00\x00" +
		"\x48\x00\x00\x00\x00\x00\x00\x00" + "\x1c\x00\x00\x00" + "*3\r\n$3\r\nset\r\n$1\r\nk\r\n$2\r\nv\n\r\n")
	want := Command{
		Time: 0x6b01b781, Term: 2, LogicID: 5, At: wal.Position{Filenum: 267, Offset: 72},
		Argv: [][]byte{[]byte("set"), []byte("k"), []byte("v\n")},
	}
	if got := want.Append(nil); !bytes.Equal(got, raw) {
		t.Fatalf("the item is\n%q\nand should be\n%q", got, raw)
	}
	var got Command
	if err := got.Parse(raw); err != nil || !reflect.DeepEqual(got, want) {
		t.Fatalf("%+v, %v", got, err)
	}
	for n := range raw {
		if got.Parse(raw[:n]) == nil {
			t.Errorf("the first %d bytes are taken for an item", n)
		}
	}
	item := func(text string) []byte {
		b := bytes.Clone(raw[:34])
		b[30] = byte(len(text))
		return append(b, text...)
	}
	if err := got.Parse(item("*2\r\n$7\r\npadding\r\n$0000000003\r\n\x00\x00\x00\r\n")); err != nil || len(got.Argv) != 2 || len(got.Argv[1]) != 3 {
		t.Errorf("an item that pads: %v", err)
	}
	for _, text := range []string{
		"", "*", "*0\r\n", "*-1\r\n", "+OK\r\n", "*1\r\n", "*1\r\n$1\r\n", "*1\r\n$1\r\nab\r\n", "*1\r\n$1\r\na\r\nb", "*2\r\n$1\r\na\r\n",
		"*1\r\n$99999999999\r\na\r\n", "*1\r\n$\r\n\r\n", "*1\n$1\na\n", "*900000000\r\n$1\r\na\r\n",
	} {
		if err := got.Parse(item(text)); err == nil {
			t.Errorf("%q is taken for a command: %q", text, got.Argv)
		}
	}
	two := item("*1\r\n$1\r\na\r\n")
	two[0] = 2
	if err := got.Parse(two); err == nil || !strings.Contains(err.Error(), "type 2") {
		t.Errorf("an item of another type: %v", err)
	}
}

func FuzzCommand(f *testing.F) {
	f.Add((&Command{Time: 1, Argv: [][]byte{[]byte("set"), []byte("k"), {}}}).Append(nil))
	f.Add((&Command{At: wal.Position{Filenum: 1, Offset: 2}, Argv: [][]byte{[]byte("exec")}}).Append(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		var one, same Command
		if one.Parse(b) != nil {
			return
		}
		if err := same.Parse(one.Append(nil)); err != nil || !reflect.DeepEqual(one, same) {
			t.Fatalf("%q is\n%+v\nand then\n%+v, %v", b, one, same, err)
		}
	})
}
