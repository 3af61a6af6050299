package replica

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"

	"deepoj/host/feed"
	"deepoj/host/feed/checkpoint"
	"deepoj/host/feed/pikiwidb/wire"
	"deepoj/host/feed/wal"
)

// Open reaches the master, finds out where the binlog goes on, and copies a dump if one is needed.
func (s *Source) Open(ctx context.Context, have feed.Have) (feed.Session, error) {
	c, err := s.connect(ctx)
	if err != nil {
		return nil, err
	}
	ss := &session{source: s, conn: c, epoch: have.Epoch, stop: make(chan struct{})}
	if err := ss.open(ctx, have); err != nil {
		_ = ss.Close()
		return nil, err
	}
	return ss, nil
}

func (ss *session) open(ctx context.Context, have feed.Have) error {
	meta, err := ss.greet(ctx)
	if err != nil {
		return err
	}
	ss.plan.System = checkpoint.System{ID: meta.ReplicationID}
	at, why, err := ss.from(ctx, have, meta)
	if err != nil {
		return err
	}
	if why == "" {
		if why, err = ss.goOn(ctx, at, have); err != nil {
			return err
		}
	}
	if why != "" {
		return ss.begin(ctx, at, why)
	}
	ss.plan.At = at
	return nil
}

// greet says who the replica is, and looks for its database.
func (ss *session) greet(ctx context.Context) (*wire.Meta, error) {
	s := ss.source
	a, err := ss.conn.ask(ctx, &wire.Request{Kind: wire.MetaSync, Password: s.password})
	if err != nil {
		return nil, fmt.Errorf("master_host=%s, master_port=%d: is this a PikiwiDB master? %w", s.host, s.port, err)
	}
	switch {
	case a.Code == wire.Error:
		return nil, &feed.FinalError{Err: fmt.Errorf("password: the master %s refuses the feed: %.200q. Set the password to its requirepass",
			s.events.Source.ID, a.Reply)}
	case a.Code != wire.OK:
		return nil, fmt.Errorf("the master %s does not take the feed now: %.200q", s.events.Source.ID, a.Reply)
	case a.Meta == nil:
		return nil, errors.New("the master answers MetaSync with nothing")
	}
	var names []string
	for _, db := range a.Meta.DBs {
		if db.Name == s.db {
			if db.Instances < 0 || db.Instances > maxInstances {
				return nil, fmt.Errorf("the master says that %s has %d instances", db.Name, db.Instances)
			}
			ss.instances = int(db.Instances)
			return a.Meta, nil
		}
		names = append(names, db.Name)
	}
	return nil, &feed.FinalError{Err: fmt.Errorf("dbs=%s: the master %s has no such database: name some of %.200q", s.db, s.events.Source.ID, names)}
}

const maxInstances = 1 << 10

// from returns where the binlog should go on, or why only a snapshot can tell.
func (ss *session) from(ctx context.Context, have feed.Have, meta *wire.Meta) (at wal.Position, why string, err error) {
	switch {
	case have.Fresh && have.Start.Given:
		return have.Start.Position, "", nil
	case have.Fresh && have.Start.FromMaster:
		at, err = ss.end(ctx)
		return at, "", err
	case have.Fresh:
		return at, "the feed has no position yet", nil
	}
	at = have.Ack.Position
	if have.Durable.Seq > 0 { // else the log is lost: the master still has it, or says that it does not
		at = have.Durable.Position
	}
	switch old := have.System; {
	case have.Snapshot.State == checkpoint.Running:
		return at, "the snapshot before was cut off", nil
	case old != nil && old.ID != "" && old.ID != meta.ReplicationID:
		return at, fmt.Sprintf("the master has other data: its replication_id was %s and is %s", bounded(old.ID), bounded(meta.ReplicationID)), nil
	case at == wal.Position{} && have.Ack.Seq == 0 && have.Durable.Seq == 0 && have.Snapshot.State == checkpoint.None:
		return at, "the feed has no position yet", nil
	}
	return at, "", nil
}

