package checkpoint

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"deepoj/host/feed/wal"
)

const golden = `{"version":1,"source_id":"10.0.0.1:9221","epoch":11,"ack_cp":{"seq":82226,"filenum":267,"offset":76760742},` +
	`"durable_cp":{"seq":82447,"filenum":267,"offset":76836081,"wal_segment":1,"wal_offset":33084480},` +
	`"snapshot":{"state":"done","bgsave_end_file_num":267,"bgsave_end_offset":45044585,"snapshot_seq":57102467}}`

var example = Checkpoint{
	Version: 1, SourceID: "10.0.0.1:9221", Epoch: 11,
	Ack:      Ack{Seq: 82226, Position: wal.Position{Filenum: 267, Offset: 76760742}},
	Durable:  Durable{Seq: 82447, Position: wal.Position{Filenum: 267, Offset: 76836081}, WALSegment: 1, WALOffset: 33084480},
	Snapshot: Snapshot{State: Done, BgsaveEndFileNum: 267, BgsaveEndOffset: 45044585, SnapshotSeq: 57102467},
}

func TestTheFileIsTheContract(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "deep", "checkpoint.json")
	if c, found, err := Load(path, "10.0.0.1:9221"); err != nil || found || c.Snapshot.State != None || c.SourceID != "10.0.0.1:9221" {
		t.Errorf("without a file it is %+v, %t, %v", c, found, err)
	}
	for range 2 {
		if err := example.Save(path); err != nil {
			t.Fatal(err)
		}
	}
	if b, err := os.ReadFile(path); err != nil || string(b) != golden+"\n" {
		t.Errorf("the file has\n%s, want\n%s", b, golden)
	}
	if c, found, err := Load(path, "10.0.0.1:9221"); err != nil || !found || !reflect.DeepEqual(c, example) {
		t.Errorf("it is read as %+v, %t, %v", c, found, err)
	}
	if left, err := os.ReadDir(filepath.Dir(path)); err != nil || len(left) != 1 {
		t.Errorf("the folder has %v, %v", left, err)
	}
	index := uint32(0)
	sql := example
	sql.Ack.Index, sql.System = &index, &System{ID: "7570000000000000001", Timeline: 1}
	if err := sql.Save(path); err != nil {
		t.Fatal(err)
	}
	if b, _ := os.ReadFile(path); !strings.Contains(string(b), `"ack_cp":{"seq":82226,"filenum":267,"offset":76760742,"index":0}`) {
		t.Errorf("a first index is left out: %s", b)
	}
	if c, _, err := Load(path, "10.0.0.1:9221"); err != nil || !reflect.DeepEqual(c, sql) {
		t.Errorf("it is read as %+v, %v", c, err)
	}
}

func TestACheckpointThatIsNotOursIsRefusedAndLeftAlone(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ content, want string }{
		"of another source":    {strings.Replace(golden, "10.0.0.1:9221", "10.0.0.2:9221", 1), "the file is of source 10.0.0.2:9221"},
		"empty":                {"", "unexpected end of JSON input"},
		"cut short":            {golden[:200], "unexpected end of JSON input"},
		"no JSON":              {"PWAL", "invalid character"},
		"of another version":   {strings.Replace(golden, `"version":1`, `"version":2`, 1), "version 2, and this program reads version 1"},
		"of no version":        {`{}`, "version 0, and this program reads version 1"},
		"with more than it is": {golden + golden, "invalid character"},
		"with a strange field": {strings.Replace(golden, `"epoch"`, `"epoche"`, 1), `unknown field "epoche"`},
		"of a strange state":   {strings.Replace(golden, `"done"`, `"half"`, 1), `snapshot.state="half": must be one of none, running, done`},
		"with a negative seq":  {strings.Replace(golden, `82226`, `-1`, 1), "cannot unmarshal number -1"},
		"negative in the log":  {strings.Replace(golden, `33084480`, `-1`, 1), "durable_cp.wal_offset=-1 is negative"},
		"endless":              {strings.Repeat(" ", most+1) + golden, "more than 65536 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "checkpoint.json")
			if err := os.WriteFile(path, []byte(tt.content), 0o600); err != nil {
				t.Fatal(err)
			}
			c, found, err := Load(path, "10.0.0.1:9221")
			if err == nil || found || !reflect.DeepEqual(c, Checkpoint{}) {
				t.Fatalf("it is read as %+v, %t, %v", c, found, err)
			}
			for _, want := range []string{tt.want, path, "10.0.0.1:9221", "deepoj feed reset"} {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q does not say %q", err, want)
				}
			}
			if b, _ := os.ReadFile(path); string(b) != tt.content {
				t.Error("the file was changed")
			}
		})
	}
	if _, _, err := Load(t.TempDir(), "x"); err == nil {
		t.Error("a folder is read")
	}
	if err := example.Save("/dev/null/checkpoint.json"); err == nil || !strings.Contains(err.Error(), "checkpoint_path=/dev/null/checkpoint.json") {
		t.Errorf("it cannot be saved, and says %v", err)
	}
}

