package wire

import (
	"encoding/binary"
	"errors"
	"math"
)

// Batch asks a worker to call guests, one after the other. The descriptors of
// the calls follow each other. Only a single call may have a blob.
type Batch struct {
	Calls []Request
}

// Replies answers a batch: a reply for each call, whose parts follow each other in the blob.
type Replies struct {
	All []Reply
}

// Request asks a worker to call a guest.
type Request struct {
	Dir         string   // the module's folder in the cache
	Args        []string // argv; argv[0] is the dialect's word for the guest
	Files       []string // names of the descriptors that are files of the guest, in order
	Stdin       Stdin    // where the guest reads
	Feedback    bool     // whether there is a folder to write in
	Keep        bool     // whether all files of that folder come back, and not only those that somebody reads
	Kept        []Part   // files that lie in that folder; their contents are the blob
	MemoryBytes int64
	Fuel        int64
	OutputBytes int64
	CPUNanos    int64 // how long it may run; 0 = fuel bounds it alone
	SaidBytes   int64 // with StdinLive: what the program may say
}

// Stdin says where a guest reads.
type Stdin string

// What may be the standard input of a guest.
const (
	StdinEmpty Stdin = ""
	StdinBlob  Stdin = "blob" // the blob of the request
	StdinFile  Stdin = "file" // the descriptor after those of Files, from 0
	StdinLive  Stdin = "live" // the descriptor after those of Files; the next is stdout
)

// Descriptors is how many descriptors follow those of the files.
func (s Stdin) Descriptors() int {
	switch s {
	case StdinFile:
		return 1
	case StdinLive:
		return 2
	case StdinEmpty, StdinBlob:
	}
	return 0
}

// Reply is what came of it. The parts of its blob are in the order of Parts.
type Reply struct {
	Exit        uint32
	Fault       Fault // why there is no exit status
	Detail      string
	Fuel        uint64
	CPUNanos    int64
	LastNanos   int64 // with StdinLive: when words of the program were heard, by the machine's clock; 0 = there were none
	HeardNanos  int64 // with StdinLive: when their end was heard; 0 = it was not
	EndedNanos  int64 // with StdinLive: when the guest ended
	Flooded     bool  // with StdinLive: the program had gone on for long without an answer
	MemoryBytes int64 // what the guest's memory grew to
	GrowsDenied int
	Parts       []Part
}

// Part is a stream or file that a guest wrote.
type Part struct {
	Name  string
	Bytes int
}

// Names of parts. Those with a slash are no files of the feedback folder.
const (
	PartStdout   = "/stdout"
	PartStderr   = "/stderr"
	PartTalk     = "/talk"
	PartJudge    = "judgemessage.txt"
	PartTout     = "tout"
	PartNextPass = "nextpass.in" // the input of the next pass
)

// Fault says what kept a guest from ending by itself.
type Fault string

// What ends a guest.
const (
	FaultNone   Fault = ""
	FaultFuel   Fault = "fuel"
	FaultCPU    Fault = "cpu" // there is no more time for it
	FaultOutput Fault = "output"
	FaultSaid   Fault = "said" // the program has said more than it may
	FaultTrap   Fault = "trap"
	FaultMemory Fault = "memory" // less memory than its module starts with
	FaultModule Fault = "module" // the folder in the cache is damaged
)

// ErrMalformed is what a frame is whose header is no message.
var ErrMalformed = errors.New("a frame is malformed")

// Append appends the encoding of a batch.
func (b Batch) Append(to []byte) []byte {
	to = binary.AppendUvarint(to, uint64(len(b.Calls)))
	for _, q := range b.Calls {
		to = appendText(to, q.Dir)
		to = appendTexts(to, q.Args)
		to = appendTexts(to, q.Files)
		to = appendText(to, string(q.Stdin))
		to = appendFlag(to, q.Feedback)
		to = appendFlag(to, q.Keep)
		to = appendParts(to, q.Kept)
		for _, n := range []int64{q.MemoryBytes, q.Fuel, q.OutputBytes, q.CPUNanos, q.SaidBytes} {
			to = binary.AppendUvarint(to, uint64(n))
		}
	}
	return to
}

