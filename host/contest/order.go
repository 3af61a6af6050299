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

// compare orders rows: by section, key, name and id.
func compare(a, b *row) int {
	return cmp.Or(compareSections(a.section, b.section), compareKeys(a.sum.key, b.sum.key), bytes.Compare(a.name, b.name), cmp.Compare(a.ID, b.ID))
}

// take takes a row out of the order, in which it must be.
func (s *State) take(r *row) {
	i, _ := slices.BinarySearchFunc(s.order, r, compare)
	s.order = slices.Delete(s.order, i, i+1)
}

// insert puts a row in the order.
func (s *State) insert(r *row) {
	i, _ := slices.BinarySearchFunc(s.order, r, compare)
	s.order = slices.Insert(s.order, i, r)
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
