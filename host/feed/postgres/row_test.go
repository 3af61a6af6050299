package postgres

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"deepoj/host/feed"
	"deepoj/host/feed/checkpoint"
	"deepoj/host/feed/config"
	"deepoj/host/feed/filter"
	"deepoj/host/feed/wal"
)

func TestABodyHasWhatIsShownAndNothingElse(t *testing.T) {
	t.Parallel()
	for data, want := range map[string]string{
		``:                                  `{}`,
		`null`:                              `{}`,
		`[1]`:                               `{}`,
		`{}`:                                `{}`,
		`{"tries": 3, "set": 5}`:            `{}`,
		`{"worker": "w\"1,}", "tries": 3}`:  `{"worker":"w\"1,}"}`,
		`{"tries": {"by": "x"}, "by": "y"}`: `{"by":"y"}`,
		`{"score": 0, "total": 0, "why": "", "error": null, "verdict": "AC"}`:               `{"score":0,"verdict":"AC"}`,
		`{"test": {"index": 1, "name": "a]}", "x": [1, {"y": "\\"}]}, "a": 1, "total": 12}`: `{"test":{"index": 1, "name": "a]}", "x": [1, {"y": "\\"}]},"total":12}`,
		`{"worker": "w`:  `{}`,
		`{"worker" "w"}`: `{}`,
		`{"worker": }`:   `{}`,
	} {
		if got := string(appendBody([]byte("before"), []byte(data))); got != "before"+want {
			t.Errorf("of %s is shown %s, want %s", data, got, want)
		}
	}
}

