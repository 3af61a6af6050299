package telemetry

import (
	"crypto/rand"
	"encoding/hex"
	"strconv"
	"strings"
)

// NewTraceID returns a random trace id as the W3C trace context writes it: 32
// lower-case hexadecimal digits, not all zero.
func NewTraceID() string { return randomHex(16) }

// NewSpanID returns a random span id: 16 lower-case hexadecimal digits, not all
// zero.
func NewSpanID() string { return randomHex(8) }

func randomHex(n int) string {
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails
	b[0] |= 1           // never all zero
	return hex.EncodeToString(b)
}

// ParseTraceparent returns the trace id and the caller's span id of a W3C
// traceparent header. ok is false when the header is missing or malformed; then
// the receiver begins a trace of its own.
func ParseTraceparent(header string) (traceID, spanID string, ok bool) {
	// version "-" trace-id "-" parent-id "-" flags; a later version may have
	// more fields, version ff is forbidden.
	parts := strings.Split(header, "-")
	if len(parts) < 4 || !isHex(parts[0], 2) || parts[0] == "ff" || parts[0] == "00" && len(parts) != 4 {
		return "", "", false
	}
	if !isHex(parts[1], 32) || !isHex(parts[2], 16) || !isHex(parts[3], 2) {
		return "", "", false
	}
	if strings.Trim(parts[1], "0") == "" || strings.Trim(parts[2], "0") == "" {
		return "", "", false
	}
	return parts[1], parts[2], true
}

// Traceparent returns the header that hands a trace on, as sampled.
func Traceparent(traceID, spanID string) string { return "00-" + traceID + "-" + spanID + "-01" }

// sampled reports whether a valid traceparent asks for the trace to be recorded.
func sampled(header string) bool {
	flags, err := strconv.ParseUint(strings.Split(header, "-")[3], 16, 8)
	return err == nil && flags&1 != 0
}

// isHex reports whether s is n lower-case hexadecimal digits.
func isHex(s string, n int) bool {
	return len(s) == n && strings.Trim(s, "0123456789abcdef") == ""
}
