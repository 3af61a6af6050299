package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"
)

// ProtocolVersion is the version of the Judge JSON protocol.
const ProtocolVersion = 1

// Report is one line of the Judge JSON protocol. The fields from Status on
// repeat others under older names, or are additions; a reader ignores what it
// does not know.
type Report struct {
	SchemaVersion int     `json:"schema_version"` // ProtocolVersion
	JobID         int64   `json:"job_id"`
	AttemptID     int32   `json:"attempt_id"`
	Verdict       Verdict `json:"verdict"`
	TimeMillis    int64   `json:"time_ms"`       // CPU time, rounded up
	MemoryKiB     int64   `json:"mem_kb"`        // highest use
	ExitSignal    int     `json:"exit_signal"`   // 0 = none
	SandboxError  string  `json:"sandbox_error"` // "" = none

	Status     Verdict `json:"status"`      // as verdict
	TimeUsed   int64   `json:"time_used"`   // as time_ms
	MemoryUsed int64   `json:"memory_used"` // as mem_kb
	ExitCode   int     `json:"exit_code"`
	Error      string  `json:"error"` // as sandbox_error

	WallMillis  int64    `json:"wall_ms"`
	OOM         bool     `json:"oom"`
	StdoutBytes int64    `json:"stdout_bytes"`
	StderrBytes int64    `json:"stderr_bytes"`
	Driver      string   `json:"driver"`
	Degraded    []string `json:"degraded,omitempty"`
}

// NewReport returns the line for a result.
func NewReport(jobID int64, attemptID int32, r Result, degraded []string) Report {
	up := func(d time.Duration) int64 { return int64((d + time.Millisecond - 1) / time.Millisecond) }
	p := Report{
		SchemaVersion: ProtocolVersion, JobID: jobID, AttemptID: attemptID, Verdict: r.Verdict,
		TimeMillis: up(r.CPU), MemoryKiB: r.MemoryBytes >> 10, ExitSignal: r.Signal, SandboxError: r.Error,
		ExitCode: r.ExitCode, WallMillis: up(r.Wall), OOM: r.OOM, StdoutBytes: r.StdoutBytes, StderrBytes: r.StderrBytes,
		Driver: r.Driver, Degraded: degraded,
	}
	p.Status, p.TimeUsed, p.MemoryUsed, p.Error = p.Verdict, p.TimeMillis, p.MemoryKiB, p.SandboxError
	return p
}

// ProtocolError says why a line is refused. Its content goes nowhere.
type ProtocolError struct {
	// Reason is short and stable, for a metric: not_json, schema_version,
	// job_id, attempt_id, verdict or range.
	Reason string
	detail string
}

func (e *ProtocolError) Error() string { return "a line of the judge protocol: " + e.detail }

// The most that a line may claim.
const (
	maxLine      = 64 << 10
	maxReportMS  = int64(maxWall / time.Millisecond * maxCores)
	maxReportKiB = maxBytes >> 10
)

// ParseReport reads a line that was asked for with jobID and attemptID. The error
// is a [ProtocolError].
func ParseReport(line []byte, jobID int64, attemptID int32) (Report, error) {
	var p Report
	refuse := func(reason, format string, args ...any) (Report, error) {
		return Report{}, &ProtocolError{reason, fmt.Sprintf(format, args...)}
	}
	if len(line) > maxLine {
		return refuse("not_json", "it has %d bytes", len(line))
	}
	if err := json.Unmarshal(line, &p); err != nil {
		if kind, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			return refuse("range", "the field %s is a %s", kind.Field, kind.Value)
		}
		return refuse("not_json", "it is not JSON")
	}
	switch {
	case p.SchemaVersion != ProtocolVersion:
		return refuse("schema_version", "it has version %d", p.SchemaVersion)
	case p.JobID != jobID:
		return refuse("job_id", "it is about job %d and not %d", p.JobID, jobID)
	case p.AttemptID != attemptID:
		return refuse("attempt_id", "it is about attempt %d and not %d", p.AttemptID, attemptID)
	case !slices.Contains([]Verdict{OK, TLE, MLE, OLE, RE, SE}, p.Verdict):
		return refuse("verdict", "it has an unknown verdict")
	case p.TimeMillis < 0 || p.TimeMillis > maxReportMS || p.WallMillis < 0 || p.WallMillis > maxReportMS:
		return refuse("range", "it claims %d ms of CPU time and %d ms", p.TimeMillis, p.WallMillis)
	case p.MemoryKiB < 0 || p.MemoryKiB > maxReportKiB:
		return refuse("range", "it claims %d KiB", p.MemoryKiB)
	case p.ExitSignal < 0 || p.ExitSignal > 64 || p.ExitCode < 0 || p.ExitCode > 255:
		return refuse("range", "it claims signal %d and status %d", p.ExitSignal, p.ExitCode)
	case (p.Verdict == SE) != (p.SandboxError != ""):
		return refuse("verdict", "its verdict %s does not fit its error", p.Verdict)
	}
	return p, nil
}
