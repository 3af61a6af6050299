package pikiwidb

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"deepoj/host/feed/rocks/rockstest"
)

// unpack writes the dumps of a real master into a folder.
func unpack(tb testing.TB) string {
	tb.Helper()
	dir := tb.TempDir()
	if err := rockstest.Unpack(dir, "testdata/dumps.tar.zst"); err != nil {
		tb.Fatal(err)
	}
	return dir
}

// atDump is when the dumps were made.
var atDump = func() time.Time { return time.Date(2026, 11, 21, 9, 1, 0, 0, time.UTC) }

// all reads everything.
func all(mode Mode) Options {
	return Options{Mode: mode, Types: AllTypes, BatchNum: 7, Now: atDump, Progress: &Progress{}}
}

// golden is a line of what was read of a dump when its content was found equal to the live server's.
type golden struct {
	Op   string   `json:"op"`
	Key  string   `json:"k"`
	Args []string `json:"a"`
}

func (g golden) broken(t *testing.T) bool { return bytes.IndexByte(unhex(t, g.Key), 0) >= 0 }

func unhex(t *testing.T, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func goldens(t *testing.T, path string) (lines []golden) {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for d := json.NewDecoder(file); ; {
		var g golden
		if err := d.Decode(&g); errors.Is(err, io.EOF) {
			return lines
		} else if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, g)
	}
}

// read returns the records of the dump.
func read(tb testing.TB, dir string, options Options) []Record {
	tb.Helper()
	records, err := tryRead(tb.Context(), dir, options)
	if err != nil {
		tb.Fatal(err)
	}
	return records
}

func tryRead(ctx context.Context, dir string, options Options) (records []Record, err error) {
	d, err := Open(dir, 0)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	err = d.Read(ctx, options, func(r Record) error {
		records = append(records, r)
		return nil
	})
	return records, err
}

// commands puts the records of each key together, as one command of it and its time to live: "SET string k v",
// "EXPIRE string k 5". Records of a key that are not numbered as they come are none of it.
func commands(t *testing.T, records []Record) map[string]string {
	t.Helper()
	all, last := map[string]string{}, map[string]int{}
	parts := map[string]int{}
	for _, r := range records {
		parts[string(r.Key)+" "+r.Type.String()]++
	}
	for _, r := range records {
		key := string(r.Key) + " " + r.Type.String()
		last[key]++
		if want := last[key]; parts[key] == 1 && r.Part != 0 || parts[key] > 1 && r.Part != want {
			t.Errorf("record %d of %d of the %s has part %d", want, parts[key], key, r.Part)
		}
		op := string(r.Argv[0])
		name := op + " " + key
		if all[name] == "" || op == "XADD" {
			all[name] += name
		}
		if !bytes.Equal(r.Argv[1], r.Key) {
			t.Errorf("a record of %q writes %q", r.Key, r.Argv[1])
		}
		for _, arg := range r.Argv[2:] {
			all[name] += fmt.Sprintf(" %q", arg)
		}
	}
	return all
}

func sameCommands(t *testing.T, got, want map[string]string) {
	t.Helper()
	for name, command := range want {
		if got[name] != command {
			t.Fatalf("%s is\n%.300s\nand should be\n%.300s", name, got[name], command)
		}
	}
	for name := range got {
		if want[name] == "" {
			t.Fatalf("%s should not be there", name)
		}
	}
}

// Every key of the dumps of a real master is what the server answered for it, in both modes and all compressions;
// those that the master wrote wrong are reported.
func TestGoldenDumpsAreReadKeyByKey(t *testing.T) {
	root := unpack(t)
	for _, name := range []string{"snappy", "lz4", "zstd", "part"} {
		want, broken := map[string]string{}, 0
		for _, g := range goldens(t, filepath.Join(root, name+".jsonl")) {
			if g.broken(t) {
				broken++
				continue
			}
			kind := map[string]Type{"HMSET": Hash, "SADD": Set, "RPUSH": List, "ZADD": ZSet}[g.Op]
			command := fmt.Sprintf("%s %s %s", g.Op, unhex(t, g.Key), kind)
			want[command] = command
			for _, arg := range g.Args {
				want[command] += fmt.Sprintf(" %q", unhex(t, arg))
			}
		}
		if len(want) != 1542 {
			t.Fatalf("%s: %d keys are to be compared", name, len(want))
		}
		for _, mode := range []Mode{Single, ByType} {
			options, lost := all(mode), 0
			options.Damaged = func(d Damage) {
				if lost++; d.Type != String || string(d.Key) != "bin\x00" || !strings.Contains(d.Reason, "behind its last NUL, are lost") {
					t.Errorf("%s: %+v is reported", name, d)
				}
			}
			got := commands(t, read(t, filepath.Join(root, name), options))
			for n := range 400 { // every 11th list was given 100,000 s
				command := fmt.Sprintf("EXPIRE l:%d list", n)
				if n%11 != 0 {
					continue
				}
				var left int
				if _, err := fmt.Sscanf(got[command], command+" \"%d\"", &left); err != nil || left < 99_800 || left > 100_000 {
					t.Errorf("%s: list %d expires as %q", name, n, got[command])
				}
				delete(got, command)
			}
			sameCommands(t, got, want)
			p := options.Progress
			if keys, damaged := p.Keys.Load(), p.Damaged.Load(); keys != 1542 || damaged != int64(broken) || lost != broken || broken < 30 {
				t.Errorf("%s: %d keys, %d damaged and %d reported; %d should be", name, keys, damaged, lost, broken)
			}
		}
	}
}

// Entries of streams, whose lengths and fields were read off the tables with RocksDB's own tool.
func TestGoldenStreamsAreRead(t *testing.T) {
	dir := filepath.Join(unpack(t), "stream")
	for _, mode := range []Mode{Single, ByType} {
		sameCommands(t, commands(t, read(t, dir, all(mode))), map[string]string{
			"XADD st1 stream": `XADD st1 stream "1795251969431-0" "f" "v"`,
			"XADD st2 stream": `XADD st2 stream "1795251969449-0" "z" "y"`,
			"XADD st3 stream": `XADD st3 stream "1795251969474-0" "q" "1"`,
		})
	}
}