// ParseBatch reads what [batch.append] wrote.
func ParseBatch(header []byte) (Batch, error) {
	d := decoder{rest: header}
	b := Batch{Calls: make([]Request, d.count())}
	for i := range b.Calls {
		b.Calls[i] = Request{
			Dir: d.text(), Args: d.texts(), Files: d.texts(), Stdin: Stdin(d.text()), Feedback: d.flag(), Keep: d.flag(), Kept: d.parts(),
			MemoryBytes: d.number(), Fuel: d.number(), OutputBytes: d.number(), CPUNanos: d.number(), SaidBytes: d.number(),
		}
	}
	return b, d.end()
}

// Append appends the encoding of replies.
func (r Replies) Append(to []byte) []byte {
	to = binary.AppendUvarint(to, uint64(len(r.All)))
	for _, a := range r.All {
		to = binary.AppendUvarint(to, uint64(a.Exit))
		to = appendText(to, string(a.Fault))
		to = appendText(to, a.Detail)
		to = binary.AppendUvarint(to, a.Fuel)
		to = binary.AppendUvarint(to, uint64(a.CPUNanos))
		to = binary.AppendUvarint(to, uint64(a.LastNanos))
		to = binary.AppendUvarint(to, uint64(a.HeardNanos))
		to = binary.AppendUvarint(to, uint64(a.EndedNanos))
		to = appendFlag(to, a.Flooded)
		to = binary.AppendUvarint(to, uint64(a.MemoryBytes))
		to = binary.AppendUvarint(to, uint64(a.GrowsDenied))
		to = appendParts(to, a.Parts)
	}
	return to
}

// ParseReplies reads what [replies.append] wrote.
func ParseReplies(header []byte) (Replies, error) {
	d := decoder{rest: header}
	r := Replies{All: make([]Reply, d.count())}
	for i := range r.All {
		a := Reply{
			Exit: uint32(d.number()), Fault: Fault(d.text()), Detail: d.text(), Fuel: uint64(d.number()), CPUNanos: d.number(),
			LastNanos: d.number(), HeardNanos: d.number(), EndedNanos: d.number(), Flooded: d.flag(), MemoryBytes: d.number(), GrowsDenied: int(d.number()),
		}
		a.Parts = d.parts()
		r.All[i] = a
	}
	return r, d.end()
}

func appendText(to []byte, s string) []byte {
	return append(binary.AppendUvarint(to, uint64(len(s))), s...)
}

func appendTexts(to []byte, all []string) []byte {
	to = binary.AppendUvarint(to, uint64(len(all)))
	for _, s := range all {
		to = appendText(to, s)
	}
	return to
}

func appendParts(to []byte, all []Part) []byte {
	to = binary.AppendUvarint(to, uint64(len(all)))
	for _, p := range all {
		to = appendText(to, p.Name)
		to = binary.AppendUvarint(to, uint64(p.Bytes))
	}
	return to
}

func appendFlag(to []byte, on bool) []byte {
	if on {
		return append(to, 1)
	}
	return append(to, 0)
}

// decoder reads what was appended. After the first thing that is none it gives zeros, and end tells.
type decoder struct {
	rest []byte
	bad  bool
}

func (d *decoder) parts() []Part {
	all := make([]Part, d.count())
	for i := range all {
		all[i] = Part{d.text(), int(d.number())}
	}
	return all
}

func (d *decoder) number() int64 {
	v, n := binary.Uvarint(d.rest)
	if n <= 0 || v > math.MaxInt64 {
		d.rest, d.bad = nil, true
		return 0
	}
	d.rest = d.rest[n:]
	return int64(v)
}

// count reads a number of things, each of which takes a byte at least.
func (d *decoder) count() int {
	n := d.number()
	if n > int64(len(d.rest)) {
		d.rest, d.bad = nil, true
		return 0
	}
	return int(n)
}

func (d *decoder) text() string {
	n := d.count()
	s := string(d.rest[:n])
	d.rest = d.rest[n:]
	return s
}

func (d *decoder) texts() []string {
	n := d.count()
	if n == 0 {
		return nil
	}
	all := make([]string, n)
	for i := range all {
		all[i] = d.text()
	}
	return all
}

func (d *decoder) flag() bool { return d.number() != 0 }

func (d *decoder) end() error {
	if d.bad || len(d.rest) > 0 {
		return ErrMalformed
	}
	return nil
}
