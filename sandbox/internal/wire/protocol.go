package wire

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// ProtocolVersion is the version of the Judge JSON protocol.
const ProtocolVersion = 1

// Report is one line of the Judge JSON protocol. The fields from Status on repeat others under older names, or are
// additions; a reader ignores what it does not know.
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

	Unfit bool `json:"unfit"` // with SE: what was to be run is at fault, see Result.Unfit and UnfitError

	TimeMicros     int64 `json:"cpu_us"`      // as time_ms, but to the microsecond; 0 in lines from before it was there
	WallMillis     int64 `json:"wall_ms"`     // rounded up
	WallMicros     int64 `json:"wall_us"`     // likewise
	OverWall       bool  `json:"over_wall"`   // a TLE by the clock
	PressureMillis int64 `json:"pressure_ms"` // with over_wall: time that it waited for a CPU
	EndedNanos     int64 `json:"ended_ns"`    // on the machine's monotonic clock

	OOM         bool     `json:"oom"`
	StdoutBytes int64    `json:"stdout_bytes"`
	StderrBytes int64    `json:"stderr_bytes"`
	Driver      string   `json:"driver"`
	Degraded    []string `json:"degraded,omitempty"`
}

// up returns how many units d takes.
func up(d, unit time.Duration) int64 { return int64((d + unit - 1) / unit) }

// NewReport returns the line for a result.
func NewReport(jobID int64, attemptID int32, r Result, degraded []string) Report {
	p := Report{
		SchemaVersion: ProtocolVersion, JobID: jobID, AttemptID: attemptID, Verdict: r.Verdict,
		TimeMillis: up(r.CPU, time.Millisecond), MemoryKiB: r.MemoryBytes >> 10, ExitSignal: r.Signal, SandboxError: r.Error,
		ExitCode: r.ExitCode, WallMillis: up(r.Wall, time.Millisecond), OOM: r.OOM,
		StdoutBytes: r.StdoutBytes, StderrBytes: r.StderrBytes,
		OverWall: r.OverWall, PressureMillis: up(r.Pressure, time.Millisecond), EndedNanos: int64(r.Ended),
		Driver: r.Driver, Degraded: degraded, Unfit: r.Unfit,
		TimeMicros: up(r.CPU, time.Microsecond), WallMicros: up(r.Wall, time.Microsecond),
	}
	p.Status, p.TimeUsed, p.MemoryUsed, p.Error = p.Verdict, p.TimeMillis, p.MemoryKiB, p.SandboxError
	return p
}

// Line returns the report as a line of JSON, as package json would write it. The one-shot command writes one, and for
// one package json takes as long as the program that it is about: it first learns the type.
func (p Report) Line() []byte {
	b := make([]byte, 0, 1024)
	field := func(name string) {
		b = append(b, ',', '"')
		b = append(b, name...)
		b = append(b, '"', ':')
	}
	number := func(name string, n int64) { field(name); b = strconv.AppendInt(b, n, 10) }
	truth := func(name string, v bool) { field(name); b = strconv.AppendBool(b, v) }
	words := func(name, v string) { field(name); b = appendText(b, v) }
	number("schema_version", int64(p.SchemaVersion))
	b[0] = '{'
	number("job_id", p.JobID)
	number("attempt_id", int64(p.AttemptID))
	words("verdict", string(p.Verdict))
	number("time_ms", p.TimeMillis)
	number("mem_kb", p.MemoryKiB)
	number("exit_signal", int64(p.ExitSignal))
	words("sandbox_error", p.SandboxError)
	words("status", string(p.Status))
	number("time_used", p.TimeUsed)
	number("memory_used", p.MemoryUsed)
	number("exit_code", int64(p.ExitCode))
	words("error", p.Error)
	truth("unfit", p.Unfit)
	number("cpu_us", p.TimeMicros)
	number("wall_ms", p.WallMillis)
	number("wall_us", p.WallMicros)
	truth("over_wall", p.OverWall)
	number("pressure_ms", p.PressureMillis)
	number("ended_ns", p.EndedNanos)
	truth("oom", p.OOM)
	number("stdout_bytes", p.StdoutBytes)
	number("stderr_bytes", p.StderrBytes)
	words("driver", p.Driver)
	if len(p.Degraded) > 0 {
		field("degraded")
		b = append(b, '[')
		for i, text := range p.Degraded {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendText(b, text)
		}
		b = append(b, ']')
	}
	return append(b, '}', '\n')
}

// appendText appends text as a JSON string. What is not plain ASCII goes through package json.
func appendText(b []byte, text string) []byte {
	for _, c := range []byte(text) {
		if c < ' ' || c > '~' || strings.IndexByte(`"\<>&`, c) >= 0 {
			quoted, _ := json.Marshal(text) // a string cannot fail
			return append(b, quoted...)
		}
	}
	b = append(b, '"')
	b = append(b, text...)
	return append(b, '"')
}

