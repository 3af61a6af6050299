package simulation

// How the product claims ahead: after so many judgings in a row that took less than so many seconds, or as many as a
// worker has slots if that is more. See the package worker.
const (
	shortJudging = 0.25
	fewestShort  = 4
)

// ahead reports whether a worker claims beyond its slots.
func (s *simulation) ahead(w *worker) bool {
	return w.plenty && w.long == 0 && w.streak >= max(s.cfg.Slots, fewestShort)
}

// room returns how many jobs a worker may ask for.
func (s *simulation) room(w *worker) int {
	held := len(w.holding) - w.results + s.kept(w)
	if s.ahead(w) {
		if n := 2*s.cfg.Slots - held; held < s.cfg.Slots || n >= (s.cfg.Slots+1)/2 {
			return max(0, n)
		}
		return 0
	}
	return max(0, s.cfg.Slots-held)
}

// kept returns how many slots are taken by results that are not stored.
func (s *simulation) kept(w *worker) int {
	if s.ahead(w) {
		return max(0, w.results-s.cfg.Slots)
	}
	return min(w.results, s.cfg.Slots)
}

// next gives free slots of a worker to what waits in it.
func (s *simulation) next(i int32) {
	w := &s.workers[i]
	for len(w.line) > 0 && w.judging+s.kept(w) < s.cfg.Slots {
		j := w.line[0]
		w.line = w.line[1:]
		w.judging++
		job := &s.jobs[j]
		if job.began < 0 {
			job.began = s.now
			s.figures.waiting--
		}
		job.running = true
		s.figures.running++
		if job.service >= shortJudging {
			w.long++
			if len(w.line) > 0 || w.asking {
				s.after(shortJudging, event{kind: tooLong, worker: i, life: w.life})
			}
		}
		s.after(job.service, event{kind: judged, worker: i, life: w.life, job: j})
	}
}

// judged hands in a result.
func (s *simulation) judged(i, j int32) {
	w := &s.workers[i]
	s.jobs[j].running = false
	s.figures.running--
	w.judging--
	w.results++
	w.streak++
	if s.jobs[j].service >= shortJudging {
		w.long--
		w.streak = 0
	}
	w.done.jobs = append(w.done.jobs, j)
	s.flush(&w.done, finalizeJobs)
	s.next(i)
	s.offer(i)
	s.assign()
}

// giveBack has other workers take what waits in one.
func (s *simulation) giveBack(w *worker) {
	for _, j := range w.line {
		w.drop(j)
		s.retry.push(j)
	}
	w.line = nil
	s.assign()
}
