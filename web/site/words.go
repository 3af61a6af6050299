package site

import (
	"fmt"
	"strconv"
	"strings"

	"deepoj/host/judge"
	"deepoj/web/locale"
)

// Plural writes a count with its noun: 1 test, 2 tests.
func Plural(n any, one, many string) string {
	text := fmt.Sprint(n)
	if text == "1" {
		return "1 " + one
	}
	return text + " " + many
}

// MemoryText writes an amount of memory, given in KiB.
func MemoryText(kib int64) string {
	if kib < 1<<10 {
		return strconv.FormatInt(kib, 10) + " KiB"
	}
	return strings.TrimSuffix(strconv.FormatFloat(float64(kib)/1024, 'f', 1, 64), ".0") + " MiB"
}

// UsedText writes the memory that a program used, given in KiB. Results of before every run had a figure may have none.
func UsedText(kib int64) string {
	if kib == 0 {
		return "–"
	}
	return MemoryText(kib)
}

// PointsText writes a score without needless zeros. A nil score is a dash.
func PointsText(v any) string {
	switch v := v.(type) {
	case *float64:
		if v == nil {
			return "–"
		}
		return strconv.FormatFloat(*v, 'f', -1, 64)
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return fmt.Sprint(v)
}

// LaneText names a lane.
func LaneText(lane judge.Lane) locale.Word {
	switch lane {
	case judge.LaneStaff:
		return "first"
	case judge.LaneRetry:
		return "retries"
	case judge.LaneNormal:
		return "normal"
	case judge.LaneRejudge:
		return "rejudges"
	case judge.LaneBatch:
		return "batch"
	}
	return locale.Word(fmt.Sprint(lane.Number()))
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
