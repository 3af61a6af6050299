package queue

import (
	"encoding/hex"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"deepoj/host/judge"
)

// The fields of an entry. All but trace_id must be there.
const (
	fieldJob      = "job_id"
	fieldEnqueued = "enqueue_ts" // milliseconds since 1970
	fieldPayload  = "payload_ref"
	fieldPriority = "priority"
	fieldTrace    = "trace_id"
)

// fields is what a ticket looks like in the stream.
func fields(t judge.Ticket) []any {
	return []any{
		fieldJob, t.JobID, fieldEnqueued, t.Enqueued.UnixMilli(), fieldPayload, t.PayloadRef,
		fieldPriority, t.Priority, fieldTrace, t.TraceID,
	}
}

// parse reads an entry. A malformed one says so in Reason and names its job if
// it can.
func parse(m redis.XMessage) judge.Entry {
	e := judge.Entry{ID: m.ID}
	missing, invalid := false, false
	get := func(name string) string {
		v, ok := m.Values[name].(string)
		if !ok || v == "" {
			missing = true
		}
		return v
	}
	number := func(name string) int64 {
		v := get(name)
		if v == "" {
			return 0
		}
		n, err := strconv.ParseInt(v, 10, 64)
		if err != nil {
			invalid = true
			return 0
		}
		return n
	}
	e.JobID = number(fieldJob)
	invalid = invalid || e.JobID < 0
	e.Enqueued = time.UnixMilli(number(fieldEnqueued))
	e.Priority = int(number(fieldPriority))
	e.PayloadRef = get(fieldPayload)
	e.TraceID, _ = m.Values[fieldTrace].(string)
	switch {
	case missing:
		e.Reason = string(judge.ReasonMissingField)
	case invalid || e.JobID == 0 || !validRef(e.PayloadRef, e.JobID):
		e.Reason = string(judge.ReasonPayload)
	}
	return e
}

// validRef reports whether ref can name the payload of a job: pg:<job id> or
// sha256:<hex>.
func validRef(ref string, jobID int64) bool {
	kind, rest, _ := strings.Cut(ref, ":")
	switch kind {
	case "pg":
		return rest == strconv.FormatInt(jobID, 10)
	case "sha256":
		b, err := hex.DecodeString(rest)
		return err == nil && len(b) == 32
	default:
		return false
	}
}
