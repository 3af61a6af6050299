// Package event writes what goes to Kafka: one JSON document for each record, the same bytes whenever the same record is
// written again.
package event

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"time"
	"unicode/utf8"
)

// Encoding says how the arguments of commands become JSON, which knows no bytes.
type Encoding string

// The encodings.
const (
	UTF8   Encoding = "utf8"   // as they are; what is no UTF-8 becomes U+FFFD
	Base64 Encoding = "base64" // all of them
	Auto   Encoding = "auto"   // as they are where all of an event are UTF-8, else all in base64
)

// Source is where events come from.
type Source struct {
	ID, Host string
	Port     int
}

// Encoder writes events. It does not change, and may be shared.
type Encoder struct {
	Source   Source
	Encoding Encoding // as Auto if empty
	RawResp  bool     // with raw_resp
}

// Command is a command of PikiwiDB, of a snapshot or after it.
type Command struct {
	Epoch    uint32
	DB, Type string
	Key      []byte
	Argv     [][]byte // the name and the arguments
	TimeMS   int64
}

// Binlog is the head of an item in the binlog, which says where the item begins.
type Binlog struct {
	Filenum          uint32
	Offset, LogicID  uint64
	ServerID, TermID uint32
	ExecTime         uint32 // seconds
}

// AppendKey appends the key of a record in Kafka.
func AppendKey(dst []byte, db, dataType string, key []byte) []byte {
	dst = append(dst, db...)
	dst = append(dst, ':')
	dst = append(dst, dataType...)
	dst = append(dst, ':')
	return append(dst, key...)
}

// AppendSnapshot appends the event of a command that makes a key, or a part of it: batch is the number of the part, and
// negative when the key has no others.
func (e *Encoder) AppendSnapshot(dst []byte, c *Command, batch int) []byte {
	dst = e.appendCommand(append(dst, `{"event_type":"snapshot"`...), c, 0)
	dst = append(dst, `,"event_id":"snapshot:`...)
	dst = appendText(dst, c.DB)
	dst = append(dst, ':')
	dst = appendText(dst, c.Type)
	dst = append(dst, ':')
	dst = appendKeyText(dst, c.Key)
	if batch >= 0 {
		dst = append(dst, ':')
		dst = strconv.AppendInt(dst, int64(batch), 10)
	}
	dst = append(dst, '"')
	return append(e.appendSource(dst, c.Epoch), '}')
}

// AppendBinlog appends the event of a command that was received.
func (e *Encoder) AppendBinlog(dst []byte, c *Command, b Binlog) []byte {
	dst = e.appendCommand(append(dst, `{"event_type":"binlog"`...), c, b.ExecTime)
	dst = append(dst, `,"event_id":"`...)
	dst = strconv.AppendUint(dst, uint64(b.TermID), 10)
	dst = append(dst, ':')
	dst = strconv.AppendUint(dst, uint64(b.Filenum), 10)
	dst = append(dst, ':')
	dst = strconv.AppendUint(dst, b.Offset, 10)
	dst = append(dst, ':')
	dst = strconv.AppendUint(dst, b.LogicID, 10)
	dst = append(dst, '"')
	dst = e.appendSource(dst, c.Epoch)
	dst = appendUint(append(dst, `,"binlog":{`...), `"filenum":`, uint64(b.Filenum))
	dst = appendUint(dst, `,"offset":`, b.Offset)
	dst = appendUint(dst, `,"logic_id":`, b.LogicID)
	dst = appendUint(dst, `,"server_id":`, uint64(b.ServerID))
	dst = appendUint(dst, `,"term_id":`, uint64(b.TermID))
	return append(dst, `}}`...)
}

func appendUint(dst []byte, name string, v uint64) []byte {
	return strconv.AppendUint(append(dst, name...), v, 10)
}

// appendCommand appends what all events of commands have.
func (e *Encoder) appendCommand(dst []byte, c *Command, execTime uint32) []byte {
	dst = append(dst, `,"op":"`...)
	var args [][]byte
	if len(c.Argv) > 0 {
		dst = appendText(dst, bytes.ToLower(c.Argv[0]))
		args = c.Argv[1:]
	}
	dst = append(dst, `","data_type":"`...)
	dst = appendText(dst, c.Type)
	dst = append(dst, `","db":"`...)
	dst = appendText(dst, c.DB)
	dst = append(dst, `","slot":0,"key":"`...)
	dst = appendKeyText(dst, c.Key)
	dst = append(dst, '"')
	if !utf8.Valid(c.Key) {
		dst = append(dst, `,"key_encoding":"base64"`...)
	}
	in64 := e.base64(c.Argv)
	dst = append(dst, `,"args_encoding":"utf8","args":[`...)
	if in64 {
		dst = append(dst[:len(dst)-len(`utf8","args":[`)], `base64","args":[`...)
	}
	for i, a := range args {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, '"')
		dst = appendArg(dst, a, in64)
		dst = append(dst, '"')
	}
	dst = append(dst, ']')
	if e.RawResp {
		dst = append(dst, `,"raw_resp":"`...)
		dst = appendArg(dst, AppendResp(nil, c.Argv, execTime), in64)
		dst = append(dst, '"')
	}
	dst = append(dst, `,"ts_ms":`...)
	return strconv.AppendInt(dst, c.TimeMS, 10)
}

