// Package contest computes the standings of a contest from its log, and why they are what they are.
//
// One fold: whatever is shown of a contest is computed by a [State] from the entries of the log that the viewer may
// see. The freeze hides entries, not results: the board of the public is the same computation as that of staff, over
// fewer entries. So nothing here asks who looks, but [Viewer.Sees], and [State.Audience], by which the log is written.
//
// A state does not depend on the order in which entries about different things arrive. It reads no clock, no file and no
// database, and two states that were given the same entries are equal.
//
// Its files:
//
//	contest.go  who sees which entries of the log
//	entry.go    what the log says
//	logged.go   how a log is written
//	clock.go    the time of a contest
//	phase.go    where a round stands in its time
//	acts.go     what staff do to that time
//	aside.go    what only whoever handed in is told
//	check.go    what is wrong with the settings of a round
//	config.go   the settings of a format
//	tokens.go   tokens that are spent on submissions
//	state.go    what is known so far, and what an entry changes
//	order.go    rows in their order
//	icpc.go     cells and rows of the format icpc
//	ioi.go      cells and rows of the format ioi
//	board.go    what is shown
//	digest.go   a digest of that
//	remark.go   what is worth saying as it goes on
//	explain.go  why a row is where it is
//	awards.go   who gets what
//	recount.go  all of it once more, in the most obvious way
//	resolve.go  the order in which a frozen board is opened
package contest

import (
	"errors"
	"iter"
	"time"
)

// Audience says who is told of an entry of the log. Its bits can be together.
type Audience uint8

// The audiences.
const (
	Public Audience = 1 << iota // everybody
	Teams                       // every participant
	Own                         // one participant alone, see [Record.Only]
	Jury
	Staff
)

// Everybody is every audience but that of one participant alone.
const Everybody = Public | Teams | Jury | Staff

// Record is an entry in the log of a contest.
type Record struct {
	Seq      int64     // its number in the log, from 1, without gaps
	At       time.Time // when it was written
	Audience Audience
	Only     int64 // the participant whom Own means; 0 = none
	Entry    Entry
}

// Viewer is for whom a state is computed.
type Viewer struct {
	Audience    Audience // without Own
	Participant int64    // who also sees what is for them alone; 0 = nobody
}

// Sees reports whether the viewer is told of the record.
func (v Viewer) Sees(r Record) bool {
	return r.Audience&v.Audience&^Own != 0 || r.Audience&Own != 0 && v.Participant != 0 && r.Only == v.Participant
}

// Fold returns the state that the viewer knows after all of log. The error is that of the first entry that makes no sense.
func Fold(cfg Config, v Viewer, log iter.Seq[Record]) (*State, error) {
	s := New(cfg)
	s.held = true // until all is known
	for r := range log {
		if !v.Sees(r) {
			continue
		}
		if _, err := s.Apply(r.Entry); err != nil {
			return nil, err
		}
	}
	s.settle()
	return s, nil
}

// Until returns the records that were written at or before a moment: their fold is what was shown then.
func Until(log iter.Seq[Record], moment time.Time) iter.Seq[Record] {
	return func(yield func(Record) bool) {
		for r := range log {
			if r.At.After(moment) || !yield(r) {
				return
			}
		}
	}
}

// At returns the state that the viewer knew when the contest time was first d, 0 being the start: the fold of what was in
// the log by then. Which moment that is, the rounds and removed intervals of all of log say that the viewer sees. It is an
// error if they name no start.
func At(cfg Config, v Viewer, log iter.Seq[Record], d time.Duration) (*State, error) {
	var c clock
	for r := range log {
		if !v.Sees(r) {
			continue
		}
		switch e := r.Entry.(type) {
		case Round:
			c.round = e
		case Removed:
			c.remove(e)
		}
	}
	if c.round.Start.IsZero() {
		return nil, errors.New("the contest has no start, and so no time")
	}
	moment := c.round.Start
	if d > 0 {
		moment = c.when(d)
	}
	return Fold(cfg, v, Until(log, moment))
}
