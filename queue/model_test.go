package queue_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// This file checks the whole protocol, database and stream together, by looking
// at every state that one job, two workers, a dispatcher and a stream of up to
// two entries can reach while things break. A state is unsafe when a promise
// is broken in it, and stuck when no further step, faults apart, can bring the
// job to an end. The rejudge set and the shard that a model may have besides are
// in model_set_test.go and model_shard_test.go.

// What the job is, in the database.
const (
	pending uint8 = iota
	running
	finished
	cancelled
	dead
)

// Where its queue row is.
const (
	rowNone uint8 = iota
	rowReady
	rowDelivered
	rowLeased
)

// What became of a stream entry.
const (
	entryNone    uint8 = iota // there is none, or it was acknowledged
	entryNew                  // nobody has read it
	entryRead1                // worker 1 has read it
	entryRead2                // worker 2 has read it
	entrySkipped              // it was there before the group, which does not see it
)

// What a worker does.
const (
	idle    uint8 = iota
	got           // has an entry
	claimed       // works
	judged        // has a result
	decided       // the database has answered, the acknowledgement is to come
	down
)

type worker struct {
	doing, entry, attempt uint8
}

type state struct {
	status, attempt, generation, tries uint8
	owner                              uint8 // worker, 1 or 2
	lease                              bool  // alive
	row                                uint8
	results                            [3]uint8 // written per generation
	live                               uint8    // generation that is shown, plus one; 0 = none
	foreign                            bool     // a result was written by another worker than the owner of the newest attempt
	group                              bool
	entries                            [2]uint8
	workers                            [2]worker
	published                          bool // the dispatcher has picked and not yet added
	faults                             uint8
	rejudged, cancelled, returned      bool // each happens once
	set                                rejudgeSet
	shard                              shard
}

// design is the protocol with parts of it left out.
type design struct {
	noFence, attemptOnly, noRedelivery, noReaper, resetAttempt, claimKeepsRow, groupAtEnd, unboundedTries bool
	faults                                                                                                uint8
	small                                                                                                 bool // one entry at a time, and no worker gives a job back
	sets                                                                                                  setDesign
	shards                                                                                                shardDesign
}

const mostTries = 2

type step struct {
	name  string
	who   uint8 // worker, 0 = none
	to    state
	fault bool
}

func (s step) String() string {
	if s.who > 0 {
		return fmt.Sprintf("worker %d %s", s.who, s.name)
	}
	return s.name
}

// steps returns everything that can happen next.
func (d design) steps(s state) (out []step) {
	who := uint8(0)
	can := func(name string, change func(*state)) {
		to := s
		change(&to)
		out = append(out, step{name, who, to, false})
	}
	breaks := func(name string, change func(*state)) {
		if s.faults >= d.faults {
			return
		}
		to := s
		to.faults++
		change(&to)
		out = append(out, step{name, who, to, true})
	}
	if d.shards.two {
		d.shards.dispatch(s, can, breaks)
	} else {
		d.dispatch(s, can, breaks)
	}
	createGroup(s, d, can)
	for i := range s.workers {
		who = uint8(i + 1)
		d.work(s, i, can, breaks)
	}
	who = 0
	d.recover(s, can)
	d.people(s, can)
	if d.sets.one {
		d.sets.people(s, can)
	}
	environment(s, can, breaks)
	return out
}

type perhaps func(name string, change func(*state))

func createGroup(s state, d design, can perhaps) {
	if !s.group {
		can("group created", func(t *state) {
			t.group = true
			for i, e := range t.entries {
				if d.groupAtEnd && e == entryNew {
					t.entries[i] = entrySkipped
				}
			}
		})
	}
}

func (d design) dispatch(s state, can, breaks perhaps) {
	if s.row == rowReady && !s.published {
		can("pick", func(t *state) { t.row, t.published = rowDelivered, true })
	}
	if s.published {
		if i := strings.IndexByte(string(s.entries[:]), entryNone); i >= 0 {
			can("add to the stream", func(t *state) { t.entries[i], t.published = entryNew, false })
			breaks("added twice", func(t *state) { t.entries[i] = entryNew })
		}
		breaks("dispatcher dies before adding", func(t *state) { t.published = false })
	}
}

func (d design) work(s state, i int, can, breaks perhaps) {
	w, me := s.workers[i], uint8(i+1)
	if w.doing == down {
		can("starts again", func(t *state) { t.workers[i] = worker{} })
		return
	}
	if w.doing != idle {
		breaks("is killed", func(t *state) { t.workers[i] = worker{doing: down} })
	}
	holds := s.status == running && (s.owner == me || d.attemptOnly) && s.attempt == w.attempt
	switch w.doing {
	case idle:
		for e, what := range s.entries {
			if s.group && what == entryNew {
				can("reads", func(t *state) {
					t.entries[e] = entryRead1 + uint8(i)
					t.workers[i] = worker{doing: got, entry: uint8(e)}
				})
			}
			if s.group && (what == entryRead1 || what == entryRead2) {
				can("cleans up an old entry", func(t *state) { t.entries[e] = entryNone })
			}
		}
	case got:
		if s.status != pending {
			can("claim refused", func(t *state) { t.workers[i].doing = decided })
			return
		}
		can("claims", func(t *state) {
			t.status, t.attempt, t.owner, t.lease = running, s.attempt+1, me, true
			if !d.claimKeepsRow {
				t.row = rowLeased
			}
			t.workers[i] = worker{doing: claimed, entry: w.entry, attempt: t.attempt}
		})
	case claimed:
		can("has a result", func(t *state) { t.workers[i].doing = judged })
		if holds && !s.returned {
			can("gives back", func(t *state) {
				t.status, t.owner, t.lease, t.row, t.returned = pending, 0, false, rowReady, true
				t.workers[i] = worker{doing: decided, entry: w.entry}
			})
		}
	case judged:
		if !holds && (!d.noFence || s.status != running) {
			can("finalize refused", func(t *state) { t.workers[i] = worker{doing: decided, entry: w.entry} })
			return
		}
		can("finalizes", func(t *state) {
			t.foreign = t.foreign || w.attempt != s.attempt || s.owner != me
			t.results[s.generation]++
			if !s.set.has || d.sets.showsAtOnce {
				t.live = s.generation + 1
			}
			t.status, t.owner, t.lease, t.row = finished, 0, false, rowNone
			t.workers[i] = worker{doing: decided, entry: w.entry}
		})
	case decided:
		can("acknowledges", func(t *state) {
			t.entries[w.entry] = entryNone
			t.workers[i] = worker{}
		})
	}
}

