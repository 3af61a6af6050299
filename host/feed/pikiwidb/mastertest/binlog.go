package mastertest

import (
	"maps"
	"slices"
	"strings"

	"deepoj/host/feed/pikiwidb/wire"
	"deepoj/host/feed/wal"
)

// recordHead is what the file has before each item.
const recordHead = 8

// binlog is the log of a database.
type binlog struct {
	first        wal.Position // everything before is purged
	end          wal.Position
	items        []Item
	acknowledged wal.Position
}

// Item is one of the binlog.
type Item struct {
	At, Next wal.Position
	Raw      []byte
}

// index is the number of the first item at or behind a position, and whether the position is where an item begins or
// one ends.
func (b *binlog) index(at wal.Position) (n int, exact bool) {
	n, exact = slices.BinarySearchFunc(b.items, at, func(i Item, at wal.Position) int { return i.At.Compare(at) })
	return n, exact || at == b.end || n > 0 && b.items[n-1].Next == at
}

// Do executes a command and writes it to the binlog: SET, SETEX and DEL change what a dump has, and others do not. It
// returns where the next item begins.
func (m *Master) Do(name string, argv ...string) wal.Position {
	m.mu.Lock()
	defer m.mu.Unlock()
	db := m.dbs[name]
	switch strings.ToLower(argv[0]) {
	case "set":
		db.content[argv[1]] = argv[2]
	case "pksetexat":
		db.content[argv[1]] = argv[3]
	case "del":
		delete(db.content, argv[1])
	}
	at := db.log.end
	if at.Offset > m.options.FileBytes {
		at = wal.Position{Filenum: at.Filenum + 1}
	}
	c := wire.Command{Time: 1795251969, LogicID: uint64(len(db.log.items) + 1), At: at}
	for _, a := range argv {
		c.Argv = append(c.Argv, []byte(a))
	}
	raw := c.Append(nil)
	if m.faults.Item != nil {
		raw = m.faults.Item(raw)
	}
	db.log.end = wal.Position{Filenum: at.Filenum, Offset: at.Offset + uint64(len(raw)) + recordHead}
	db.log.items = append(db.log.items, Item{at, db.log.end, raw})
	m.notify()
	return db.log.end
}

// Purge throws away all of the binlog that ends at or before a position.
func (m *Master) Purge(name string, before wal.Position) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.dbs[name].log.first = before
}

// Reset gives the database other data, with a binlog that begins at a position.
func (m *Master) Reset(name string, start wal.Position) {
	m.mu.Lock()
	defer m.mu.Unlock()
	db := m.dbs[name]
	db.content, db.dump = map[string]string{}, nil
	db.log = binlog{first: start, end: start}
}

// End is where the binlog ends.
func (m *Master) End(name string) wal.Position {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.dbs[name].log.end
}

// Items are those of the binlog.
func (m *Master) Items(name string) []Item {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.dbs[name].log.items
}

// Content is what a database has.
func (m *Master) Content(name string) map[string]string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.dbs[name].content)
}

// verdict is what a master says of a position.
func (b *binlog) verdict(at wal.Position) wire.Verdict {
	switch {
	case at.Compare(b.end) > 0:
		return wire.Larger
	case at.Compare(b.first) < 0:
		return wire.Purged
	}
	if at == b.first {
		return wire.Granted
	}
	if _, exact := b.index(at); !exact {
		return wire.Between
	}
	return wire.Granted
}
