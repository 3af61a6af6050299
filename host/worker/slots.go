package worker

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// A judging of less than shortJudging, and of a lease ÷ shortOfLease, is short. That is also how long a job may wait
// behind another one that turns out not to be.
const (
	shortJudging = 250 * time.Millisecond
	shortOfLease = 10
)

// fewestShort is how many judgings in a row must have been short before jobs are claimed ahead, or as many as there
// are slots if that is more: what ends first of those that began together says little about the others.
const fewestShort = 4

// errBehind is why a job is given back that waited for a slot.
var errBehind = errors.New("it waited behind a job that takes long; another worker may be free")

// slots says which claimed jobs are judged and which wait, and how many more may be asked for.
//
// Each job that is judged has a slot, and keeps it until its result is answered: so long nothing more is asked for, and
// what waits for a worker waits in the database, where every worker can take it. While all judgings are short, that
// would leave the processor idle for the time of a commit and a claim for each job. Then, and as long as questions for
// jobs get as many as they ask for, the slots are used ahead: a result that was handed in leaves its slot, unless as
// many as there are slots have done so and are unanswered, and up to as many jobs as there are slots are claimed beyond
// those that are judged. They wait here, in their order, with their leases renewed, and are given back as soon as a
// judging turns out not to be short.
//
// Compiling takes longer than that. Where judgings are short but for it, as those of programs that nobody has compiled
// before, the same holds from when a program is compiled: one job is claimed beyond those that are judged for each that
// is about to end.
type slots struct {
	total int
	short time.Duration // a judging of less is short

	start    func(*run)                     // has a run judged that has got a slot; does not wait for that
	giveBack func(waited []*run, why error) // gives back runs; does not wait for that
	waits    func(n int)                    // is told how many more wait

	freed chan struct{} // holds a value when more may be asked for

	mu       sync.Mutex
	judging  map[*run]judging
	kept     int // results without an answer, and failures, that keep their slots
	handed   int // results without an answer whose slots are free again
	asked    int // jobs that are asked for and have not come
	waiting  []*run
	streak   int  // judgings in a row that were short
	tests    int  // judgings in a row that were short but for compiling, no fewer
	plenty   bool // the last question got as many jobs as it asked for
	stopping bool
	clock    *time.Timer // ends the waiting when a judging turns out long; nil = was never needed
}

// judging says when a judging began, and when its program was compiled, zero until then.
type judging struct{ began, compiled time.Time }

func newSlots(total int, lease time.Duration) *slots {
	return &slots{
		total: total, short: min(shortJudging, lease/shortOfLease), freed: make(chan struct{}, 1), judging: map[*run]judging{},
		start: func(*run) {}, giveBack: func([]*run, error) {}, waits: func(int) {},
	}
}

// reserve waits until jobs may be asked for, and returns how many. They must come with place, or be given up with
// forgo. It returns 0 when ctx is done.
func (s *slots) reserve(ctx context.Context) int {
	for ctx.Err() == nil {
		s.mu.Lock()
		n := s.room()
		s.asked += n
		s.mu.Unlock()
		if n > 0 {
			return n
		}
		select {
		case <-ctx.Done():
		case <-s.freed:
		}
	}
	return 0
}

// room returns how many jobs may be asked for. One by one they would each cost a statement, so ahead it is none or half
// as many as there are judgings that are about to end. The caller holds mu.
func (s *slots) room() int {
	held := s.asked + len(s.waiting) + s.taken()
	if s.plenty && s.ahead() {
		ending := s.ending()
		if n := s.total + ending - held; held < s.total || n >= max(1, (ending+1)/2) {
			return n
		}
		return 0
	}
	return max(0, s.total-held)
}

// ahead reports whether all judgings are short, or all are but for compiling. The caller holds mu.
func (s *slots) ahead() bool {
	return !s.stopping && s.enough(s.tests) && s.longest() < s.short
}

// whole reports whether judgings were short with all that belongs to them. The caller holds mu.
func (s *slots) whole() bool { return s.enough(s.streak) }

// enough reports whether a streak is long enough for jobs to be claimed ahead.
func (s *slots) enough(streak int) bool { return streak >= max(s.total, fewestShort) }

// ending returns beside how many judgings a job may be claimed ahead: where only tests are short, beside those that are
// about to end, as their programs are compiled. The caller holds mu.
func (s *slots) ending() (n int) {
	if s.whole() {
		return s.total
	}
	for _, j := range s.judging {
		if !j.compiled.IsZero() {
			n++
		}
	}
	return n
}

// longest returns for how long the oldest judging goes on, but for compiling where only tests are short, or what waits
// longest has waited, as while results get no answer. The caller holds mu.
func (s *slots) longest() (d time.Duration) {
	if len(s.waiting) > 0 {
		d = time.Since(s.waiting[0].claimed)
	}
	for _, j := range s.judging {
		switch {
		case s.whole():
			d = max(d, time.Since(j.began))
		case !j.compiled.IsZero():
			d = max(d, time.Since(j.compiled))
		}
	}
	return d
}

// taken returns how many slots are not free. The caller holds mu.
func (s *slots) taken() int { return len(s.judging) + s.kept }