// Result returns what the line says of the run.
func (p Report) Result() Result {
	finest := func(micros, millis int64) time.Duration {
		return cmp.Or(time.Duration(micros)*time.Microsecond, time.Duration(millis)*time.Millisecond)
	}
	return Result{
		Verdict: p.Verdict, CPU: finest(p.TimeMicros, p.TimeMillis), Wall: finest(p.WallMicros, p.WallMillis),
		MemoryBytes: p.MemoryKiB << 10, ExitCode: p.ExitCode, Signal: p.ExitSignal, OOM: p.OOM, OverWall: p.OverWall,
		StdoutBytes: p.StdoutBytes, StderrBytes: p.StderrBytes, Pressure: time.Duration(p.PressureMillis) * time.Millisecond,
		Ended: time.Duration(p.EndedNanos), Error: p.SandboxError, Driver: p.Driver, Unfit: p.Unfit,
	}
}

// The reasons for which a line is refused.
const (
	ReasonNoLine  = "no_line" // the command ended without a line
	ReasonNotJSON = "not_json"
	ReasonVersion = "schema_version"
	ReasonJob     = "job_id"
	ReasonAttempt = "attempt_id"
	ReasonVerdict = "verdict" // unknown, or at odds with the error
	ReasonRange   = "range"   // a figure that cannot be
)

// Reasons are all reasons for which a line is refused.
var Reasons = []string{ReasonNoLine, ReasonNotJSON, ReasonVersion, ReasonJob, ReasonAttempt, ReasonVerdict, ReasonRange}

// ProtocolError says why a line is refused. Its content goes nowhere.
type ProtocolError struct {
	Reason string // one of Reasons, for a metric
	Detail string
}

func (e *ProtocolError) Error() string { return "a line of the judge protocol: " + e.Detail }

// The most that a line may claim.
const (
	maxLine      = 64 << 10
	maxReportMS  = int64(MaxWall / time.Millisecond * MaxCores)
	maxReportKiB = MaxBytes >> 10
)

// agree reports whether a time in microseconds is what it is in milliseconds, or was left out.
func agree(micros, millis int64) bool {
	return micros == 0 || micros > 0 && micros <= maxReportMS*1000 &&
		up(time.Duration(micros)*time.Microsecond, time.Millisecond) == millis
}

// ParseReport reads a line that was asked for with jobID and attemptID. The error is a [ProtocolError].
func ParseReport(line []byte, jobID int64, attemptID int32) (Report, error) {
	var p Report
	refuse := func(reason, format string, args ...any) (Report, error) {
		return Report{}, &ProtocolError{reason, fmt.Sprintf(format, args...)}
	}
	if len(line) > maxLine {
		return refuse(ReasonNotJSON, "it has %d bytes", len(line))
	}
	if err := json.Unmarshal(line, &p); err != nil {
		if kind, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			return refuse(ReasonRange, "the field %s has the wrong type", kind.Field)
		}
		return refuse(ReasonNotJSON, "it is not JSON")
	}
	switch {
	case p.SchemaVersion != ProtocolVersion:
		return refuse(ReasonVersion, "it has version %d", p.SchemaVersion)
	case p.JobID != jobID:
		return refuse(ReasonJob, "it is about job %d and not %d", p.JobID, jobID)
	case p.AttemptID != attemptID:
		return refuse(ReasonAttempt, "it is about attempt %d and not %d", p.AttemptID, attemptID)
	case !slices.Contains([]Verdict{OK, TLE, MLE, OLE, RE, SE}, p.Verdict):
		return refuse(ReasonVerdict, "it has an unknown verdict")
	case slices.ContainsFunc([]int64{p.TimeMillis, p.WallMillis, p.PressureMillis}, func(ms int64) bool { return ms < 0 || ms > maxReportMS }):
		return refuse(ReasonRange, "it claims %d ms of CPU time, %d ms and %d ms of waiting", p.TimeMillis, p.WallMillis, p.PressureMillis)
	case !agree(p.TimeMicros, p.TimeMillis), !agree(p.WallMicros, p.WallMillis):
		return refuse(ReasonRange, "it claims %d µs of CPU time and %d µs, but %d ms and %d ms",
			p.TimeMicros, p.WallMicros, p.TimeMillis, p.WallMillis)
	case p.MemoryKiB < 0 || p.MemoryKiB > maxReportKiB:
		return refuse(ReasonRange, "it claims %d KiB", p.MemoryKiB)
	case p.ExitSignal < 0 || p.ExitSignal > 64 || p.ExitCode < 0 || p.ExitCode > 255:
		return refuse(ReasonRange, "it claims signal %d and status %d", p.ExitSignal, p.ExitCode)
	case p.StdoutBytes < 0 || p.StderrBytes < 0 || p.EndedNanos < 0:
		return refuse(ReasonRange, "it claims outputs of %d and %d bytes, and an end at %d", p.StdoutBytes, p.StderrBytes, p.EndedNanos)
	case !slices.Contains([]string{"", DriverV2, DriverHybrid, DriverV1, DriverNone}, p.Driver):
		return refuse(ReasonRange, "it has an unknown driver")
	case (p.Verdict == SE) != (p.SandboxError != "") || p.Unfit && p.Verdict != SE:
		return refuse(ReasonVerdict, "its verdict %s does not fit its error", p.Verdict)
	}
	return p, nil
}
