package contest

import (
	"bytes"
	"cmp"
	"math"
	"slices"
	"sort"
)

// key is what rows are ranked by: numbers that are compared one after another, of which the larger is better.
type key [3]int64

// section is a part of the board: those in it rank among each other.
type section struct {
	class class
	sort  int
}

// class is a kind of sections, in the order in which they are shown.
type class int

const (
	ranked class = iota
	unranked
	hidden // for staff, without a rank
	out    // disqualified, without a rank
)

// sectionOf returns where a participant ranks.
func (s *State) sectionOf(p Participant) section {
	switch {
	case p.Status == Disqualified:
		return section{class: out}
	case p.Hidden:
		return section{class: hidden}
	}
	in := section{class: ranked}
	if !p.Ranked {
		in.class = unranked
	}
	first := true
	for _, id := range p.Groups {
		g, ok := s.groups[id]
		if !ok {
			continue
		}
		if !g.Ranked {
			in.class = unranked
		}
		if first || g.Sort < in.sort {
			in.sort, first = g.Sort, false
		}
	}
	return in
}

func compareSections(a, b section) int {
	return cmp.Or(cmp.Compare(a.class, b.class), cmp.Compare(a.sort, b.sort))
}

// compareKeys returns what is below 0 if a is better than b.
func compareKeys(a, b key) int { return slices.Compare(b[:], a[:]) }

// compare orders rows: by section, key, name and id. It looks at no more than it needs.
func compare(a, b *row) int {
	if a.section != b.section {
		return compareSections(a.section, b.section)
	}
	for i, mine := range a.sum.key {
		if theirs := b.sum.key[i]; mine != theirs {
			return cmp.Compare(theirs, mine)
		}
	}
	if c := bytes.Compare(a.name, b.name); c != 0 {
		return c
	}
	return cmp.Compare(a.ID, b.ID)
}

// place returns the place at which a row is in the order, or belongs.
func (s *State) place(r *row) int {
	i, _ := slices.BinarySearchFunc(s.order, r, compare)
	return i
}

// insert puts a row in the order, and returns its place.
func (s *State) insert(r *row) int {
	i := s.place(r)
	s.order = slices.Insert(s.order, i, r)
	return i
}

// move has the row at a place be where it belongs since it changed, and returns that place. Only the rows between move.
func (s *State) move(i int) int {
	r := s.order[i]
	if j, _ := slices.BinarySearchFunc(s.order[:i], r, compare); j < i {
		copy(s.order[j+1:i+1], s.order[j:i])
		s.order[j] = r
		return j
	}
	j, _ := slices.BinarySearchFunc(s.order[i+1:], r, compare)
	copy(s.order[i:i+j], s.order[i+1:i+1+j])
	s.order[i+j] = r
	return i + j
}

// rankAt is the rank of the row at a place: see [State.rank]. Those of equal rank are next to it.
func (s *State) rankAt(i int) int {
	r := s.order[i]
	if r.section.class >= hidden {
		return 0
	}
	equal := func(j int) bool { return s.order[j].sum.key == r.sum.key && s.order[j].section == r.section }
	from, step := i, 1 // equal, as all behind it are
	for from-step >= 0 && equal(from-step) {
		from, step = from-step, 2*step
	}
	low := max(from-step, -1) + 1
	first := low + sort.Search(from-low, func(n int) bool { return equal(low + n) })
	return first - s.begin(r.section) + 1
}

// rank returns the rank of a row among those of its section, from 1: one more than there are better ones. It is 0 for
// those who have none.
func (s *State) rank(r *row) int {
	if !r.known || r.section.class >= hidden {
		return 0
	}
	return s.firstOf(r.section, r.sum.key) - s.begin(r.section) + 1
}

// firstOf returns the place of the first row of a section that is not better than k.
func (s *State) firstOf(in section, k key) int {
	return sort.Search(len(s.order), func(i int) bool {
		return cmp.Or(compareSections(s.order[i].section, in), compareKeys(s.order[i].sum.key, k)) >= 0
	})
}

// begin returns the place of the first row of a section.
func (s *State) begin(in section) int {
	if len(s.order) > 0 && compareSections(s.order[0].section, in) >= 0 {
		return 0
	}
	return sort.Search(len(s.order), func(i int) bool { return compareSections(s.order[i].section, in) >= 0 })
}

// ranking returns the rows that are ranked, in their order.
func (s *State) ranking() []*row {
	return s.order[:s.begin(section{class: unranked, sort: math.MinInt})]
}

// those returns the rows of a section in their order.
func (s *State) those(in section) []*row {
	end := sort.Search(len(s.order), func(i int) bool { return compareSections(s.order[i].section, in) > 0 })
	return s.order[s.begin(in):end]
}
