package replica

import (
	"crypto/md5"
	"encoding/hex"
	"slices"
	"strings"
	"testing"

	"deepoj/host/feed/pikiwidb"
	"deepoj/host/feed/pikiwidb/mastertest"
	"deepoj/host/feed/pikiwidb/wire"
	"deepoj/host/feed/wal"
)

func sumOf(b []byte) string {
	sum := md5.Sum(b)
	return hex.EncodeToString(sum[:])
}

// Each item becomes the event that the contract has for it, or none.
func TestItemsBecomeEvents(t *testing.T) {
	t.Parallel()
	m := newMaster(t, mastertest.Options{})
	c := settings(t, m, map[string]string{
		"include_raw_resp": "true", "filter": `{deny: [{key: ["secret:*"]}, {command: [persist]}]}`,
	})
	s := newSource(t, c)
	for _, tt := range []struct {
		argv     string
		kind, op string // empty: no event
		raw      string
	}{
		{"set k v", "string", "set", "*3\r\n$3\r\nset\r\n$1\r\nk\r\n$1\r\nv\r\n"},
		{"pksetexat k 1795251979 v", "string", "pksetexat", "*4\r\n$5\r\nsetex\r\n$1\r\nk\r\n$2\r\n10\r\n$1\r\nv\r\n"},
		{"pksetexat k 0 v", "string", "pksetexat", "*3\r\n$3\r\nset\r\n$1\r\nk\r\n$1\r\nv\r\n"},
		{"RPOP l", "list", "rpop", "*2\r\n$4\r\nRPOP\r\n$1\r\nl\r\n"},
		{"hset h f v", "hash", "hset", ""},
		{"srem s m", "set", "srem", ""},
		{"zadd z 1 m", "zset", "zadd", ""},
		{"xadd x 1795251969431-0 f v", "stream", "xadd", ""},
		{"del k", "generic", "del", ""},
		{"expireat k 1795251979", "generic", "expireat", ""},
		{"flushdb", "generic", "flushdb", ""},
		{"persist k", "", "", ""},
		{"set secret:1 v", "", "", ""},
		{"padding 000", "", "", ""},
		{"sadd _internal:slotkey:4migrate:7 m", "", "", ""},
	} {
		item := wire.Command{Time: 1795251969, LogicID: 5, At: wal.Position{Filenum: 267, Offset: 100}}
		for w := range strings.FieldsSeq(tt.argv) {
			item.Argv = append(item.Argv, []byte(w))
		}
		raw := item.Append(nil)
		out, err := s.Event(nil, wal.Record{Seq: 1, Epoch: 11, Payload: raw})
		if err != nil || out.Keep != (tt.op != "") {
			t.Errorf("%s: kept %v, %v", tt.argv, out.Keep, err)
		}
		if !out.Keep {
			continue
		}
		clear(raw) // an event has nothing of the record
		got := read(t, out)
		if got.Type != "binlog" || got.Op != tt.op || got.DataType != tt.kind || got.ID != "0:267:100:5" || got.Epoch != 11 || got.TimeMS != 1795251969000 || out.Snapshot {
			t.Errorf("%s is %+v", tt.argv, got)
		}
		if tt.raw != "" && got.Raw != tt.raw {
			t.Errorf("%s is %q in the protocol of Redis", tt.argv, got.Raw)
		}
	}
	if _, err := s.Event(nil, wal.Record{Payload: []byte("no item")}); err == nil {
		t.Error("what is no item becomes an event")
	}
	if !s.Whole(wal.Record{}) {
		t.Error("an item is not whole")
	}
}

// What the filter drops is not read of a snapshot, and none of it comes; types and prefixes that are set are read alone.
func TestASnapshotReadsWhatTheFilterLetsThrough(t *testing.T) {
	t.Parallel()
	m := newMaster(t, mastertest.Options{Instances: 2})
	for _, key := range []string{"user:1", "user:secret", "page:1", "visit:1", "_internal:slotkey:4migrate:7"} {
		m.Do("db0", "set", key, "v")
	}
	for name, tt := range map[string]struct {
		more  map[string]string
		types pikiwidb.Types
		begin []string
		keys  []string
	}{
		"everything": {nil, pikiwidb.AllTypes, nil, []string{"page:1", "user:1", "user:secret", "visit:1"}},
		"by the filter": {
			map[string]string{"filter": `{allow: [{type: [string, hash], key: ["user:*", "page:*"]}], deny: [{key: ["*secret"]}]}`},
			1<<pikiwidb.String | 1<<pikiwidb.Hash,
			[]string{"page:", "user:"},
			[]string{"page:1", "user:1"},
		},
		"another database": {map[string]string{"filter": `{allow: [{db: [db1]}]}`}, 0, []string{}, nil},
		"other types":      {map[string]string{"snapshot_reader_types": "hash,zset"}, 1<<pikiwidb.Hash | 1<<pikiwidb.ZSet, nil, nil},
		"a prefix":         {map[string]string{"snapshot_reader_prefixes": "visit:"}, pikiwidb.AllTypes, []string{"visit:"}, []string{"visit:1"}},
		"no set command":   {map[string]string{"filter": `{deny: [{command: [set]}]}`}, pikiwidb.AllTypes, nil, nil},
	} {
		s := newSource(t, settings(t, m, tt.more))
		if s.read.Types != tt.types || !slices.Equal(s.read.Prefixes, tt.begin) || (s.read.Prefixes == nil) != (tt.begin == nil) {
			t.Errorf("%s: types %b and prefixes %q are read", name, s.read.Types, s.read.Prefixes)
		}
		r := board(t, s, fresh)
		r.upTo(r.plan.At)
		var keys []string
		for _, out := range r.snapshot {
			keys = append(keys, read(t, out).Key)
		}
		if slices.Sort(keys); !slices.Equal(keys, tt.keys) {
			t.Errorf("%s: %q come, want %q", name, keys, tt.keys)
		}
		r.end()
	}
}

// A large item comes whole, and small ones behind it.
func TestALargeItemComesWhole(t *testing.T) {
	t.Parallel()
	m := newMaster(t, mastertest.Options{Batch: 2})
	large := strings.Repeat("0123456789abcdef", 20<<20/16)
	m.Do("db0", "set", "large", large)
	end := fillMaster(m, "db0", 10)
	r := board(t, newSource(t, settings(t, m, nil)), has(origin))
	r.upTo(end)
	events := r.events()
	if got := read(t, events[0]); len(events) != 11 || got.Args[1] != large {
		t.Errorf("%d events of 11 items, the first with %d bytes", len(events), len(got.Args[1]))
	}
	waitFor(t, m, "all is acknowledged", func() bool { return m.Acknowledged("db0") == end })
}