// bounded is a name that the master gave, for people.
func bounded(name string) string { return fmt.Sprintf("%.60q", name) }

// end asks where the master's binlog ends. A position behind every end is refused with it.
func (ss *session) end(ctx context.Context) (wal.Position, error) {
	t, err := ss.try(ctx, wal.Position{Filenum: math.MaxUint32})
	if err != nil {
		return wal.Position{}, err
	}
	if t.End == nil {
		return wal.Position{}, errors.New("start_from_master=true: the master does not say where its binlog ends")
	}
	return *t.End, nil
}

func (ss *session) try(ctx context.Context, at wal.Position) (*wire.Try, error) {
	a, err := ss.conn.ask(ctx, &wire.Request{Kind: wire.TrySync, DB: ss.source.db, At: at})
	switch {
	case err != nil:
		return nil, err
	case a.Code != wire.OK || a.Try == nil:
		return nil, fmt.Errorf("the master refuses the binlog at %s: %.200q", at, a.Reply)
	case a.Try.DB != ss.source.db:
		return nil, fmt.Errorf("the master answers for the database %s and not for %s", bounded(a.Try.DB), ss.source.db)
	}
	return a.Try, nil
}

// goOn asks for the binlog from a position on. If the master has it no more it says why a snapshot is needed.
func (ss *session) goOn(ctx context.Context, at wal.Position, have feed.Have) (why string, err error) {
	t, err := ss.try(ctx, at)
	if err != nil {
		return "", err
	}
	what, remedy := fmt.Sprintf("the feed has everything up to %s", at), "let the feed begin with a new snapshot: deepoj feed reset"
	if have.Fresh && have.Start.Given {
		what, remedy = fmt.Sprintf("filenum=%d, offset=%d", at.Filenum, at.Offset), "name where an item begins, or unset both for a snapshot"
	}
	end := "somewhere"
	if t.End != nil {
		end = "at " + t.End.String()
	}
	switch t.Verdict {
	case wire.Granted:
		return "", ss.stream(at, t.Session)
	case wire.Purged:
		return fmt.Sprintf("the master has purged its binlog at %s", at), nil
	case wire.Larger:
		return "", &feed.FinalError{Err: fmt.Errorf("%s, and the binlog of %s ends %s: the master was reset, or another one took over that lacks the rest: %s",
			what, ss.source.events.Source.ID, end, remedy)}
	case wire.Between:
	}
	return "", &feed.FinalError{Err: fmt.Errorf("%s, and the master %s, whose binlog ends %s, cannot go on there: no item of its binlog begins there: %s",
		what, ss.source.events.Source.ID, end, remedy)}
}

// begin has the master dump, copies the dump, and asks for the binlog from there on.
func (ss *session) begin(ctx context.Context, at wal.Position, why string) error {
	s := ss.source
	s.log.InfoContext(ctx, "the feed needs a snapshot", slog.String("db", s.db), slog.String("why", why))
	a, err := ss.conn.ask(ctx, &wire.Request{Kind: wire.DBSync, DB: s.db, At: at})
	switch {
	case err != nil:
		return err
	case a.Code != wire.OK || a.Dump == nil:
		return fmt.Errorf("the master makes no dump: %.200q", a.Reply)
	}
	ss.live(a.Dump.Session)
	if ss.dump, err = ss.fetch(ctx); err != nil {
		return err
	}
	from := wal.Position{Filenum: ss.dump.Info.Filenum, Offset: ss.dump.Info.Offset}
	ss.still.Lock()
	defer ss.still.Unlock()
	t, err := ss.try(ctx, from)
	if err != nil {
		return err
	}
	if t.Verdict != wire.Granted {
		return fmt.Errorf("the master's dump is of %s, and the master does not go on there (answer %d)", from, t.Verdict)
	}
	ss.plan.At, ss.plan.Snapshot, ss.plan.Why = from, true, why
	return ss.stream(from, t.Session)
}
