package wire

import (
	"deepoj/host/feed/wal"
)

// Code is how a master answers.
type Code uint32

// The codes.
const (
	OK    Code = 1
	Error Code = 2
	Other Code = 3 // not now: such as a replica of the same address that is still there
)

// Verdict is what a master says of a position.
type Verdict uint32

// The verdicts.
const (
	Granted Verdict = 1
	Purged  Verdict = 2 // that part of the binlog is gone
	Larger  Verdict = 3 // the binlog does not reach there
	Between Verdict = 4 // no item begins there, or the master has failed otherwise
)

// Answer is what a master sends. Which fields count depends on the kind.
type Answer struct {
	Kind  Kind
	Code  Code
	Reply string // why, for people
	Meta  *Meta
	Try   *Try
	Dump  *Dump
	Items []Item // valid as long as the bytes that were decoded
}

// Meta is what a master says of itself.
type Meta struct {
	Classic       bool // and not a cluster
	DBs           []DB
	RunID         string
	ReplicationID string // of its data: replicas take it over; empty where the master has none
}

// DB is a database of a master.
type DB struct {
	Name      string
	Slots     int32
	Instances int32 // RocksDB instances; 0 where the master does not say, which is so in 3.5
}

// Try is what a master says of a position that was asked for.
type Try struct {
	Verdict Verdict
	DB      string
	End     *wal.Position // of the master's binlog
	Session int32
}

// Dump says that a dump is being made, or is there.
type Dump struct {
	DB      string
	Session int32
}

// Item is one of the binlog. One without bytes is a mere sign of life.
type Item struct {
	DB      []byte
	Next    wal.Position // where the item behind it begins
	Binlog  []byte       // see [Command]
	Session int32
}

// Append appends the message.
func (a *Answer) Append(dst []byte) []byte {
	dst = appendUint(appendUint(dst, 1, uint64(a.Kind)), 2, uint64(a.Code))
	if a.Reply != "" {
		dst = appendData(dst, 3, a.Reply)
	}
	if m := a.Meta; m != nil {
		b := appendBool(nil, 1, m.Classic)
		for _, db := range m.DBs {
			one := appendInt32(appendData(nil, 1, db.Name), 2, db.Slots)
			if db.Instances != 0 {
				one = appendInt32(one, 3, db.Instances)
			}
			b = appendData(b, 2, one)
		}
		b = appendData(b, 3, m.RunID)
		if m.ReplicationID != "" {
			b = appendData(b, 4, m.ReplicationID)
		}
		dst = appendData(dst, 4, b)
	}
	if d := a.Dump; d != nil {
		dst = appendData(dst, 5, appendInt32(appendData(nil, 1, appendSlot(nil, d.DB)), 2, d.Session))
	}
	if t := a.Try; t != nil {
		b := appendData(appendUint(nil, 1, uint64(t.Verdict)), 2, appendSlot(nil, t.DB))
		if t.End != nil {
			b = appendData(b, 3, appendPosition(nil, *t.End, false))
		}
		dst = appendData(dst, 6, appendInt32(b, 4, t.Session))
	}
	var body, part []byte
	for _, i := range a.Items {
		part = appendSlot(part[:0], i.DB)
		body = appendData(body[:0], 1, part)
		part = appendPosition(part[:0], i.Next, true)
		body = appendData(body, 2, part)
		body = appendData(body, 3, i.Binlog)
		body = appendInt32(body, 4, i.Session)
		dst = appendData(dst, 7, body)
	}
	return dst
}

// Parse decodes an answer. Items are put where those of the answer before were.
func (a *Answer) Parse(b []byte) error {
	*a = Answer{Items: a.Items[:0]}
	p := parser{what: "an answer", rest: b}
	for p.next() {
		var err error
		switch p.number {
		case 1:
			a.Kind = Kind(p.enum(lastKind))
		case 2:
			a.Code = Code(p.enum(uint64(Other)))
		case 3:
			a.Reply = p.text()
		case 4:
			a.Meta, err = parseMeta(p.message("an answer of MetaSync"))
		case 5:
			a.Dump, err = parseDump(p.message("an answer of DBSync"))
		case 6:
			a.Try, err = parseTry(p.message("an answer of TrySync"))
		case 7:
			var item Item
			item, err = parseItem(p.each("an item"))
			a.Items = append(a.Items, item)
		}
		p.take(err)
	}
	return p.need(1, 2)
}

func parseMeta(p parser) (*Meta, error) {
	m := &Meta{}
	for p.next() {
		switch p.number {
		case 1:
			m.Classic = p.bool()
		case 2:
			db, err := parseDB(p.each("a database"))
			p.take(err)
			m.DBs = append(m.DBs, db)
		case 3:
			m.RunID = p.text()
		case 4:
			m.ReplicationID = p.text()
		}
	}
	p.seen |= 1 << 2 // there may be none
	return m, p.need(1, 3)
}

func parseDB(p parser) (db DB, err error) {
	for p.next() {
		switch p.number {
		case 1:
			db.Name = p.text()
		case 2:
			db.Slots = p.int32()
		case 3:
			db.Instances = p.int32()
		}
	}
	return db, p.need(1, 2)
}

func parseDump(p parser) (*Dump, error) {
	d := &Dump{}
	for p.next() {
		var err error
		switch p.number {
		case 1:
			d.DB, err = parseSlot(p.message("a slot"))
		case 2:
			d.Session = p.int32()
		}
		p.take(err)
	}
	return d, p.need(1, 2)
}

func parseTry(p parser) (*Try, error) {
	t := &Try{}
	for p.next() {
		var err error
		switch p.number {
		case 1:
			t.Verdict = Verdict(p.enum(uint64(Between)))
		case 2:
			t.DB, err = parseSlot(p.message("a slot"))
		case 3:
			var end wal.Position
			end, err = parsePosition(p.message("a position"))
			t.End = &end
		case 4:
			t.Session = p.int32()
		}
		p.take(err)
	}
	return t, p.need(1, 2)
}

func parseItem(p parser) (i Item, err error) {
	for p.next() {
		switch p.number {
		case 1:
			i.DB, err = parseSlotData(p.message("a slot"))
			p.take(err)
		case 2:
			i.Next, err = parsePosition(p.message("a position"))
			p.take(err)
		case 3:
			i.Binlog = p.data()
		case 4:
			i.Session = p.int32()
		}
	}
	return i, p.need(1, 2, 3, 4)
}
