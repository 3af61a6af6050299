package replica

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"deepoj/host/feed/pikiwidb/mastertest"
	"deepoj/host/feed/pikiwidb/wire"
	"deepoj/host/feed/wal"
)

// What a master sends that cannot be is refused before any of it is in the log.
func TestWhatAMasterSendsWronglyNeverReachesTheLog(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer func(*wire.Answer)
		want   string
	}{
		"another session":  {func(a *wire.Answer) { a.Items[1].Session++ }, "an item of session"},
		"another database": {func(a *wire.Answer) { a.Items[1].DB = []byte("db9") }, `an item of the database "db9" for db0`},
		"backwards":        {func(a *wire.Answer) { a.Items[1].Next = a.Items[0].Next }, "an item that ends at"},
		"before the start": {func(a *wire.Answer) { a.Items[0].Next = wal.Position{} }, "an item that ends at 0/0"},
		"an error":         {func(a *wire.Answer) { a.Code, a.Reply = wire.Error, "no" }, `BinlogSync with the code 2: "no"`},
		"no item":          {func(a *wire.Answer) { a.Items[1].Binlog = []byte("x") }, "an item of the binlog has 1 bytes"},
		"another message":  {func(a *wire.Answer) { *a = wire.Answer{Kind: wire.MetaSync, Code: wire.OK} }, "MetaSync with the code 1"},
	} {
		m := newMaster(t, mastertest.Options{})
		fillMaster(m, "db0", 3)
		m.Break(func(f *mastertest.Faults) {
			f.Answer = func(a *wire.Answer) {
				if a.Kind == wire.BinlogSync && len(a.Items) == 3 {
					c.answer(a)
				}
			}
		})
		r := board(t, newSource(t, settings(t, m, nil)), has(origin))
		if err := r.failure(); !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
		if n := r.log.Last().Seq; n != 0 {
			t.Errorf("%s: %d records are in the log", name, n)
		}
	}
}

// A dump is copied whole or not at all: one that is replaced meanwhile starts over, and what is wrong with it is told.
func TestADumpIsCopiedWholeOrNotAtAll(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fault func(*mastertest.Faults)
		want  string // empty: it succeeds
	}{
		"being made": {func(f *mastertest.Faults) { f.DumpBusy = 5 }, ""},
		"replaced":   {func(f *mastertest.Faults) { f.Replace = 4 }, ""},
		"replaced again and again": {func(f *mastertest.Faults) {
			n := 0
			f.Copy = func(a *wire.CopyAnswer) {
				if n++; a.Kind == wire.Part {
					a.UUID = fmt.Sprint(n)
				}
			}
		}, "the master has made another dump while this one was copied"},
		"an info of another": {func(f *mastertest.Faults) {
			f.Copy = func(a *wire.CopyAnswer) { a.UUID = strings.Repeat("0", 32) }
		}, "its info is not that of"},
		"a file elsewhere":        {func(f *mastertest.Faults) { f.File = "../../escaped" }, `a file "../../escaped", which is no name in its folder`},
		"a file at the root":      {func(f *mastertest.Faults) { f.File = "/tmp/escaped" }, "which is no name in its folder"},
		"a file that winds":       {func(f *mastertest.Faults) { f.File = "0/./x" }, "which is no name in its folder"},
		"a file twice":            {func(f *mastertest.Faults) { f.File = "info" }, `the file "info" twice`},
		"a file that is not":      {func(f *mastertest.Faults) { f.File = "0/missing.sst" }, "file 0/missing.sst: the master does not hand it out"},
		"no info":                 {func(f *mastertest.Faults) { f.Copy = func(a *wire.CopyAnswer) { a.Files = a.Files[:0] } }, "has no file info"},
		"another part":            {chunk(func(c *wire.Chunk) { c.Offset++ }), "byte 0 was asked for, and the master sends byte 1"},
		"another file":            {chunk(func(c *wire.Chunk) { c.File = "x" }), `sends byte 0 of "x"`},
		"less than it says":       {chunk(func(c *wire.Chunk) { c.Count++ }), "the master says that it sends"},
		"nothing, and on":         {chunk(func(c *wire.Chunk) { c.Data, c.Count, c.End = nil, 0, false }), "the master sends nothing"},
		"a checksum that matches": {chunk(func(c *wire.Chunk) { c.Sum = sumOf(c.Data) }), ""},
		"a checksum that does not": {
			chunk(func(c *wire.Chunk) { c.Sum = sumOf(append(c.Data, 'x')) }),
			"does not match its checksum",
		},
		"another database": {func(f *mastertest.Faults) { f.Copy = func(a *wire.CopyAnswer) { a.DB = "db9" } }, `answers for the database "db9"`},
		"a flipped byte": {chunk(func(c *wire.Chunk) {
			if strings.HasSuffix(c.File, "MANIFEST-000001") {
				c.Data[9] ^= 1
			}
		}), "dump_dir: "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newMaster(t, mastertest.Options{Instances: 2})
			end := fillMaster(m, "db0", 300)
			m.Break(c.fault)
			s := newSource(t, settings(t, m, nil))
			if c.want != "" {
				err, final := refused(t, s, fresh)
				if !strings.Contains(err.Error(), c.want) || final {
					t.Errorf("%v (final %v), want %q", err, final, c.want)
				}
				if found, _ := filepath.Glob(filepath.Join(filepath.Dir(filepath.Dir(s.dir)), "escaped*")); found != nil {
					t.Errorf("files outside of the folder: %q", found)
				}
				m.Break(func(f *mastertest.Faults) { *f = mastertest.Faults{} })
			}
			r := board(t, s, fresh) // what a failed copy has left is no hindrance
			r.upTo(end)
			if got, want := r.content(), m.Content("db0"); !maps.Equal(got, want) {
				t.Errorf("a consumer has %d keys and the master %d, or others", len(got), len(want))
			}
		})
	}
}

