// Package checkpoint keeps how far the feed has come in checkpoint.json, for the next start.
package checkpoint

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"deepoj/host/feed/wal"
)

// Version is that of the file.
const Version = 1

// most is how large a file is read; one has less than a thousand bytes.
const most = 64 << 10

// Ack is the end of what Kafka has acknowledged, or the filter dropped.
type Ack struct {
	Seq uint64 `json:"seq"`
	wal.Position

	Index *uint32 `json:"index,omitempty"` // within the transaction; PostgreSQL only
}

// Durable is the end of what was fsynced in the write-ahead log when the file was written. The log itself knows better.
type Durable struct {
	Seq uint64 `json:"seq"`
	wal.Position

	WALSegment uint32 `json:"wal_segment"`
	WALOffset  int64  `json:"wal_offset"`
}

// State is how far a snapshot has come.
type State string

// The states of a snapshot.
const (
	None    State = "none"    // it was not begun
	Running State = "running" // after a death it begins anew
	Done    State = "done"
)

// Snapshot says where the newest snapshot stands.
type Snapshot struct {
	State            State  `json:"state"`
	BgsaveEndFileNum uint32 `json:"bgsave_end_file_num"`
	BgsaveEndOffset  uint64 `json:"bgsave_end_offset"`
	SnapshotSeq      uint64 `json:"snapshot_seq"`

	// After and From are of one that is running: records of the log up to After came before it, those from From on
	// came while it ran, and what lies between came while earlier ones ran that did not come to their end.
	After uint64 `json:"after_seq,omitempty"`
	From  uint64 `json:"from_seq,omitempty"`
}

// System identifies the data that positions are of: another one needs a new snapshot.
type System struct {
	ID       string `json:"id"`                 // PostgreSQL's system_identifier, PikiwiDB's replication_id
	Timeline uint32 `json:"timeline,omitempty"` // PostgreSQL only
}

// Checkpoint is what the file says.
type Checkpoint struct {
	Version  int      `json:"version"`
	SourceID string   `json:"source_id"`
	Epoch    uint32   `json:"epoch"`
	Ack      Ack      `json:"ack_cp"`
	Durable  Durable  `json:"durable_cp"`
	Snapshot Snapshot `json:"snapshot"`
	System   *System  `json:"system,omitempty"`
}

// remedy completes each refusal.
const remedy = "nothing was changed; name another file as checkpoint_path, or let the feed begin with a new snapshot: deepoj feed reset"

// Load reads the checkpoint of a source from the file at path. There need not be one; a file that cannot be read, or
// that is of another source, is an error that names both.
func Load(path, sourceID string) (c Checkpoint, found bool, err error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Checkpoint{Version: Version, SourceID: sourceID, Snapshot: Snapshot{State: None}}, false, nil
	}
	refuse := func(format string, args ...any) (Checkpoint, bool, error) {
		return Checkpoint{}, false, fmt.Errorf("checkpoint_path=%s of source %s: %w: %s", path, sourceID, fmt.Errorf(format, args...), remedy)
	}
	if err != nil {
		return refuse("%w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if err != nil {
		return refuse("%w", err)
	}
	if len(data) > most {
		return refuse("the file has more than %d bytes", most)
	}
	var said struct {
		Version int `json:"version"`
	}
	if err := json.Unmarshal(data, &said); err != nil {
		return refuse("%w", err)
	}
	if said.Version != Version {
		return refuse("the file is of version %d, and this program reads version %d", said.Version, Version)
	}
	in := json.NewDecoder(bytes.NewReader(data))
	in.DisallowUnknownFields()
	if err := in.Decode(&c); err != nil {
		return refuse("%w", err)
	}
	if c.SourceID != sourceID {
		return refuse("the file is of source %s", c.SourceID)
	}
	if wrong := c.wrong(); wrong != "" {
		return refuse("%s", wrong)
	}
	return c, true, nil
}

// wrong says what cannot be so.
func (c Checkpoint) wrong() string {
	switch s := c.Snapshot.State; {
	case s != None && s != Running && s != Done:
		return fmt.Sprintf("snapshot.state=%q: must be one of none, running, done", s)
	case c.Durable.WALOffset < 0:
		return fmt.Sprintf("durable_cp.wal_offset=%d is negative", c.Durable.WALOffset)
	}
	return ""
}

// Save replaces the file at path: whoever reads it, whenever the machine dies, finds the old one or the new one.
func (c Checkpoint) Save(path string) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("checkpoint_path=%s: %w", path, err)
		}
	}()
	c.Version = Version
	data, err := json.Marshal(c)
	if err != nil {
		return err
	}
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, filepath.Base(path)+".*.tmp")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name())
		}
	}()
	_, err = f.Write(append(data, '\n'))
	if err == nil {
		err = f.Sync()
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}