// recover is what the sweepers do.
func (d design) recover(s state, can perhaps) {
	if s.row == rowDelivered && !s.published && !d.noRedelivery {
		can("delivery deadline passes", func(t *state) { t.row, t.shard.pickedBy = rowReady, 0 })
	}
	if s.status == running && !s.lease && !d.noReaper {
		can("lease reclaimed", func(t *state) {
			t.owner, t.tries = 0, s.tries+1
			t.status, t.row = pending, rowReady
			if t.tries >= mostTries && !d.unboundedTries {
				t.status, t.row = dead, rowNone
			}
		})
	}
}

func (d design) people(s state, can perhaps) {
	if !s.cancelled && (s.status == pending || s.status == running) {
		can("cancelled", func(t *state) { t.status, t.owner, t.lease, t.row, t.cancelled = cancelled, 0, false, rowNone, true })
	}
	if !s.rejudged && (s.status != pending || s.tries > 0) {
		can("rejudged", func(t *state) {
			t.status, t.owner, t.lease, t.row, t.tries = pending, 0, false, rowReady, 0
			t.generation, t.rejudged = s.generation+1, true
			t.set.has = s.set.has && d.sets.keeps
			if d.resetAttempt {
				t.attempt = 0
			}
		})
	}
}

func environment(s state, can, breaks perhaps) {
	if s.status == running && s.lease {
		alive := false
		for i, w := range s.workers {
			alive = alive || (w.doing == claimed || w.doing == judged) && s.owner == uint8(i+1) && s.attempt == w.attempt
		}
		expire := func(t *state) { t.lease = false }
		if alive {
			breaks("a worker is paused until its lease runs out", expire)
		} else {
			can("the lease of a lost worker runs out", expire)
		}
	}
	if s.group || s.entries != [2]uint8{} {
		breaks("redis loses everything", func(t *state) { t.group, t.entries = false, [2]uint8{} })
	}
	for i, e := range s.entries {
		if e != entryNone {
			breaks("an entry is trimmed", func(t *state) { t.entries[i] = entryNone })
		}
	}
}

// unsafe says which promise is broken in s.
func unsafe(s state) string {
	row := map[bool]string{true: "", false: "the job and its queue row disagree"}
	switch {
	case slices.Max(s.results[:]) > 1:
		return "two results of one generation"
	case s.live > 0 && s.results[s.live-1] == 0:
		return "a verdict is shown that is not there"
	case s.set.broken(s) != "":
		return s.set.broken(s)
	case s.shard.broken != "":
		return s.shard.broken
	case s.foreign:
		return "a result that is not of the newest attempt"
	case s.tries > mostTries:
		return "more tries than allowed"
	case s.status == pending:
		return row[s.row == rowReady || s.row == rowDelivered]
	case s.status == running:
		return row[s.row == rowLeased]
	default:
		return row[s.row == rowNone]
	}
}

func TestTheProtocolIsSafeAndNeverStuck(t *testing.T) {
	t.Parallel()
	states, unsafeAt, stuckAt := design{faults: 2}.explore(false)
	if unsafeAt != "" {
		t.Error(unsafeAt)
	}
	if stuckAt != "" {
		t.Error(stuckAt)
	}
	t.Logf("%d states", states)
}

func TestTheAttemptAloneIsAFence(t *testing.T) {
	t.Parallel()
	if _, unsafeAt, stuckAt := (design{attemptOnly: true, faults: 1}).explore(false); unsafeAt != "" || stuckAt != "" {
		t.Error(unsafeAt, stuckAt)
	}
}

func TestTheModelNoticesEveryMissingPart(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		d             design
		unsafe, stuck bool
	}{
		"no fence":                       {design{noFence: true, faults: 1}, true, false},
		"no redelivery":                  {design{noRedelivery: true, faults: 1}, false, true},
		"no reaper":                      {design{noReaper: true, faults: 1}, false, true},
		"rejudge resets the attempt":     {design{resetAttempt: true, attemptOnly: true, faults: 1}, true, false},
		"claim keeps the queue row":      {design{claimKeepsRow: true}, true, false},
		"group at the end, no redriving": {design{groupAtEnd: true, noRedelivery: true}, false, true},
		"tries without bound":            {design{unboundedTries: true, faults: 3}, true, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, unsafeAt, stuckAt := tt.d.explore(tt.unsafe)
			if tt.unsafe && unsafeAt == "" || tt.stuck && stuckAt == "" {
				t.Errorf("unsafe: %q, stuck: %q; want unsafe %t, stuck %t", unsafeAt, stuckAt, tt.unsafe, tt.stuck)
			}
			t.Logf("%s %s", unsafeAt, stuckAt)
		})
	}
}