func chunk(change func(*wire.Chunk)) func(*mastertest.Faults) {
	return func(f *mastertest.Faults) {
		f.Copy = func(a *wire.CopyAnswer) {
			if a.Chunk != nil {
				change(a.Chunk)
			}
		}
	}
}

// A folder with something of others in it is not emptied for a dump.
func TestAFolderOfOthersIsLeftAlone(t *testing.T) {
	t.Parallel()
	m := newMaster(t, mastertest.Options{})
	fillMaster(m, "db0", 3)
	s := newSource(t, settings(t, m, nil))
	precious := filepath.Join(s.dir, "precious")
	if err := errors.Join(os.MkdirAll(s.dir, 0o700), os.WriteFile(precious, []byte("x"), 0o600)); err != nil {
		t.Fatal(err)
	}
	err, final := refused(t, s, fresh)
	if !final || !strings.Contains(err.Error(), "empty it, or name another folder") || !strings.Contains(err.Error(), s.dir) {
		t.Errorf("%v (final %v)", err, final)
	}
	if _, err := os.Stat(precious); err != nil {
		t.Error(err)
	}
}

// A connection that breaks while a dump is copied ends the copy at once, and so does the end of the feed.
func TestACopyEndsWithItsSession(t *testing.T) {
	t.Parallel()
	m := newMaster(t, mastertest.Options{})
	fillMaster(m, "db0", 3)
	m.Break(func(f *mastertest.Faults) { f.DumpBusy = 1 << 30 })
	s := newSource(t, settings(t, m, nil))
	s.again = time.Hour
	go func() {
		_ = m.Until(t.Context().Done(), func() bool { return m.Count("ping") > 3 })
		m.Cut()
	}()
	if err, final := refused(t, s, fresh); !strings.Contains(err.Error(), "the master has closed the connection") &&
		!strings.Contains(err.Error(), "read what the master says") || final {
		t.Errorf("a broken connection: %v", err)
	}
}
