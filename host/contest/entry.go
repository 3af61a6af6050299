package contest

import (
	"time"

	"deepoj/host/judge"
)

// Entry is one of the things that a log says: [Round], [Removed], [Group], [Participant], [Problem], [Submission],
// [Judgement], [Mark], [Token] or [Adjustment]. A later entry about the same thing takes the place of an earlier one.
type Entry interface{ entry() }

// Round is when a contest takes place.
type Round struct {
	Start    time.Time      // zero: not known yet
	Duration time.Duration  // 0 = without end
	Freeze   *time.Duration // contest time from which on judgements are hidden; nil = never
	Thawed   bool           // nothing is hidden any more
	Speed    int            // milliseconds of contest time in one, of a rehearsal; 0 = 1
}

// Removed takes an interval out of the time of a contest, or gives it back.
type Removed struct {
	ID       int64
	From, To time.Time
	Undone   bool
}

// Group is a group of participants.
type Group struct {
	ID     string
	Name   string
	Ranked bool // its participants rank among all others
	Sort   int  // those of groups with the same number rank among each other, smaller numbers first
}

// Status is what became of a participant.
type Status string

// What may become of a participant. Who is disqualified leaves the ranking.
const (
	Active       Status = "active"
	Withdrawn    Status = "withdrawn"
	Banned       Status = "banned"
	Disqualified Status = "disqualified"
)

// Participant is a team or a single person.
type Participant struct {
	ID     int64
	Name   string   // as it is shown, by which those of equal rank are ordered
	Groups []string // by their ids
	Ranked bool     // but for a group that is not
	Hidden bool     // is for staff only, without a rank
	Status Status   // "" = active
	Gone   bool     // takes part no more, or is told of no more: there is no row
}

// Problem is a problem of the contest.
type Problem struct {
	ID      string
	Label   string
	Name    string
	Ordinal int      // from 0, its place among the others
	Points  *float64 // what a full solution is worth in the contest, in the format ioi; nil = as the problem scores
	Max     float64  // the highest score that the problem gives; 0 = unknown, or it gives none
	Gone    bool     // was taken out of the contest
}

// worth is what a score of the problem is worth in the contest.
func (p *Problem) worth(score float64) float64 {
	switch {
	case p.Points == nil:
		return score
	case p.Max > 0:
		return *p.Points * min(1, score/p.Max)
	}
	return min(*p.Points, score)
}

// full is the score of what is accepted without one.
func (p *Problem) full() float64 {
	switch {
	case p.Points == nil:
		return 1
	case p.Max > 0:
		return p.Max
	}
	return *p.Points
}

// Submission is a program that was handed in.
type Submission struct {
	ID          int64
	Participant int64
	Problem     string
	Time        time.Time
}

// Judgement is one judging of a submission. A submission may have several, of which the last current one decides.
type Judgement struct {
	Submission int64
	Generation int           // from 1
	Verdict    judge.Verdict // "" = it is not judged yet
	Current    bool          // no later one, and nobody, has taken its place
	Score      *float64      // nil = none, as in formats that give none
	Groups     []GroupScore  // of the groups of tests, in formats that score them
}

// GroupScore is what a submission got for a group of tests.
type GroupScore struct {
	Group string
	Score float64
}

// Mark says whether a submission counts.
type Mark struct {
	Submission int64
	Ignored    bool
}

// Token is spent on a submission, whose score counts from then on in the format ioi with tokens.
type Token struct{ Submission int64 }

// Adjustment is what staff add to the row of a participant.
type Adjustment struct {
	Participant int64
	Minutes     int64   // of penalty time, in the format icpc; may be below 0
	Points      float64 // in the format ioi; may be below 0
}

func (Round) entry()       {}
func (Removed) entry()     {}
func (Group) entry()       {}
func (Participant) entry() {}
func (Problem) entry()     {}
func (Submission) entry()  {}
func (Judgement) entry()   {}
func (Mark) entry()        {}
func (Token) entry()       {}
func (Adjustment) entry()  {}