// base64 reports whether the arguments of an event are in base64.
func (e *Encoder) base64(argv [][]byte) bool {
	switch e.Encoding {
	case UTF8:
		return false
	case Base64:
		return true
	case Auto:
	}
	for _, a := range argv {
		if !utf8.Valid(a) {
			return true
		}
	}
	return false
}

func (e *Encoder) appendSource(dst []byte, epoch uint32) []byte {
	dst = append(dst, `,"source_id":"`...)
	dst = appendText(dst, e.Source.ID)
	dst = append(dst, `","source":{"host":"`...)
	dst = appendText(dst, e.Source.Host)
	dst = append(dst, `","port":`...)
	dst = strconv.AppendInt(dst, int64(e.Source.Port), 10)
	return appendUint(append(dst, '}'), `,"epoch":`, uint64(epoch))
}

// Marker is an event that a snapshot begins or ends with.
type Marker string

// The markers.
const (
	SnapshotBegin Marker = "snapshot_begin"
	SnapshotEnd   Marker = "snapshot_end"
)

// AppendMarker appends the event of a marker.
func (e *Encoder) AppendMarker(dst []byte, kind Marker, db string, epoch uint32, tsMS int64) []byte {
	dst = append(dst, `{"event_type":"`...)
	dst = append(dst, kind...)
	dst = append(dst, `","db":"`...)
	dst = appendText(dst, db)
	dst = append(dst, `","ts_ms":`...)
	dst = strconv.AppendInt(dst, tsMS, 10)
	dst = append(dst, `,"event_id":"`...)
	dst = append(dst, kind...)
	dst = append(dst, ':')
	dst = appendText(dst, db)
	dst = append(dst, ':')
	dst = strconv.AppendUint(dst, uint64(epoch), 10)
	dst = append(dst, '"')
	return append(e.appendSource(dst, epoch), '}')
}

// Judge is an event of a judge: a row of PostgreSQL.
type Judge struct {
	Epoch      uint32
	Type       string // of the row
	LSN        uint64 // of the commit
	Index      uint32 // within the transaction
	Submission int64
	Generation int32 // which judging of the submission
	Attempt    int32
	Seq        int64
	At         time.Time
	Audience   string // who may see it; empty = it is not said
	Body       []byte // a JSON document; nil = {}
	Snapshot   int64  // above 0: the event was there before, and has this number among those of the submission
}

// AppendJudge appends the event of a judge. It fails if the body is no JSON.
func (e *Encoder) AppendJudge(dst []byte, j *Judge) ([]byte, error) {
	start := len(dst)
	dst = append(dst, `{"event_type":"`...)
	dst = appendText(dst, j.Type)
	dst = append(dst, `","event_id":"`...)
	if j.Snapshot > 0 {
		dst = strconv.AppendInt(append(dst, `snapshot:`...), j.Submission, 10)
		dst = strconv.AppendInt(append(dst, ':'), j.Snapshot, 10)
	} else {
		dst = AppendLSN(dst, j.LSN)
		dst = append(dst, ':')
		dst = strconv.AppendUint(dst, uint64(j.Index), 10)
	}
	dst = append(dst, `","submission":`...)
	dst = strconv.AppendInt(dst, j.Submission, 10)
	dst = append(dst, `,"generation":`...)
	dst = strconv.AppendInt(dst, int64(j.Generation), 10)
	dst = append(dst, `,"attempt":`...)
	dst = strconv.AppendInt(dst, int64(j.Attempt), 10)
	dst = append(dst, `,"seq":`...)
	dst = strconv.AppendInt(dst, j.Seq, 10)
	dst = append(dst, `,"at":"`...)
	dst = j.At.UTC().AppendFormat(dst, time.RFC3339Nano)
	dst = append(dst, '"')
	if j.Audience != "" {
		dst = append(dst, `,"audience":"`...)
		dst = append(appendText(dst, j.Audience), '"')
	}
	dst = append(dst, `,"body":`...)
	switch {
	case len(j.Body) == 0:
		dst = append(dst, `{}`...)
	case !json.Valid(j.Body):
		return dst[:start], fmt.Errorf("the body of event %s is no JSON: %.80q", j.Type, j.Body)
	case bytes.ContainsAny(j.Body, "\n\r"): // an event is one line
		b := bytes.NewBuffer(dst)
		if err := json.Compact(b, j.Body); err != nil {
			return dst[:start], err
		}
		dst = b.Bytes()
	default:
		dst = append(dst, j.Body...)
	}
	return append(e.appendSource(dst, j.Epoch), '}'), nil
}

// AppendLSN appends a position as PostgreSQL prints it.
func AppendLSN(dst []byte, lsn uint64) []byte {
	const digits = "0123456789ABCDEF"
	hex := func(v uint32) {
		begin := 28
		for begin > 0 && v>>begin == 0 {
			begin -= 4
		}
		for ; begin >= 0; begin -= 4 {
			dst = append(dst, digits[v>>begin&15])
		}
	}
	hex(uint32(lsn >> 32))
	dst = append(dst, '/')
	hex(uint32(lsn))
	return dst
}
