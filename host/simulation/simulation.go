package simulation

import (
	"fmt"
	"math/rand/v2"
)

// Run simulates until every job has ended.
func Run(c Config) (Report, error) {
	if err := c.Validate(); err != nil {
		return Report{}, fmt.Errorf("simulation: %w", err)
	}
	c = c.withDefaults()
	s := newSimulation(c)
	for s.left > 0 {
		e := s.events.next()
		s.advance(e.at)
		s.happen(e)
	}
	return s.report(), nil
}

// job is one job on its way.
type job struct {
	arrived, service float64
	began            float64 // when it was run for the first time; < 0 = not yet
	ended            float64 // when its result was stored; < 0 = not
	running          bool    // a worker that lives judges it
	tries            int     // that failed
}

// worker is one worker of Config.Slots slots.
type worker struct {
	up      bool
	life    int32
	offered bool    // it is among the workers that ask for jobs
	asking  bool    // a claim of it is under way
	holding []int32 // jobs that it has claimed or claims, until their results are stored
	line    []int32 // those of them that wait for a slot
	judging int     // how many have one
	results int     // how many are judged
	streak  int     // how many in a row were short
	long    int     // how many of those that are judged are not short
	plenty  bool    // its last claim got as many as it asked for
	done    outbox  // judged jobs that are to be finalized
}

// simulation is the state of a run.
type simulation struct {
	cfg    Config
	now    float64
	events agenda

	jobs    []job
	left    int // jobs that have not ended
	workers []worker
	ready   ring[int32] // jobs in their order
	retry   ring[int32] // jobs that come back; these go first
	idle    ring[int32] // workers that ask for jobs, who asked longest first
	submits outbox
	db      server

	service, failures *rand.Rand
	figures           figures
}

func newSimulation(c Config) *simulation {
	stream := func(n uint64) *rand.Rand { return rand.New(rand.NewPCG(c.Seed, n)) } //nolint:gosec // a simulation that can be repeated
	s := &simulation{cfg: c, workers: make([]worker, c.Workers), service: stream(2), failures: stream(3)}
	for i, at := range c.Arrivals.times(stream(1)) {
		j := job{arrived: at, began: -1, ended: -1}
		if len(c.Service.Times) > 0 {
			j.service = c.Service.Times[i].Seconds()
		} else {
			j.service = c.Service.draw(s.service)
		}
		s.jobs = append(s.jobs, j)
	}
	s.left = len(s.jobs)
	s.nextArrival(0)
	s.db = newServer(c)
	s.figures.up = c.Workers
	for i := range s.workers {
		s.workers[i] = worker{up: true, done: outbox{worker: int32(i)}}
		s.offer(int32(i))
		s.nextFailure(int32(i))
	}
	s.submits.worker = nobody
	return s
}

// after makes an event happen in so many seconds.
func (s *simulation) after(seconds float64, e event) {
	e.at = s.now + seconds
	s.events.add(e, s.now)
}

func (s *simulation) nextArrival(j int) {
	if j < len(s.jobs) {
		s.events.add(event{at: s.jobs[j].arrived, kind: arrive, job: int32(j)}, s.now)
	}
}

func (s *simulation) happen(e event) {
	switch e.kind {
	case arrive:
		s.nextArrival(int(e.job) + 1)
		s.figures.waiting++
		s.submits.jobs = append(s.submits.jobs, e.job)
		s.flush(&s.submits, submitJobs)
	case judged:
		if w := &s.workers[e.worker]; w.life == e.life {
			s.judged(e.worker, e.job)
		}
	case tooLong:
		if w := &s.workers[e.worker]; w.life == e.life {
			s.giveBack(w)
		}
	case served:
		s.served(e.stmt)
	case commit:
		s.flushed()
	case fail:
		s.fail(e.worker)
	case repair:
		w := &s.workers[e.worker]
		w.up = true
		s.figures.up++
		s.nextFailure(e.worker)
		s.offer(e.worker)
		s.assign()
	case expire:
		s.comeBack(e.job)
		s.assign()
	}
}

// offer lets a worker ask for jobs, if it can take some.
func (s *simulation) offer(i int32) {
	if w := &s.workers[i]; w.up && !w.asking && s.room(w) > 0 && !w.offered {
		w.offered = true
		s.idle.push(i)
	}
}

// assign gives what is ready to workers that ask for it.
func (s *simulation) assign() {
	for s.retry.len()+s.ready.len() > 0 && s.idle.len() > 0 {
		i := s.idle.pop()
		w := &s.workers[i]
		w.offered = false
		free := s.room(w)
		if !w.up || free == 0 {
			continue // it died meanwhile
		}
		n := min(free, s.retry.len()+s.ready.len())
		claimed := make([]int32, 0, n)
		for range n {
			if s.retry.len() > 0 {
				claimed = append(claimed, s.retry.pop())
			} else {
				claimed = append(claimed, s.ready.pop())
			}
		}
		w.asking, w.plenty = true, n == free
		w.holding = append(w.holding, claimed...)
		s.send(&statement{kind: claimJobs, worker: i, life: w.life, jobs: claimed})
	}
}

// begin runs the jobs that a worker has claimed, as far as there are slots.
func (s *simulation) begin(st *statement) {
	w := &s.workers[st.worker]
	w.asking = false
	w.line = append(w.line, st.jobs...)
	s.next(st.worker)
	s.offer(st.worker)
	s.assign()
}

// end completes jobs whose results are stored.
func (s *simulation) end(st *statement) {
	w := &s.workers[st.worker]
	for _, j := range st.jobs {
		s.jobs[j].ended = s.now
		s.left--
		w.drop(j)
	}
	w.results -= len(st.jobs)
	w.done.flying--
	s.flush(&w.done, finalizeJobs)
	s.next(st.worker)
	s.offer(st.worker)
	s.assign()
}

// drop takes a job from those that the worker holds.
func (w *worker) drop(j int32) {
	for at, held := range w.holding {
		if held == j {
			last := len(w.holding) - 1
			w.holding[at] = w.holding[last]
			w.holding = w.holding[:last]
			return
		}
	}
}

func (s *simulation) nextFailure(i int32) {
	if m := s.cfg.Failures.MTBF.Seconds(); m > 0 {
		s.after(s.failures.ExpFloat64()*m, event{kind: fail, worker: i})
	}
}

// fail kills a worker; its jobs come back when their leases have run out.
func (s *simulation) fail(i int32) {
	w := &s.workers[i]
	for _, j := range w.holding {
		if job := &s.jobs[j]; job.running {
			job.running = false
			s.figures.running--
		}
		s.figures.lost++
		s.after(s.cfg.Failures.Lease.Seconds(), event{kind: expire, job: j})
	}
	*w = worker{life: w.life + 1, offered: w.offered, done: outbox{worker: i}}
	s.figures.up--
	s.figures.failures++
	s.after(s.cfg.Failures.Repair.Seconds(), event{kind: repair, worker: i})
}

// comeBack gives a job to the next attempt, or gives it up.
func (s *simulation) comeBack(j int32) {
	job := &s.jobs[j]
	job.tries++
	if m := s.cfg.Failures.MaxTries; m > 0 && job.tries >= m {
		if job.began < 0 {
			s.figures.waiting--
		}
		s.left--
		s.figures.dead++
		return
	}
	s.retry.push(j)
}
