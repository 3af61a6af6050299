package plugins

import (
	"encoding/json"
	"math"

	"deepoj/host/judge"
	"deepoj/web/locale"
)

// readReport reads a finished job's report. What cannot be read is left empty.
func readReport(raw json.RawMessage) judge.PluginReport {
	var r judge.PluginReport
	if len(raw) > 0 {
		_ = json.Unmarshal(raw, &r) // members of another type than expected are skipped
	}
	return r
}

// reportSoFar puts together what the events of a running job tell.
func reportSoFar(told []json.RawMessage) judge.PluginReport {
	r := judge.PluginReport{Conformance: &judge.Conformance{}}
	for _, raw := range told {
		var one struct {
			judge.ConformanceFinding
			Outcome judge.StageOutcome
			Reason  string
			After   judge.Verdict
		}
		if json.Unmarshal(raw, &one) != nil {
			continue
		}
		switch {
		case one.Outcome != "":
			r.Conformance.Stages = append(r.Conformance.Stages, judge.ConformanceStage{Name: one.Stage, Outcome: one.Outcome, Reason: one.Reason})
		case one.After != "":
			var c judge.VerdictChange
			_ = json.Unmarshal(raw, &c)
			r.Changes = append(r.Changes, c)
		default:
			r.Conformance.Findings = append(r.Conformance.Findings, one.ConformanceFinding)
		}
	}
	return r
}

// stageView is a stage in text, shape and colour.
type stageView struct {
	Name    any // a word, or the name of a stage that is not known here
	Outcome locale.Word
	Reason  string
	Like    judge.Verdict // whose colour it has
	Shape   string
}

func showStages(stages []judge.ConformanceStage) []stageView {
	out := make([]stageView, len(stages))
	for i, s := range stages {
		out[i] = stageView{Name: stageText(s.Name), Reason: s.Reason, Outcome: "not run", Shape: "ring"}
		switch s.Outcome {
		case judge.StagePassed:
			out[i].Like, out[i].Shape, out[i].Outcome = judge.AC, "check", "passed"
		case judge.StageWarned:
			out[i].Like, out[i].Shape, out[i].Outcome = judge.TLE, "hexagon", "warned"
		case judge.StageFailed:
			out[i].Like, out[i].Shape, out[i].Outcome = judge.WA, "cross", "failed"
		case judge.StageNotRun: // a ring of no colour
		}
	}
	return out
}

// figure is a measured figure with its name.
type figure struct {
	Name locale.Word
	Text string
}

// figures are what calls of a plugin cost, for people.
func figures(c *judge.PluginCost, l *locale.Locale) []figure {
	if c == nil {
		return nil
	}
	out := []figure{
		{"A call, median", microsText(c.MicrosP50, l)}, {"A call, 99th percentile", microsText(c.MicrosP99, l)}, {"Memory", l.Memory(c.MemoryKiB)},
	}
	if c.Fuel > 0 {
		out = append(out, figure{"Fuel of a call", bigText(float64(c.Fuel), l)})
	}
	if c.FuelPerMB > 0 {
		out = append(out, figure{"Fuel for 1 MB", bigText(c.FuelPerMB, l)}, figure{"CPU time for 1 MB", microsText(int64(c.MillisPerMB*1000), l)})
	}
	return out
}

// microsText writes a CPU time given in microseconds: 42 µs, 1.5 ms, 2.1 s.
func microsText(us int64, l *locale.Locale) string {
	switch {
	case us < 1000:
		return l.Number(us) + " µs"
	case us < 1_000_000:
		return l.Number(rounded(float64(us)/1e3)) + " ms"
	}
	return l.Number(rounded(float64(us)/1e6)) + " s"
}

// bigText writes a large number: 950, 12.3 k, 4.5 M, 1.2 G.
func bigText(n float64, l *locale.Locale) string {
	for _, unit := range []struct {
		size float64
		name string
	}{{1e9, " G"}, {1e6, " M"}, {1e3, " k"}} {
		if n >= unit.size {
			return l.Number(rounded(n/unit.size)) + unit.name
		}
	}
	return l.Number(math.Round(n))
}

// rounded is a figure to three digits.
func rounded(x float64) float64 {
	unit := math.Pow(10, math.Floor(math.Log10(x))-2)
	return math.Round(x/unit) * unit
}
