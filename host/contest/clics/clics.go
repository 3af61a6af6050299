// Package clics says what a round is in the words of the ICPC Contest API, in two of its releases.
//
// Source: Contest API, releases 2023-06 and 2026-01, of the ICPC's specifications, with their JSON schemas. The schemas of
// 2026-01 know less than its text: what they refuse is left out where a client asks for strict objects.
//
// Everything here is a function of what the log of a round says, so whoever is told the same gets the same bytes.
//
// Its files:
//
//	clics.go       releases, times and names
//	feed.go        events, of the lines of a log
//	fromfeed.go    a package of an event feed
//	objects.go     the objects of the endpoints
//	pack.go        contest packages
//	recount.go     what is wrong with a package
//	scoreboard.go  the scoreboard
//	statement.go   statements of problems
//	world.go       what there is at the endpoints
//	yaml.go        what people write by hand
package clics

import (
	"errors"
	"fmt"
	"time"

	"deepoj/host/contest"
	"deepoj/host/judge"
)

// Version is a release of the Contest API.
type Version string

// The releases.
const (
	V202306 Version = "2023-06"
	V202601 Version = "2026-01"
)

// Versions are all releases, the newest first.
var Versions = []Version{V202601, V202306}

// Form is how objects are written.
type Form struct {
	Version Version
	Strict  bool // only what the schemas of the release know
}

// modern reports whether something that only the text of the newest release knows is written.
func (f Form) modern() bool { return f.Version == V202601 && !f.Strict }

// ErrEndless is returned for a round without an end, which the Contest API has no word for.
var ErrEndless = errors.New("the round has no end, and so is no contest of the Contest API")

// RelTime writes a length of time, h:mm:ss.uuu, as the API's RELTIME.
func RelTime(d time.Duration) string {
	sign, ms := "", d.Milliseconds()
	if ms < 0 {
		sign, ms = "-", -ms
	}
	return fmt.Sprintf("%s%d:%02d:%02d.%03d", sign, ms/3_600_000, ms/60_000%60, ms/1000%60, ms%1000)
}

// AbsTime writes a moment, with milliseconds, as the API's TIME.
func AbsTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z07:00") }

// absOrNull is AbsTime, or null.
func absOrNull(t *time.Time) *string {
	if t == nil {
		return nil
	}
	return new(AbsTime(*t))
}

// span is a length of time as the release has it: in whole minutes, or as RELTIME.
func (f Form) span(d time.Duration) any {
	if f.Version == V202306 {
		return int64(d / time.Minute)
	}
	return RelTime(d)
}

// LanguageID is what the Contest API calls a language of ours.
func LanguageID(ours string) string {
	if ours == "python" {
		return "python3"
	}
	return ours
}

// JudgementTypeID is what the Contest API calls a verdict: its RE is another one, and it knows no partly accepted.
func JudgementTypeID(v judge.Verdict) string {
	if theirs, ok := judgementTypes[v]; ok {
		return theirs
	}
	return string(v)
}

// judgementTypes are the verdicts that the Contest API calls otherwise.
var judgementTypes = map[judge.Verdict]string{judge.RE: "RTE", judge.PA: "AC", judge.SE: "JE"}

// orNull is a text, or null for none.
func orNull(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// scored reports whether a format gives points.
func scored(c contest.Config) bool { return c.Format == contest.IOI }
