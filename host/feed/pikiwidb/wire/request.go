package wire

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"

	"deepoj/host/feed/wal"
)

// Kind is what a message of the replication is about.
type Kind uint32

// The kinds that a replica uses.
const (
	MetaSync   Kind = 1 // who is there, and which databases
	TrySync    Kind = 2 // may the binlog go on at a position
	DBSync     Kind = 3 // make a dump
	BinlogSync Kind = 4 // the binlog, its acknowledgements, and signs of life
)

const lastKind = 6

func (k Kind) String() string {
	switch k {
	case MetaSync:
		return "MetaSync"
	case TrySync:
		return "TrySync"
	case DBSync:
		return "DBSync"
	case BinlogSync:
		return "BinlogSync"
	}
	return fmt.Sprintf("kind %d", uint32(k))
}

// Node is where a replica says that it is. A master tells replicas apart by it.
type Node struct {
	IP   string
	Port int32
}

// Request is what a replica sends. Which fields count depends on the kind.
type Request struct {
	Kind     Kind
	Node     Node
	Password string       // MetaSync
	DB       string       // all others
	At       wal.Position // TrySync and DBSync: where the next item begins
	Ack      Ack          // BinlogSync
}

// Ack says that a replica has the items from one to another, both by where the item behind them begins, as the master
// sent it. Both zero, and not First, is a mere sign of life.
type Ack struct {
	From, To wal.Position
	Session  int32
	First    bool // asks for the binlog from From, which To is, too
}

// Append appends the message.
func (r *Request) Append(dst []byte) []byte {
	dst = appendUint(dst, 1, uint64(r.Kind))
	body := appendData(nil, 1, r.Node.append(nil))
	number := protowire.Number(r.Kind) + 1
	switch r.Kind {
	case MetaSync:
		if r.Password != "" {
			body = appendData(body, 2, r.Password)
		}
	case TrySync, DBSync:
		body = appendData(body, 2, appendSlot(nil, r.DB))
		body = appendData(body, 3, appendPosition(nil, r.At, false))
	case BinlogSync:
		body = appendData(body, 2, r.DB)
		body = appendUint(body, 3, 0)
		body = appendData(body, 4, appendPosition(nil, r.Ack.From, true))
		body = appendData(body, 5, appendPosition(nil, r.Ack.To, true))
		body = appendInt32(body, 6, r.Ack.Session)
		body = appendBool(body, 7, r.Ack.First)
	}
	return appendData(dst, number, body)
}

// Parse decodes a request.
func (r *Request) Parse(b []byte) error {
	*r = Request{}
	found := 0
	p := parser{what: "a request", rest: b}
	for p.next() {
		switch p.number {
		case 1:
			r.Kind = Kind(p.enum(lastKind))
		case 2, 3, 4, 5:
			found = p.number
			p.take(r.body(p.message("a request of "+Kind(p.number-1).String()), Kind(p.number-1)))
		}
	}
	if err := p.need(1); err != nil {
		return err
	}
	if r.Kind <= BinlogSync && found != int(r.Kind)+1 {
		return fmt.Errorf("a request of %s: what it is about is missing", r.Kind)
	}
	return nil
}

func (r *Request) body(p parser, kind Kind) (err error) {
	for p.next() {
		switch {
		case p.number == 1:
			r.Node, err = parseNode(p.message("a node"))
			p.take(err)
		case kind == MetaSync && p.number == 2:
			r.Password = p.text()
		case (kind == TrySync || kind == DBSync) && p.number == 2:
			r.DB, err = parseSlot(p.message("a slot"))
			p.take(err)
		case (kind == TrySync || kind == DBSync) && p.number == 3:
			r.At, err = parsePosition(p.message("a position"))
			p.take(err)
		case kind != BinlogSync:
		case p.number == 2:
			r.DB = p.text()
		case p.number == 3:
			p.uint32()
		case p.number == 4:
			r.Ack.From, err = parsePosition(p.message("a position"))
			p.take(err)
		case p.number == 5:
			r.Ack.To, err = parsePosition(p.message("a position"))
			p.take(err)
		case p.number == 6:
			r.Ack.Session = p.int32()
		case p.number == 7:
			r.Ack.First = p.bool()
		}
	}
	if kind == MetaSync {
		return p.need(1)
	}
	if kind == BinlogSync {
		return p.need(1, 2, 3, 4, 5, 6, 7)
	}
	return p.need(1, 2, 3)
}

func (n Node) append(dst []byte) []byte {
	return appendInt32(appendData(dst, 1, n.IP), 2, n.Port)
}

func parseNode(p parser) (n Node, err error) {
	for p.next() {
		switch p.number {
		case 1:
			n.IP = p.text()
		case 2:
			n.Port = p.int32()
		}
	}
	return n, p.need(1, 2)
}

// appendSlot appends a database: its slot is 0 always.
func appendSlot[T string | []byte](dst []byte, db T) []byte {
	return appendUint(appendData(dst, 1, db), 2, 0)
}

func parseSlot(p parser) (db string, err error) {
	found, err := parseSlotData(p)
	return string(found), err
}

func parseSlotData(p parser) (db []byte, err error) {
	for p.next() {
		switch p.number {
		case 1:
			db = p.data()
		case 2:
			p.uint32()
		}
	}
	return db, p.need(1, 2)
}

// appendPosition appends a position, where wanted with the term and the index that masters of today do not use.
func appendPosition(dst []byte, at wal.Position, term bool) []byte {
	dst = appendUint(appendUint(dst, 1, uint64(at.Filenum)), 2, at.Offset)
	if term {
		dst = appendUint(appendUint(dst, 3, 0), 4, 0)
	}
	return dst
}

func parsePosition(p parser) (at wal.Position, err error) {
	for p.next() {
		switch p.number {
		case 1:
			at.Filenum = p.uint32()
		case 2:
			at.Offset = p.uint64()
		}
	}
	return at, p.need(1, 2)
}