func TestChangesAreSavedInTheirTimeAndNotOneByOne(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		k := NewKeeper("", example)
		type saved struct {
			after time.Duration
			seq   uint64
		}
		var got []saved
		begin := time.Now()
		k.save = func(c Checkpoint) error {
			got = append(got, saved{time.Since(begin), c.Ack.Seq})
			return nil
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- k.Run(ctx) }()
		to := func(seq uint64) func(*Checkpoint) { return func(c *Checkpoint) { c.Ack.Seq = seq } }
		at := func(d time.Duration) { time.Sleep(d - time.Since(begin)); synctest.Wait() }
		k.Filtered(to(1))
		at(50 * time.Millisecond)
		k.Filtered(to(2)) // one file at 500 ms for both
		at(time.Second)
		for seq := range uint64(20) { // one at 1,100 ms
			k.Delivered(to(seq + 3))
		}
		at(1050 * time.Millisecond)
		k.Filtered(to(23)) // with it
		at(2 * time.Second)
		k.Filtered(to(24))
		at(2010 * time.Millisecond)
		k.Delivered(to(25)) // at 2,110 ms, earlier than what waits
		at(3 * time.Second)
		if err := k.Commit(to(26)); err != nil || k.Now().Ack.Seq != 26 {
			t.Error(err, k.Now())
		}
		at(4 * time.Second)
		k.Filtered(to(27)) // at the end
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		want := []saved{{500 * time.Millisecond, 2}, {1100 * time.Millisecond, 23}, {2110 * time.Millisecond, 25}, {3 * time.Second, 26}, {4 * time.Second, 27}}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("saved %v, want %v", got, want)
		}
	})
}

func TestADiskThatFailsEndsTheKeeper(t *testing.T) {
	t.Parallel()
	k := NewKeeper(filepath.Join(t.TempDir(), "checkpoint.json"), example)
	broken := errors.New("no space")
	k.save = func(Checkpoint) error { return broken }
	k.Delivered(func(*Checkpoint) {})
	if err := k.Run(t.Context()); !errors.Is(err, broken) {
		t.Errorf("it ends with %v", err)
	}
	if err := k.Commit(func(*Checkpoint) {}); !errors.Is(err, broken) {
		t.Errorf("a commit says %v", err)
	}
}

func TestAFullDiskIsTriedAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		k := NewKeeper("", example)
		tries := 0
		k.save = func(Checkpoint) error {
			if tries++; tries < 4 {
				return &os.PathError{Op: "write", Path: "checkpoint.json", Err: syscall.ENOSPC}
			}
			return nil
		}
		saved := make(chan Checkpoint, 1)
		k.Saved = func(c Checkpoint) { saved <- c }
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- k.Run(ctx) }()
		k.Delivered(func(c *Checkpoint) { c.Ack.Seq = 77 })
		if c := <-saved; c.Ack.Seq != 77 || tries != 4 {
			t.Errorf("after %d tries %+v was saved", tries, c)
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// FuzzLoad takes any bytes for a file: what is accepted is saved and read as the same.
func FuzzLoad(f *testing.F) {
	f.Add([]byte(golden))
	f.Add([]byte(`{"version":1,"source_id":"10.0.0.1:9221","snapshot":{"state":"none"}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		path := filepath.Join(t.TempDir(), "checkpoint.json")
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		c, found, err := Load(path, "10.0.0.1:9221")
		if err != nil {
			return
		}
		if !found || !json.Valid(b) || c.SourceID != "10.0.0.1:9221" {
			t.Fatalf("%q is read as %+v, %t", b, c, found)
		}
		if err := c.Save(path); err != nil {
			t.Fatal(err)
		}
		if again, _, err := Load(path, "10.0.0.1:9221"); err != nil || !reflect.DeepEqual(again, c) {
			t.Fatalf("%+v is saved and read as %+v, %v", c, again, err)
		}
	})
}
