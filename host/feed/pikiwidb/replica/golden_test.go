package replica

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"deepoj/host/feed"
	"deepoj/host/feed/pikiwidb/mastertest"
	"deepoj/host/feed/rocks/rockstest"
	"deepoj/host/feed/wal"
)

// The dumps of a real master, handed out, copied, read and sent by the engine as lines, are key by key what the server
// answered; and the stream goes on behind them.
func TestGoldenDumpsGoThroughTheWholeFeed(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	if err := rockstest.Unpack(root, "../testdata/dumps.tar.zst"); err != nil {
		t.Fatal(err)
	}
	for name, mode := range map[string]string{"snappy": "single", "lz4": "type", "zstd": "single", "part": "type"} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(root, name)
			m := newMaster(t, mastertest.Options{
				Instances: 3, Start: positionOf(t, dir), Dump: func(to, _ string, _ wal.Position) error { return os.CopyFS(to, os.DirFS(dir)) },
			})
			c := settings(t, m, map[string]string{"args_encoding": "base64", "batch_num": "7", "snapshot_reader_mode": mode})
			s := newSource(t, c)
			s.read.Now = func() time.Time { return time.Date(2026, 11, 21, 9, 1, 0, 0, time.UTC) } // when they were made
			o, err := options(c, s)
			if err != nil {
				t.Fatal(err)
			}
			f, err := feed.New(o)
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan error, 1)
			go func() { done <- f.Run(ctx) }()
			waitFor(t, m, "the feed has a session", func() bool { return m.Count("DBSync") > 0 })
			end := m.Do("db0", "set", "behind", "the dump")
			for tick := time.NewTicker(5 * time.Millisecond); f.Status().Ack.Compare(end) < 0; <-tick.C {
				if t.Context().Err() != nil {
					t.Fatalf("%+v", f.Status())
				}
			}
			cancel()
			if err := <-done; err != nil {
				t.Fatal(err)
			}
			compareGolden(t, filepath.Join(root, name+".jsonl"), c.SinkPath)
		})
	}
}

func positionOf(t *testing.T, dir string) (at wal.Position) {
	t.Helper()
	info, err := os.ReadFile(filepath.Join(dir, "info"))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(info), "\n")
	_, err = fmt.Sscan(lines[3]+" "+lines[4], &at.Filenum, &at.Offset)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// compareGolden compares lines of events with what a real server answered, key by key.
func compareGolden(t *testing.T, expected, got string) {
	t.Helper()
	want, has := map[string]string{}, map[string]string{}
	eachLine(t, expected, func(line []byte) {
		var g struct {
			Op, K string
			A     []string
		}
		if err := json.Unmarshal(line, &g); err != nil {
			t.Fatal(err)
		}
		key, err := hex.DecodeString(g.K)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.IndexByte(key, 0) >= 0 {
			return // the master has written those wrong
		}
		want[strings.ToLower(g.Op)+" "+string(key)] = strings.Join(g.A, " ")
	})
	var types []string
	eachLine(t, got, func(line []byte) {
		var e said
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatal(err)
		}
		if len(types) == 0 || types[len(types)-1] != e.Type {
			types = append(types, e.Type)
		}
		if e.Type != "snapshot" || e.Op == "expire" {
			return
		}
		name := e.Op + " " + e.Key
		for _, a := range e.Args[1:] {
			raw, err := base64.StdEncoding.DecodeString(a)
			if err != nil {
				t.Fatal(err)
			}
			if has[name] != "" {
				has[name] += " "
			}
			has[name] += hex.EncodeToString(raw)
		}
	})
	if order := strings.Join(types, " "); order != "snapshot_begin snapshot snapshot_end binlog" {
		t.Errorf("there are %s", order)
	}
	if len(want) != 1542 || len(has) != len(want) {
		t.Errorf("%d keys come, want %d", len(has), len(want))
	}
	for name, args := range want {
		if has[name] != args {
			t.Fatalf("%s is\n%.300s\nand should be\n%.300s", name, has[name], args)
		}
	}
}

func eachLine(t *testing.T, path string, do func([]byte)) {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(content) {
		do(line)
	}
}
