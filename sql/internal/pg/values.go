package pg

import (
	"encoding/json"
	"time"

	"github.com/jackc/pgx/v5/pgtype"
)

// Encode makes JSON that jsonb takes: PostgreSQL has no U+0000 in text.
func Encode(v any) ([]byte, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	for i := 0; i < len(data)-5; i++ {
		if data[i] != '\\' {
			continue
		}
		if string(data[i:i+6]) == `\u0000` {
			copy(data[i:], `\ufffd`)
		}
		i++ // what is escaped begins no escape
	}
	return data, nil
}

// Joined returns parts as one string, and where in it each ends. PostgreSQL finds the nth of many strings by counting
// from the first, and a driver's buffer grows by doubling.
func Joined(parts [][]byte) (whole []byte, ends []int32) {
	size := 0
	ends = make([]int32, len(parts))
	for i, p := range parts {
		size += len(p)
		ends[i] = int32(size)
	}
	whole = make([]byte, 0, size)
	for _, p := range parts {
		whole = append(whole, p...)
	}
	return whole, ends
}

// OrDefault is s, or otherwise if s is empty.
func OrDefault(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

// Interval is d, or otherwise if d is zero.
func Interval(d, otherwise time.Duration) pgtype.Interval {
	if d == 0 {
		d = otherwise
	}
	return pgtype.Interval{Microseconds: d.Microseconds(), Valid: true}
}
