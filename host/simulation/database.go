package simulation

// statementKind is what a statement does.
type statementKind uint8

const (
	submitJobs statementKind = iota
	claimJobs
	finalizeJobs
)

// nobody is the worker of what no worker does.
const nobody = -1

// How the product batches: statements of one kind that are under way at once from one process, and jobs in each.
const (
	lanes         = 2
	submitLimit   = 256
	finalizeLimit = 128
)

// statement is one request to the database, for several jobs.
type statement struct {
	kind   statementKind
	worker int32
	life   int32 // of the worker when it asked
	jobs   []int32
}

// outbox holds jobs of one process that wait for the next statement.
type outbox struct {
	worker int32
	jobs   []int32
	flying int // statements that have not been answered
}

// flush sends as many statements as may be under way.
func (s *simulation) flush(o *outbox, kind statementKind) {
	limit := submitLimit
	life := int32(0)
	if kind == finalizeJobs {
		limit, life = finalizeLimit, s.workers[o.worker].life
	}
	for len(o.jobs) > 0 && o.flying < lanes {
		n := min(len(o.jobs), limit)
		s.send(&statement{kind: kind, worker: o.worker, life: life, jobs: append([]int32(nil), o.jobs[:n]...)})
		o.jobs = append(o.jobs[:0], o.jobs[n:]...)
		o.flying++
	}
}

// server is the database: statements in their order, on so many cores.
type server struct {
	queue ring[*statement]
	cores int
	busy  int
	speed float64 // what beats leave of a core, 1 = all

	flushing []*statement // are being written to the disk
	written  []*statement // will be with the next flush
}

// leastSpeed is what is left of the database when beats alone are too much: it must come to an end.
const leastSpeed = 0.01

func newServer(c Config) server {
	return server{cores: c.Database.Cores, speed: max(leastSpeed, 1-c.beats())}
}

// beats is the share of the database that signs of life take.
func (c Config) beats() float64 {
	if c.Database.BeatEvery <= 0 {
		return 0
	}
	return float64(c.Workers) * c.Database.Beat.Seconds() / c.Database.BeatEvery.Seconds() / float64(c.Database.Cores)
}

// work is what a statement takes of a core, in seconds.
func (c Config) work(st *statement) float64 {
	switch st.kind {
	case submitJobs:
		return c.Database.Submit.of(len(st.jobs))
	case claimJobs:
		return c.Database.Claim.of(len(st.jobs))
	case finalizeJobs:
	}
	return c.Database.Finalize.of(len(st.jobs))
}

func (s *simulation) send(st *statement) {
	s.db.queue.push(st)
	s.serve()
}

// serve gives free cores their next statements.
func (s *simulation) serve() {
	for s.db.busy < s.db.cores && s.db.queue.len() > 0 {
		st := s.db.queue.pop()
		s.db.busy++
		s.after(s.cfg.work(st)/s.db.speed, event{kind: served, stmt: st})
	}
}

func (s *simulation) served(st *statement) {
	s.db.busy--
	s.serve()
	if s.cfg.Database.Commit == 0 {
		s.committed(st)
		return
	}
	s.db.written = append(s.db.written, st)
	if len(s.db.flushing) == 0 {
		s.flushNext()
	}
}

// flushNext begins to write to the disk what is to be written, all at once.
func (s *simulation) flushNext() {
	s.db.flushing, s.db.written = s.db.written, nil
	s.after(s.cfg.Database.Commit.Seconds(), event{kind: commit})
}

// flushed answers what is on the disk, and begins with what came meanwhile.
func (s *simulation) flushed() {
	done := s.db.flushing
	s.db.flushing = nil
	if len(s.db.written) > 0 {
		s.flushNext()
	}
	for _, st := range done {
		s.committed(st)
	}
}

// committed tells the answer to who asked, if they still live. What a dead worker
// claimed or wanted to finalize comes back with its lease.
func (s *simulation) committed(st *statement) {
	if st.kind == submitJobs {
		s.submits.flying--
		for _, j := range st.jobs {
			s.ready.push(j)
		}
		s.flush(&s.submits, submitJobs)
		s.assign()
		return
	}
	if s.workers[st.worker].life != st.life {
		return
	}
	if st.kind == claimJobs {
		s.begin(st)
	} else {
		s.end(st)
	}
}
