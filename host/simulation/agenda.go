package simulation

import (
	"math"
	"math/rand/v2"
	"time"
)

// Kinds of events.
type eventKind uint8

const (
	arrive  eventKind = iota // a job is handed in
	judged                   // a worker has judged a job
	tooLong                  // a job has been judged for so long that what waits behind it is given back
	served                   // the database's work for a statement is done
	commit                   // the disk has what was to be written
	fail                     // a worker dies
	repair                   // a worker is back
	expire                   // a lease of a dead worker has run out
)

// event is something that happens to a worker, a job or a statement at a time.
type event struct {
	at     float64
	seq    uint64 // breaks ties: what was made first happens first
	kind   eventKind
	worker int32
	life   int32 // of the worker; an event of an earlier life is void
	job    int32
	stmt   *statement
}

// agenda holds what is to happen, in order of time.
type agenda struct {
	seq   uint64
	now   ring[event] // what happens at once
	later []event     // a binary heap
}

func (a event) before(b event) bool { return a.at < b.at || a.at == b.at && a.seq < b.seq }

// add takes an event up, of which the time is now or later.
func (g *agenda) add(e event, now float64) {
	g.seq++
	e.seq = g.seq
	if e.at <= now {
		g.now.push(e)
		return
	}
	g.later = append(g.later, e)
	for i := len(g.later) - 1; i > 0; {
		up := (i - 1) / 2
		if !g.later[i].before(g.later[up]) {
			break
		}
		g.later[i], g.later[up] = g.later[up], g.later[i]
		i = up
	}
}

// next takes what happens next. There must be something.
func (g *agenda) next() event {
	if g.now.len() > 0 {
		return g.now.pop()
	}
	first, last := g.later[0], len(g.later)-1
	g.later[0] = g.later[last]
	g.later = g.later[:last]
	for i := 0; ; {
		least := i
		for _, down := range []int{2*i + 1, 2*i + 2} {
			if down < last && g.later[down].before(g.later[least]) {
				least = down
			}
		}
		if least == i {
			return first
		}
		g.later[i], g.later[least] = g.later[least], g.later[i]
		i = least
	}
}

// ring is a queue in which nothing is moved about.
type ring[T any] struct {
	items []T
	first int
}

func (r *ring[T]) len() int { return len(r.items) - r.first }
func (r *ring[T]) push(v T) { r.items = append(r.items, v) }
func (r *ring[T]) pop() T {
	v := r.items[r.first]
	r.first++
	if r.first > 1024 && r.first > len(r.items)/2 {
		r.items = append(r.items[:0], r.items[r.first:]...)
		r.first = 0
	}
	return v
}

// times returns the moments at which jobs come, in order.
func (a Arrivals) times(rng *rand.Rand) (out []float64) {
	if len(a.Times) > 0 {
		for _, t := range a.Times {
			out = append(out, t.Seconds())
		}
		return out
	}
	end := a.Duration.Seconds()
	if a.Pattern == Constant {
		for i := range int(a.Rate * end) {
			out = append(out, float64(i)/a.Rate)
		}
		return out
	}
	// Thinning: come at the highest rate, and stay with the probability that the
	// rate of the moment is of it (Lewis and Shedler 1979).
	top := a.Rate
	if a.Pattern == Daily || a.Pattern == Contest {
		top *= a.Peak
	}
	for t := rng.ExpFloat64() / top; t < end; t += rng.ExpFloat64() / top {
		if rng.Float64()*top < a.rate(t) {
			out = append(out, t)
		}
	}
	return out
}

// rate is how many jobs per second come at t; its mean is Rate.
func (a Arrivals) rate(t float64) float64 {
	switch a.Pattern {
	case Daily:
		const day = float64(24 * time.Hour / time.Second)
		return a.Rate * (1 - (a.Peak-1)*math.Cos(2*math.Pi*t/day))
	case Contest:
		// Reading comes first, and the last minutes are the busiest. What is in between makes the mean.
		const slow, reading, rush = 0.2, 0.05, 0.1
		level := (1 - slow*reading - a.Peak*rush) / (1 - reading - rush)
		switch x := t / a.Duration.Seconds(); {
		case level < 0: // so high a peak leaves nothing for the rest
			if x >= 1-rush {
				return a.Rate / rush
			}
			return 0
		case x < reading:
			return a.Rate * slow
		case x >= 1-rush:
			return a.Rate * a.Peak
		default:
			return a.Rate * level
		}
	case Constant, Poisson:
	}
	return a.Rate
}

// draw returns one service time.
func (s Service) draw(rng *rand.Rand) float64 {
	mean := s.Mean.Seconds()
	switch s.Distribution {
	case Exponential:
		return mean * rng.ExpFloat64()
	case LogNormal:
		v := math.Log1p(s.CV * s.CV) // variance of the logarithm
		return mean * math.Exp(rng.NormFloat64()*math.Sqrt(v)-v/2)
	case Fixed:
	}
	return mean
}