// forgo gives up n of the jobs that were reserved.
func (s *slots) forgo(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked -= n
	s.plenty = false
}

// place has runs judged that were claimed when asked jobs had been reserved. Those without a slot wait, or are given
// back if by now they would wait behind a job that takes long.
func (s *slots) place(asked int, runs []*run) {
	s.mu.Lock()
	s.asked -= asked
	s.plenty = len(runs) == asked
	before := len(s.waiting)
	s.waiting = append(s.waiting, runs...)
	s.waits(len(runs))
	begin := s.next()
	var back []*run
	switch {
	case !s.ahead():
		back = s.clear()
	case before == 0:
		s.watch()
	}
	s.mu.Unlock()
	s.move(begin, back, errBehind)
}

// compiled says that the program of r, which is judged, is compiled.
func (s *slots) compiled(r *run) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if j, is := s.judging[r]; is && j.compiled.IsZero() {
		s.judging[r] = judging{j.began, time.Now()}
		s.poke()
	}
}

// judged says that r is judged, which was well or not and took so long; its slot is kept until it is answered or handed
// over. Where it was not short as those before it were, nothing waits any more.
func (s *slots) judged(r *run, took time.Duration, well bool) {
	s.mu.Lock()
	short := well && took < s.short
	tests := short
	if j := s.judging[r]; !j.compiled.IsZero() {
		tests = well && time.Since(j.compiled) < s.short
	}
	delete(s.judging, r)
	s.kept++
	var back []*run
	if !tests { // what was short but for compiling, and is not any more, the clock has seen
		back = s.clear()
	}
	s.streak, s.tests = longer(s.streak, short), longer(s.tests, tests)
	s.mu.Unlock()
	s.move(nil, back, errBehind)
}

// longer returns the length of a streak after one more, which belongs to it or ends it.
func longer(streak int, belongs bool) int {
	if belongs {
		return streak + 1
	}
	return 0
}

// handOver says that a result is about to be recorded, and reports whether its slot is free from now on.
func (s *slots) handOver() bool {
	s.mu.Lock()
	early := s.plenty && s.ahead() && s.handed < s.total
	var begin []*run
	if early {
		s.kept--
		s.handed++
		begin = s.next()
	}
	s.mu.Unlock()
	s.move(begin, nil, nil)
	return early
}

// answered says that nothing is left to do for a job that was judged, of which the slot had become free early or not.
func (s *slots) answered(early bool) {
	s.mu.Lock()
	var begin []*run
	if early {
		s.handed--
	} else {
		s.kept--
		begin = s.next()
	}
	s.mu.Unlock()
	s.move(begin, nil, nil)
}

// withdraw gives back r if it waits.
func (s *slots) withdraw(r *run, why error) {
	s.mu.Lock()
	i := slices.Index(s.waiting, r)
	if i >= 0 {
		s.waiting = slices.Delete(s.waiting, i, i+1)
		s.waits(-1)
		s.poke()
	}
	s.mu.Unlock()
	if i >= 0 {
		s.giveBack([]*run{r}, why)
	}
}

// release gives back what waits.
func (s *slots) release(why error) {
	s.mu.Lock()
	s.streak, s.tests = 0, 0
	back := s.clear()
	s.mu.Unlock()
	s.move(nil, back, why)
}

// stop gives back what waits. From now on nothing does.
func (s *slots) stop() {
	s.mu.Lock()
	s.stopping = true
	s.mu.Unlock()
	s.release(errStopping)
}

// next gives free slots to what waits longest, and returns it. The caller holds mu, and starts it afterwards.
func (s *slots) next() []*run {
	n := min(max(0, s.total-s.taken()), len(s.waiting))
	begin := slices.Clone(s.waiting[:n])
	s.waiting = slices.Delete(s.waiting, 0, n)
	for _, r := range begin {
		s.judging[r] = judging{began: time.Now()}
	}
	s.waits(-n)
	s.poke()
	return begin
}

// clear has nothing wait, and returns what did. The caller holds mu, and gives it back afterwards.
func (s *slots) clear() []*run {
	back := s.waiting
	s.waiting = nil
	s.waits(-len(back))
	s.poke()
	return back
}

// poke has reserve look again. The caller holds mu.
func (s *slots) poke() {
	select {
	case s.freed <- struct{}{}:
	default:
	}
}

// watch has the waiting end when the oldest judging turns out not to be short. The caller holds mu.
func (s *slots) watch() {
	if len(s.waiting) == 0 {
		return
	}
	left := s.short - s.longest()
	if s.clock == nil {
		s.clock = time.AfterFunc(left, s.look)
	} else {
		s.clock.Reset(left)
	}
}

// look is what the clock does.
func (s *slots) look() {
	s.mu.Lock()
	var back []*run
	if s.ahead() {
		s.watch()
	} else {
		s.streak = 0 // no more is claimed ahead until judgings are short again
		back = s.clear()
	}
	s.mu.Unlock()
	s.move(nil, back, errBehind)
}

// move starts and gives back runs. The caller does not hold mu.
func (s *slots) move(begin, back []*run, why error) {
	for _, r := range begin {
		s.start(r)
	}
	if len(back) > 0 {
		s.giveBack(back, why)
	}
}
