package simulation

// Kinds of events.
type eventKind uint8

const (
	arrive eventKind = iota // a job is handed in
	judged                  // a worker has judged a job
	served                  // the database's work for a statement is done
	commit                  // and so is the disk's
	fail                    // a worker dies
	repair                  // a worker is back
	expire                  // a lease of a dead worker has run out
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
