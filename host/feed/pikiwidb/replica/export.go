package replica

import (
	"context"
	"encoding/base64"
	"errors"
	"log/slog"
	"strconv"
	"unicode/utf8"

	"deepoj/host/feed"
	"deepoj/host/feed/event"
	"deepoj/host/feed/pikiwidb"
)

// damagesTold is how many keys that a dump holds wrong are named in the log; the rest is counted.
const damagesTold = 20

// Snapshot hands over what the dump has, and removes the dump from the disk.
func (ss *session) Snapshot(ctx context.Context, emit func(feed.Out) error) error {
	if ss.dump == nil {
		return errors.New("no snapshot was planned")
	}
	s, options, told := ss.source, ss.source.read, 0
	options.Progress = &pikiwidb.Progress{}
	options.Damaged = func(d pikiwidb.Damage) {
		if told++; told <= damagesTold {
			s.log.WarnContext(ctx, "a key that the master's storage does not hold right is not in the snapshot", slog.String("db", s.db),
				slog.String("type", d.Type.String()), slog.String("key", strconv.Quote(string(d.Key))), slog.String("reason", d.Reason))
		}
	}
	var dst []byte
	err := ss.dump.Read(ctx, options, func(r pikiwidb.Record) error {
		kind := r.Type.String()
		if !s.filter.Keep(s.db, kind, r.Argv[0], r.Key) {
			return nil
		}
		batch := r.Part
		if batch == 0 {
			batch = -1
		}
		dst = event.AppendKey(dst[:0], s.db, kind, r.Key)
		at := len(dst)
		dst = s.events.AppendSnapshot(dst, &event.Command{
			Epoch: ss.epoch, DB: s.db, Type: kind, Key: r.Key, Argv: r.Argv, TimeMS: options.Now().UnixMilli(),
		}, batch)
		return emit(feed.Out{Keep: true, Snapshot: true, Key: dst[:at:at], Value: dst[at:], ID: snapshotID(s.db, kind, r.Key, r.Part)})
	})
	if err != nil {
		return err
	}
	s.log.InfoContext(ctx, "the snapshot is read", slog.String("db", s.db), slog.Int64("keys", options.Progress.Keys.Load()),
		slog.Int64("records", options.Progress.Records.Load()), slog.Int64("expired", options.Progress.Expired.Load()),
		slog.Int64("damaged", options.Progress.Damaged.Load()))
	ss.dump.Close()
	ss.dump = nil
	s.discard()
	return nil
}

// snapshotID is the event_id of a record.
func snapshotID(db, kind string, key []byte, part int) string {
	id := "snapshot:" + db + ":" + kind + ":"
	if utf8.Valid(key) {
		id += string(key)
	} else {
		id += base64.StdEncoding.EncodeToString(key)
	}
	if part > 0 {
		id += ":" + strconv.Itoa(part)
	}
	return id
}
