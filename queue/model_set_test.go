package queue_test

import "testing"

// rejudgeSet is a set with the one job of the model: its judging is another
// generation beside the verdict that is shown, until the set is applied.
type rejudgeSet struct {
	is         uint8 // setNone and so on
	generation uint8 // of its judging
	has        bool  // the job's newest generation counts as its
}

const (
	setNone uint8 = iota
	setOpen
	setApplied
	setCancelled
)

// setDesign says whether there is a set, and what is wrong with it.
type setDesign struct {
	one         bool // there is one
	showsAtOnce bool // finalize shows its verdict
	appliesSoon bool // it can be applied while it is judged
	appliesOld  bool // it can be applied over a newer judging of the job
	keeps       bool // a job that is rejudged on its own stays in it
	leavesRow   bool // cancelling it leaves the queue row
}

// people start, apply and cancel a set, each in one transaction.
func (d setDesign) people(s state, can perhaps) {
	over := s.status == finished || s.status == cancelled || s.status == dead
	mine := s.generation == s.set.generation
	underway := mine && (s.status == pending || s.status == running)
	switch {
	case s.set.is == setNone && over && s.live > 0:
		can("set started", func(t *state) {
			t.generation = s.generation + 1
			t.status, t.owner, t.lease, t.row, t.tries = pending, 0, false, rowReady, 0
			t.set = rejudgeSet{setOpen, t.generation, true}
		})
	case s.set.is == setOpen:
		if !underway || d.appliesSoon {
			can("set applied", func(t *state) {
				t.set.is = setApplied
				if (mine || d.appliesOld) && s.results[s.set.generation] > 0 {
					t.live, t.set.has = s.set.generation+1, false
				}
			})
		}
		can("set cancelled", func(t *state) {
			t.set.is = setCancelled
			if underway {
				t.status, t.owner, t.lease = cancelled, 0, false
				if !d.leavesRow {
					t.row = rowNone
				}
			}
		})
	}
}

// broken says which promise about sets is broken in s.
func (r rejudgeSet) broken(s state) string {
	if r.is == setNone {
		return ""
	}
	shown := s.live == r.generation+1
	mine := s.generation == r.generation
	switch {
	case shown && r.is != setApplied:
		return "a set shows its verdict before it is applied"
	case r.is == setApplied && mine && (s.status == pending || s.status == running):
		return "a set is applied while it is judged"
	case r.is == setApplied && mine && s.status == finished && !shown:
		return "a set is applied and its verdict is not shown"
	case !mine && s.status == finished && s.live != s.generation+1:
		return "a job that was rejudged on its own does not show its newest verdict"
	}
	return ""
}

func TestASetIsSafeAndNeverStuck(t *testing.T) {
	t.Parallel()
	states, unsafeAt, stuckAt := design{sets: setDesign{one: true}, faults: 1, small: true}.explore(false)
	if unsafeAt != "" || stuckAt != "" {
		t.Error(unsafeAt, stuckAt)
	}
	t.Logf("%d states", states)
}

func TestTheModelNoticesWhatIsWrongWithASet(t *testing.T) {
	t.Parallel()
	for name, d := range map[string]setDesign{
		"finalize shows the set's verdict":     {one: true, showsAtOnce: true},
		"applied while it is judged":           {one: true, appliesSoon: true},
		"applied over a newer judging":         {one: true, appliesOld: true},
		"a rejudge on its own stays in it":     {one: true, keeps: true},
		"cancelling it leaves the queue's row": {one: true, leavesRow: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, unsafeAt, _ := design{sets: d}.explore(true)
			if unsafeAt == "" {
				t.Error("nothing is unsafe")
			}
			t.Log(unsafeAt)
		})
	}
}
