package judge

import (
	"bytes"
	"fmt"
	"strconv"
)

// Lane is the coarse order of the queue: a lower lane goes first. The zero Lane says none.
type Lane int16

// The lanes of a queue.
const (
	LaneStaff   Lane = iota + 1 // released by staff, or submitted to go first
	LaneRetry                   // gets another try after a failure of ours
	LaneNormal                  // an ordinary submission
	LaneRejudge                 // a single rejudge
	LaneBatch                   // a rejudge of many
)

// Lanes lists every lane, the first one first.
var Lanes = []Lane{LaneStaff, LaneRetry, LaneNormal, LaneRejudge, LaneBatch}

// Number is what PostgreSQL, the HTTP API and metrics call the lane: from 0 on.
func (l Lane) Number() int16 { return int16(l) - 1 }

// MarshalJSON writes the lane's number.
func (l Lane) MarshalJSON() ([]byte, error) { return l.MarshalText() }

// UnmarshalJSON reads what MarshalJSON writes, and a key of an object.
func (l *Lane) UnmarshalJSON(b []byte) error { return l.UnmarshalText(bytes.Trim(b, `"`)) }

// MarshalText writes the lane's number, as a key of a JSON object.
func (l Lane) MarshalText() ([]byte, error) {
	return strconv.AppendInt(nil, int64(l.Number()), 10), nil
}

// UnmarshalText reads what MarshalText writes.
func (l *Lane) UnmarshalText(text []byte) error {
	n, err := strconv.ParseInt(string(text), 10, 8)
	if err != nil {
		return fmt.Errorf("lane %q: %w", text, err)
	}
	return l.Scan(n)
}

// Scan reads the lane's number from the database.
func (l *Lane) Scan(from any) error {
	n, ok := from.(int64)
	if !ok || n < 0 || n >= int64(len(Lanes)) {
		return fmt.Errorf("there is no lane %v", from)
	}
	*l = Lanes[n]
	return nil
}