func FuzzBody(f *testing.F) {
	f.Add([]byte(`{"worker": "w1", "tries": [1, {"a": "\\\""}], "score": 1e5, "test": {"index": 1}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		got := appendBody(nil, data)
		var all map[string]json.RawMessage
		if json.Unmarshal(data, &all) != nil || all == nil {
			return // PostgreSQL's jsonb is JSON
		}
		var some map[string]json.RawMessage
		if err := json.Unmarshal(got, &some); err != nil {
			t.Fatalf("of %q is shown %q: %v", data, got, err)
		}
		if bytes.ContainsRune(data, '\\') {
			return // names that are written otherwise are others here; PostgreSQL writes each in one way
		}
		maps.DeleteFunc(all, func(name string, v json.RawMessage) bool { return !isShown([]byte(name)) || empty([]byte(name), v) })
		if !slices.Equal(slices.Sorted(maps.Keys(all)), slices.Sorted(maps.Keys(some))) {
			t.Fatalf("of %q is shown %q", data, got)
		}
	})
}

// copied is what COPY sends of rows of nine NULLs and a text.
func copiedRows(texts ...string) []byte {
	b := append([]byte{}, copyBegins...)
	b = append(b, make([]byte, 8)...)
	for _, text := range texts {
		b = binary.BigEndian.AppendUint16(b, snapshotColumns)
		for range snapshotColumns - 1 {
			b = binary.BigEndian.AppendUint32(b, 0xffffffff)
		}
		b = binary.BigEndian.AppendUint32(b, uint32(len(text)))
		b = append(b, text...)
	}
	return binary.BigEndian.AppendUint16(b, 0xffff)
}

func TestRowsAreReadHoweverTheyAreCutIntoPieces(t *testing.T) {
	t.Parallel()
	want := []string{"one", "", strings.Repeat("three", 20)}
	whole := copiedRows(want...)
	for size := 1; size <= len(whole); size++ {
		var got []string
		c := copyReader{row: func(f []field) error {
			got = append(got, string(f[snapshotColumns-1]))
			return nil
		}}
		for p := range slices.Chunk(whole, size) {
			if err := c.add(p); err != nil {
				t.Fatalf("in pieces of %d: %v", size, err)
			}
		}
		if !c.done || !slices.Equal(got, want) {
			t.Fatalf("in pieces of %d: %q, done %v", size, got, c.done)
		}
	}
	for _, wrong := range [][]byte{[]byte("PGCOPY text format of some length"), append(append([]byte{}, whole[:19]...), 0, 3)} {
		if err := (&copyReader{}).add(wrong); err == nil {
			t.Errorf("%q was read", wrong)
		}
	}
}

func TestTransactionsAreDividedWithoutGap(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ first, end, parts uint64 }{{5, 6, 1}, {5, 6, 100}, {1, 1000, 7}, {1, 1000, 4096}, {10, 1 << 40, 3}} {
		got := divide(tt.first, tt.end, tt.parts)
		if got[0] != tt.first || got[len(got)-1] != tt.end || !slices.IsSorted(got) || uint64(len(got)-1) > tt.parts || len(slices.Compact(slices.Clone(got))) != len(got) {
			t.Errorf("%+v is divided at %v", tt, got)
		}
	}
}

func TestAnEventOfTheLogIsReadAsItWasWritten(t *testing.T) {
	t.Parallel()
	want := entry{id: 1 << 40, job: -3, generation: 2, attempt: 7, at: -5, kind: []byte("finished"), data: []byte(`{"a":1}`)}
	b := append(want.appendHead(nil, 9), want.data...)
	got, index, err := parseEntry(b)
	if fmt.Sprint(got) != fmt.Sprint(want) || index != 9 || err != nil {
		t.Errorf("%+v is read as %+v, %d, %v", want, got, index, err)
	}
	for n := range entryBytes + len(want.kind) {
		if _, _, err := parseEntry(b[:n]); err == nil {
			t.Errorf("%d bytes were read", n)
		}
	}
	s, err := New(Options{URL: "postgres://feed@host/deepoj"})
	if err != nil {
		t.Fatal(err)
	}
	for _, wrong := range []string{"", "1234", "1234X", "1234E"} {
		if _, err := s.Event(nil, wal.Record{Payload: []byte(wrong)}); err == nil {
			t.Errorf("%q became an event", wrong)
		}
	}
}

func TestAFilterKeepsKindsAndSubmissions(t *testing.T) {
	t.Parallel()
	f, err := filter.Compile(filter.Rules{Allow: []filter.Rule{{DB: []string{"deep*"}, Type: []string{DataType}, Command: []string{"finished"}, Key: []string{"4?"}}}})
	if err != nil {
		t.Fatal(err)
	}
	s, err := New(Options{URL: "postgres://feed:secret@host:5433/deepoj", ID: "host:5433/deepoj", Filter: f})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		kind string
		job  int64
		keep bool
	}{{"finished", 42, true}, {"claimed", 42, false}, {"finished", 142, false}} {
		e := entry{id: 5, job: tt.job, kind: []byte(tt.kind)}
		out, err := s.Event(nil, wal.Record{Position: wal.Position{Offset: 0x16_0000_00AB}, Payload: e.appendHead(nil, 3)})
		if err != nil || out.Keep != tt.keep {
			t.Errorf("%+v becomes %+v, %v", tt, out, err)
		}
		if out.Keep && (out.ID != "16/AB:3" || out.Index != 3 || !out.InTransaction || string(out.Key) != "deepoj:job:42" ||
			!strings.Contains(string(out.Value), `"source_id":"host:5433/deepoj","source":{"host":"host","port":5433}`)) {
			t.Errorf("%+v becomes %+v: %s %s", tt, out, out.Key, out.Value)
		}
	}
}

// Everything that a feed may have, and a server may be like, without a server.
func TestASnapshotIsOrderedOnlyWhereThePositionIsGone(t *testing.T) {
	t.Parallel()
	now := checkpoint.System{ID: "7", Timeline: 1}
	has := func(change func(h *feed.Have)) feed.Have {
		h := feed.Have{
			Epoch: 3, Durable: wal.Point{Seq: 9, Position: wal.Position{Offset: 500}}, Ack: checkpoint.Ack{Position: wal.Position{Offset: 400}},
			System: &now, Snapshot: checkpoint.Snapshot{State: checkpoint.Done},
		}
		if change != nil {
			change(&h)
		}
		return h
	}
	at := func(offset uint64) config.Start {
		return config.Start{Given: true, Position: wal.Position{Offset: offset}}
	}
	slotAt := func(confirmed uint64) slot { return slot{there: true, confirmed: confirmed} }
	for name, tt := range map[string]struct {
		have feed.Have
		slot slot
		at   uint64
		why  string
	}{
		"everything is there":               {has(nil), slotAt(500), 500, ""},
		"the source was told less":          {has(nil), slotAt(300), 500, ""},
		"the log has no record yet":         {has(func(h *feed.Have) { h.Durable = wal.Point{} }), slotAt(400), 400, ""},
		"nobody knows the system":           {has(func(h *feed.Have) { h.System = nil }), slotAt(500), 500, ""},
		"the log was deleted":               {has(func(h *feed.Have) { h.Durable = wal.Point{} }), slotAt(450), 0, "confirmed_flush_lsn 0/1C2 lies beyond 0/190"},
		"the slot is ahead":                 {has(nil), slotAt(501), 0, "lies beyond"},
		"no slot":                           {has(nil), slot{}, 0, "the slot is missing"},
		"a lost slot":                       {has(nil), slot{there: true, lost: true, confirmed: 500}, 0, "wal_status is lost"},
		"another system":                    {has(func(h *feed.Have) { h.System = &checkpoint.System{ID: "8", Timeline: 1} }), slotAt(500), 0, "system_identifier"},
		"another timeline":                  {has(func(h *feed.Have) { h.System = &checkpoint.System{ID: "7", Timeline: 2} }), slotAt(500), 0, "timeline 1 instead of 2"},
		"a snapshot that was cut off":       {has(func(h *feed.Have) { h.Snapshot.State = checkpoint.Running }), slotAt(500), 0, "was cut off"},
		"a server that went back":           {has(func(h *feed.Have) { h.Durable.Position.Offset = 1001 }), slotAt(500), 0, "the server is at 0/3E8, and was at 0/3E9"},
		"fresh, and a slot":                 {feed.Have{Fresh: true}, slotAt(500), 0, "nothing of what it has sent"},
		"fresh, and none":                   {feed.Have{Fresh: true}, slot{}, 0, "the slot is missing"},
		"fresh from the master":             {feed.Have{Fresh: true, Start: config.Start{FromMaster: true}}, slot{}, 0, ""},
		"fresh from a position":             {feed.Have{Fresh: true, Start: at(600)}, slotAt(500), 600, ""},
		"fresh from a position that passed": {feed.Have{Fresh: true, Start: at(499)}, slotAt(500), 0, "lies beyond"},
		"fresh from a position, no slot":    {feed.Have{Fresh: true, Start: at(600)}, slot{}, 0, "the slot is missing"},
	} {
		got, why, err := gate(tt.have, now, tt.slot, 1000)
		if err != nil || got != tt.at || (why == "") != (tt.why == "") || !strings.Contains(why, tt.why) {
			t.Errorf("%s: %d, %q, %v; want %d, %q", name, got, why, err, tt.at, tt.why)
		}
	}
	if _, _, err := gate(feed.Have{Fresh: true, Start: at(1001)}, now, slotAt(500), 1000); !isFinal(err) {
		t.Errorf("from a position that is not there yet: %v", err)
	}
}

func TestAnAddressThatMeansNothingIsRefused(t *testing.T) {
	t.Parallel()
	for _, url := range []string{"", "postgres://host:port/deepoj", "postgres://host/deepoj?sslmode=sometimes"} {
		if _, err := New(Options{URL: url}); !isFinal(err) || !strings.HasPrefix(err.Error(), "postgres_url") {
			t.Errorf("%q is %v", url, err)
		}
	}
}
