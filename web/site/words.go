package site

import (
	"strings"

	"deepoj/host/judge"
	"deepoj/web/locale"
)

var laneNames = map[judge.Lane]locale.Word{
	judge.LaneStaff: "first", judge.LaneRetry: "retries", judge.LaneNormal: "normal", judge.LaneRejudge: "rejudges", judge.LaneBatch: "batch",
}

// LaneText names a lane.
func LaneText(lane judge.Lane) locale.Sentence { return locale.Named(laneNames, lane) }

var verdictNames = map[judge.Verdict]locale.Word{
	judge.AC: "Accepted", judge.PA: "Partly accepted", judge.WA: "Wrong answer", judge.PE: "Presentation error", judge.TLE: "Time limit exceeded",
	judge.MLE: "Memory limit exceeded", judge.OLE: "Output limit exceeded", judge.RE: "Run-time error", judge.CE: "Compile error",
	judge.JE: "Judging error", judge.SE: "System error",
}

// VerdictName is [judge.Verdict.Name], to be said in the reader's language.
func VerdictName(v judge.Verdict) locale.Sentence { return locale.Named(verdictNames, v) }

var stateNames = map[string]locale.Word{
	"pending": "pending", "dispatched": "dispatched", "retrying": "retrying", "running": "running", "finished": "finished", "cancelled": "cancelled", "dead": "dead",
}

// StateName is a state of a job as [judge.Job.Shown] has it, or its status, to be said in the reader's language.
func StateName[S ~string](state S) locale.Sentence {
	return locale.Named(stateNames, strings.ToLower(string(state)))
}

// severityName says how bad it is what a compiler complains of.
func severityName(severity string) locale.Word {
	switch severity {
	case "error":
		return "error"
	case "warning":
		return "warning"
	}
	return "note"
}

// shapes are the symbols of _shapes.html by verdict: text, shape and colour say
// the same, so that none of them is needed.
var shapes = map[judge.Verdict]string{
	judge.AC: "check", judge.PA: "half", judge.WA: "cross", judge.PE: "cross", judge.TLE: "clock", judge.MLE: "chip", judge.OLE: "lines",
	judge.RE: "bolt", judge.CE: "brackets", judge.JE: "hexagon", judge.SE: "hexagon",
}

// shapeOf returns the symbol of a verdict; a test without one has not run.
func shapeOf(verdict judge.Verdict) string {
	if shape, ok := shapes[verdict]; ok {
		return shape
	}
	return "ring"
}
