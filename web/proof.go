package web

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"deepoj/host/judge"
)

// report is what a job about a plugin found, as far as pages show it: see
// host/intake, which writes it, and plugins/README.md. It is read leniently, so
// that what a newer worker adds does no harm.
type report struct {
	Op      judge.PluginOp `json:"op"`
	Plugin  *judge.Plugin  `json:"plugin"`
	Problem string         `json:"problem"`
	Binding string         `json:"binding"` // bind: name or digest
	Checked int            `json:"checked"` // preview: submissions judged
	Changes []change       `json:"changes"`
	Error   string         `json:"error"`
	Proof   *proof         `json:"report"`
}

// proof is the report of the conformance suite.
type proof struct {
	Stages   []stageEnd `json:"stages"`
	Findings []finding  `json:"findings"`
	Cost     *cost      `json:"cost"`
}

// finding is something that is wrong with a plugin, or may be.
type finding struct {
	Stage    string `json:"stage"`
	Rule     string `json:"rule"`
	Severity string `json:"severity"` // error or warning
	Offender string `json:"offender"`
	Remedy   string `json:"remedy"`
}

// stageEnd says how a stage of the suite ended.
type stageEnd struct {
	Name    string `json:"stage"`
	Outcome string `json:"outcome"` // passed, warned, failed, not_run
	Reason  string `json:"reason"`
}

// cost is what calls of a plugin cost.
type cost struct {
	MicrosP50   int64   `json:"cpu_us_p50"`
	MicrosP99   int64   `json:"cpu_us_p99"`
	Fuel        uint64  `json:"fuel"`
	MemoryKiB   int64   `json:"memory_kib"`
	FuelPerMB   float64 `json:"fuel_per_mb"`
	MillisPerMB float64 `json:"cpu_ms_per_mb"`
}

// change is a submission that another checker judges otherwise.
type change struct {
	JobID       int64         `json:"job_id"`
	Author      string        `json:"author"`
	Before      judge.Verdict `json:"before"`
	After       judge.Verdict `json:"after"`
	BeforeScore *float64      `json:"before_score"`
	AfterScore  *float64      `json:"after_score"`
	Test        string        `json:"test"`
	Message     string        `json:"message"`
}

// readReport reads a finished job's report. What cannot be read is left empty.
func readReport(raw json.RawMessage) report {
	var r report
	if len(raw) > 0 {
		_ = json.Unmarshal(raw, &r) // members of another type than expected are skipped
	}
	return r
}

// reportSoFar puts together what the events of a running job tell.
func reportSoFar(told []json.RawMessage) report {
	r := report{Proof: &proof{}}
	for _, raw := range told {
		var one struct {
			finding
			Outcome, Reason string
			After           judge.Verdict
		}
		if json.Unmarshal(raw, &one) != nil {
			continue
		}
		switch {
		case one.Outcome != "":
			r.Proof.Stages = append(r.Proof.Stages, stageEnd{one.Stage, one.Outcome, one.Reason})
		case one.After != "":
			var c change
			_ = json.Unmarshal(raw, &c)
			r.Changes = append(r.Changes, c)
		default:
			r.Proof.Findings = append(r.Proof.Findings, one.finding)
		}
	}
	return r
}

// stageView is a stage in text, shape and colour.
type stageView struct {
	Name, Outcome, Reason string
	Like                  judge.Verdict // whose colour it has
	Shape                 string
}

func showStages(stages []stageEnd) []stageView {
	out := make([]stageView, len(stages))
	for i, s := range stages {
		out[i] = stageView{Name: strings.ReplaceAll(s.Name, "-", " "), Outcome: strings.ReplaceAll(s.Outcome, "_", " "), Reason: s.Reason, Shape: "ring"}
		switch s.Outcome {
		case "passed":
			out[i].Like, out[i].Shape = judge.AC, "check"
		case "warned":
			out[i].Like, out[i].Shape = judge.TLE, "hexagon"
		case "failed":
			out[i].Like, out[i].Shape = judge.WA, "cross"
		}
	}
	return out
}

// count returns how many findings are errors, and how many are not.
func (p *proof) count() (errs, warnings int) {
	if p == nil {
		return 0, 0
	}
	for _, f := range p.Findings {
		if f.Severity == "error" {
			errs++
		} else {
			warnings++
		}
	}
	return errs, warnings
}

// figure is a measured figure with its name.
type figure struct{ Name, Text string }

func (c *cost) figures() []figure {
	if c == nil {
		return nil
	}
	out := []figure{
		{"A call, median", microsText(c.MicrosP50)}, {"A call, 99th percentile", microsText(c.MicrosP99)}, {"Memory", memoryText(c.MemoryKiB)},
	}
	if c.Fuel > 0 {
		out = append(out, figure{"Fuel of a call", bigText(float64(c.Fuel))})
	}
	if c.FuelPerMB > 0 {
		out = append(out, figure{"Fuel for 1 MB", bigText(c.FuelPerMB)}, figure{"CPU time for 1 MB", microsText(int64(c.MillisPerMB * 1000))})
	}
	return out
}

// microsText writes a CPU time given in microseconds: 42 µs, 1.5 ms, 2.1 s.
func microsText(us int64) string {
	switch {
	case us < 1000:
		return strconv.FormatInt(us, 10) + " µs"
	case us < 1_000_000:
		return fmt.Sprintf("%.3g ms", float64(us)/1e3)
	}
	return fmt.Sprintf("%.3g s", float64(us)/1e6)
}

// bigText writes a large number: 950, 12.3 k, 4.5 M, 1.2 G.
func bigText(n float64) string {
	for _, unit := range []struct {
		size float64
		name string
	}{{1e9, " G"}, {1e6, " M"}, {1e3, " k"}} {
		if n >= unit.size {
			return fmt.Sprintf("%.3g", n/unit.size) + unit.name
		}
	}
	return fmt.Sprintf("%.0f", n)
}
