package judge

// Slot is a replication slot of the database, by which a change feed gets what happens. The server keeps its log for it.
type Slot struct {
	Name      string `json:"name"`
	Active    bool   `json:"active"`               // whether a feed is connected
	WALStatus string `json:"wal_status"`           // reserved, extended, unreserved, or lost
	Confirmed string `json:"confirmed_flush_lsn"`  // up to where the feed has everything; "" = nowhere yet
	Behind    int64  `json:"behind_bytes"`         // from there to the end of the log
	Retained  int64  `json:"retained_bytes"`       // of the log, kept because of the slot
	Room      *int64 `json:"room_bytes,omitempty"` // that may be written until the slot is lost; nil = max_slot_wal_keep_size has no bound
}

// FeedStatus is what a change feed says of itself. It is the answer of its address /status, of `deepoj feed status`, and
// what staff see.
type FeedStatus struct {
	Source      string    `json:"source"`                 // where it reads: HOST:PORT, and the name of a database of PostgreSQL
	Database    string    `json:"database,omitempty"`     // of PikiwiDB, each of which is a feed of its own
	State       string    `json:"state"`                  // stopped, starting, purged, snapshot, catch-up or streaming
	Epoch       uint32    `json:"epoch"`                  // the generation of its session with the source
	Durable     FeedPoint `json:"durable"`                // the end of what is safe in its own log
	Sent        FeedPoint `json:"sent"`                   // the end of what Kafka has, or the filter dropped
	Snapshot    uint64    `json:"snapshot_seq"`           // records of the newest snapshot that Kafka has
	Behind      uint64    `json:"behind_records"`         // records that are durable and not sent
	Lag         float64   `json:"lag_seconds"`            // for how long the oldest of them has been waiting
	LogBytes    int64     `json:"wal_bytes"`              // size of its write-ahead log
	LogMost     int64     `json:"wal_max_bytes"`          // its bound; 0 = the disk
	Full        bool      `json:"wal_full"`               // whether receiving stands still because of that bound
	DeadLetters uint64    `json:"dead_letters"`           // records that were too large for Kafka, since the feed began to run
	SourceError string    `json:"source_error,omitempty"` // why the source is not heard; "" = it is
	SinkError   string    `json:"sink_error,omitempty"`   // why Kafka takes nothing; "" = it does
	Why         string    `json:"why,omitempty"`          // why there is, or was, a new snapshot
}

// FeedPoint is a place in what a feed was told.
type FeedPoint struct {
	Seq      uint64 `json:"seq"`      // of the last record before it
	Position string `json:"position"` // of the source: an LSN, or FILE/OFFSET
}

// Well reports whether the feed runs and nothing keeps it from its work.
func (s FeedStatus) Well() bool {
	return s.State != FeedStopped && s.State != FeedStarting && s.State != FeedPurged && !s.Full && s.SourceError == "" && s.SinkError == ""
}

// States of a feed.
const (
	FeedStopped   = "stopped"   // it does not run
	FeedStarting  = "starting"  // the source was not reached yet
	FeedPurged    = "purged"    // the source does not have what follows any more, and a snapshot does not come yet
	FeedSnapshot  = "snapshot"  // what was there is being sent
	FeedCatchUp   = "catch-up"  // what happened meanwhile is being sent
	FeedStreaming = "streaming" // what happens is sent as it happens
)
