package replica

import (
	"bytes"
	"log/slog"
	"strconv"
	"sync"
	"time"

	"deepoj/host/feed"
	"deepoj/host/feed/config"
	"deepoj/host/feed/event"
	"deepoj/host/feed/filter"
	"deepoj/host/feed/pikiwidb"
	"deepoj/host/feed/pikiwidb/wire"
	"deepoj/host/feed/wal"
)

// Source is one database of a master.
type Source struct {
	host, password, db string
	port               int
	idle               time.Duration // pb_idle_timeout
	ackWarn            time.Duration // pb_ack_delay_warn
	dir                string        // for the dump
	read               pikiwidb.Options
	filter             *filter.Filter
	events             event.Encoder
	log                *slog.Logger

	alive time.Duration // between signs of life
	again time.Duration // between questions whether a dump is made

	commands sync.Pool // of *wire.Command
}

var _ feed.Source = (*Source)(nil)

// A master forgets a replica after 20 seconds.
const (
	signOfLife = 3 * time.Second
	askAgain   = time.Second
)

// slotPrefix begins the sets in which a master keeps account of slots that move.
const slotPrefix = "_internal:slotkey:4migrate:"

// padding is the command of items that only fill the file.
const padding = "padding"

// New returns the source of one of the databases that a configuration names.
func New(c *config.Config, db string, log *slog.Logger) (*Source, error) {
	s := &Source{
		host: c.MasterHost, port: c.MasterPort, password: c.Password, db: db,
		idle: c.PBIdleTimeout, ackWarn: c.PBAckDelayWarn, dir: c.DumpDirOf(db), filter: c.Filter, log: log,
		events: event.Encoder{
			Source:   event.Source{ID: c.SourceID(), Host: c.MasterHost, Port: c.MasterPort},
			Encoding: c.ArgsEncoding, RawResp: c.IncludeRawResp,
		},
		read: pikiwidb.Options{
			Mode: pikiwidb.Mode(c.SnapshotReaderMode), Prefixes: c.SnapshotReaderPrefixes,
			BatchNum: c.BatchNum, ListTail: c.SnapshotListTailN, Now: time.Now,
		},
		alive: signOfLife, again: askAgain,
	}
	s.commands.New = func() any { return &wire.Command{} }
	names := c.SnapshotReaderTypes
	if names == nil {
		names = c.Filter.Types(db, event.Types())
	}
	for _, name := range names {
		one, err := pikiwidb.ParseTypes(name)
		if err != nil {
			return nil, err
		}
		s.read.Types |= one
	}
	if s.read.Prefixes == nil {
		s.read.Prefixes = c.Filter.Prefixes(db)
	}
	return s, nil
}

// Whole reports that each item is whole.
func (s *Source) Whole(wal.Record) bool { return true }

// Event makes an event of an item of the binlog.
func (s *Source) Event(dst []byte, r wal.Record) (feed.Out, error) {
	c := s.commands.Get().(*wire.Command)
	defer s.commands.Put(c)
	if err := c.Parse(r.Payload); err != nil {
		return feed.Out{}, err
	}
	name, key := c.Argv[0], []byte(nil)
	if len(c.Argv) > 1 {
		key = c.Argv[1]
	}
	kind := event.TypeOf(name)
	if bytes.EqualFold(name, []byte(padding)) || bytes.HasPrefix(key, []byte(slotPrefix)) || !s.filter.Keep(s.db, kind, name, key) {
		return feed.Out{}, nil
	}
	dst = event.AppendKey(dst, s.db, kind, key)
	at := len(dst)
	command := event.Command{Epoch: r.Epoch, DB: s.db, Type: kind, Key: key, Argv: c.Argv, TimeMS: int64(c.Time) * 1000}
	dst = s.events.AppendBinlog(dst, &command, event.Binlog{
		Filenum: c.At.Filenum, Offset: c.At.Offset, LogicID: c.LogicID, TermID: c.Term, ExecTime: c.Time,
	})
	return feed.Out{Keep: true, Key: dst[:at:at], Value: dst[at:], ID: eventID(c)}, nil
}

// eventID is where an item begins, with its term and its number.
func eventID(c *wire.Command) string {
	var room [64]byte
	b := strconv.AppendUint(room[:0], uint64(c.Term), 10)
	for _, v := range []uint64{uint64(c.At.Filenum), c.At.Offset, c.LogicID} {
		b = strconv.AppendUint(append(b, ':'), v, 10)
	}
	return string(b)
}
