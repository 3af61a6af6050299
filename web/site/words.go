package site

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"deepoj/host/judge"
)

// Plural writes a count with its noun: 1 test, 2 tests.
func Plural(n any, one, many string) string {
	text := fmt.Sprint(n)
	if text == "1" {
		return "1 " + one
	}
	return text + " " + many
}

// Ordinal writes a position: 1st, 2nd, 11th.
func Ordinal(n int64) string {
	suffix := "th"
	if n%100 < 11 || n%100 > 13 {
		switch n % 10 {
		case 1:
			suffix = "st"
		case 2:
			suffix = "nd"
		case 3:
			suffix = "rd"
		}
	}
	return strconv.FormatInt(n, 10) + suffix
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

// agoText writes how long ago something was.
func agoText(d time.Duration) string {
	switch {
	case d < 5*time.Second:
		return "just now"
	case d < time.Minute:
		return fmt.Sprintf("%d s ago", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d min ago", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h ago", int(d.Hours()))
	}
	return fmt.Sprintf("%d days ago", int(d.Hours()/24))
}

// LaneText names a lane.
func LaneText(lane judge.Lane) string {
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
	return fmt.Sprint(lane.Number())
}

// WaitText writes a waiting time for people, rounded up.
func WaitText(d time.Duration) string {
	switch {
	case d <= time.Second:
		return "1 s"
	case d < 2*time.Minute:
		return fmt.Sprintf("%d s", int((d+time.Second-1)/time.Second))
	case d < 2*time.Hour:
		return fmt.Sprintf("%d min", int((d+time.Minute-1)/time.Minute))
	}
	return fmt.Sprintf("%d h", int((d+time.Hour-1)/time.Hour))
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
