// Package postgres is the source of a feed that tells what happens in a judge: the rows of its insert-only tables of
// events, which PostgreSQL sends as transactions are committed.
//
// Position and identity: every event of a transaction has the LSN of its commit and a number within the transaction, by
// which alone events are different. A record of the log is one event of one job, with everything that is told of it, so
// whoever makes events of records needs neither a connection nor what came before. The last record of a transaction
// says that it is complete; its position, and that of a mark which says that nothing more happened, is where the stream
// goes on. Both are durable before PostgreSQL is told that it may forget what lies before them.
//
// What is read is in package published. Of the judgings of a rejudge set only that they were applied is told; what
// compilers say is not, because it quotes the program.
//
// Its files:
//
//	postgres.go    the source, and events of records
//	body.go        what of an event is shown
//	payload.go     records of the log
//	row.go         values and rows in PostgreSQL's binary format
//	stream.go      the messages of pgoutput
//	connection.go  connections and questions
//	server.go      whether a server, role, publication and slot are as they have to be
//	failure.go     what to do about an error
//	open.go        where a session goes on, and why it needs a snapshot
//	snapshot.go    what was there before
//	receive.go     the stream, and what is acknowledged
//	pace.go        how often the stream is read
//	members.go     which judgings are for rejudge sets
package postgres

import (
	"fmt"
	"log/slog"
	"net/url"
	"strconv"

	"deepoj/host/feed"
	"deepoj/host/feed/config"
	"deepoj/host/feed/event"
	"deepoj/host/feed/filter"
	"deepoj/host/feed/wal"
	"deepoj/sql/published"
)

// Options say what a source reads, and how.
type Options struct {
	URL         string // of the database, as a role that may replicate
	Slot        string
	Publication string
	Readers     int    // connections that read a snapshot; 0 = 2
	ID          string // of the source, in events; see [config.Config.SourceID]
	Filter      *filter.Filter
	Log         *slog.Logger // nil = nobody is told
}

// OptionsOf are the options that a configuration means.
func OptionsOf(c *config.Config, log *slog.Logger) Options {
	return Options{
		URL: c.PostgresURL, Slot: c.PostgresSlot, Publication: c.PostgresPublication, Readers: c.SnapshotReaders,
		ID: c.SourceID(), Filter: c.Filter, Log: log,
	}
}

// Source is a [feed.Source].
type Source struct {
	o       Options
	log     *slog.Logger
	encoder event.Encoder
	db      string // name of the database
	name    string // of connections
}

// DataType is the type of all keys: what happens, happens to jobs.
const DataType = "job"

// tables are those that are read.
var tables = published.Tables()

// New returns the source that o describes. Nothing is reached yet.
func New(o Options) (*Source, error) {
	if o.URL == "" {
		return nil, final("postgres_url is empty: name the PostgreSQL of the judge as postgres://USER:PASSWORD@HOST/DATABASE; " +
			"`deepoj feed --sql` prints the SQL that makes USER")
	}
	name := newName()
	cfg, err := parse(o.URL, name)
	if err != nil {
		return nil, err
	}
	if o.Readers == 0 {
		o.Readers = 2
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	from := event.Source{ID: o.ID, Host: cfg.Host, Port: int(cfg.Port)}
	if u, err := url.Parse(o.URL); err == nil && u.Hostname() == "" {
		from.Host = "" // a folder of this machine is nobody's business
	}
	return &Source{o: o, log: o.Log, encoder: event.Encoder{Source: from}, db: cfg.Database, name: name}, nil
}

// Whole implements [feed.Source].
func (s *Source) Whole(r wal.Record) bool {
	tag := tagOf(r.Payload)
	return tag == tagCommit || tag == tagMark
}

// Event implements [feed.Source].
func (s *Source) Event(dst []byte, r wal.Record) (feed.Out, error) {
	switch tagOf(r.Payload) {
	case tagCommit, tagMark:
		return feed.Out{}, nil
	case tagEvent:
	default:
		return feed.Out{}, fmt.Errorf("record %d of the write-ahead log is none of PostgreSQL's", r.Seq)
	}
	e, index, err := parseEntry(r.Payload)
	if err != nil {
		return feed.Out{}, err
	}
	out, _, err := s.out(dst, &e, &event.Judge{Epoch: r.Epoch, LSN: r.Position.Offset, Index: index})
	out.Index, out.InTransaction = index, true
	if out.Keep {
		var id [32]byte
		out.ID = string(strconv.AppendUint(append(event.AppendLSN(id[:0], r.Position.Offset), ':'), uint64(index), 10))
	}
	return out, err
}

// out makes what consumers get of an event: the key, and behind it the value, in room that it returns. j has what e does
// not say.
func (s *Source) out(dst []byte, e *entry, j *event.Judge) (out feed.Out, room []byte, err error) {
	var number [20]byte
	key := strconv.AppendInt(number[:0], e.job, 10)
	if !s.o.Filter.Keep(s.db, DataType, e.kind, key) {
		return out, dst, nil
	}
	dst = event.AppendKey(dst, s.db, DataType, key)
	end := len(dst)
	j.Type, j.Submission, j.Generation, j.Attempt, j.Seq = string(e.kind), e.job, e.generation, e.attempt, e.id
	j.At = clock(e.at)
	var body [512]byte
	j.Body = appendBody(body[:0], e.data)
	if dst, err = s.encoder.AppendJudge(dst, j); err != nil {
		return out, dst, err
	}
	out.Keep, out.Key, out.Value = true, dst[:end:end], dst[end:]
	return out, dst, nil
}
