package contest

import "slices"

// Aside are judgements that a view does not have, but whoever handed in is told of them alone, by submission.
type Aside map[int64][]Judgement

// Take takes in a record that only a participant sees.
func (a Aside) Take(e Entry) {
	if j, ok := e.(Judgement); ok {
		a[j.Submission] = with(a[j.Submission], j)
	}
}

// Told forgets a judgement that the view has from now on.
func (a Aside) Told(e Entry) {
	j, ok := e.(Judgement)
	if !ok || a[j.Submission] == nil {
		return
	}
	left := slices.DeleteFunc(a[j.Submission], func(other Judgement) bool { return other.Generation == j.Generation })
	if a[j.Submission] = left; len(left) == 0 {
		delete(a, j.Submission)
	}
}

// Own returns the row of a participant as it is with what is told aside, and whether it says something else than
// everybody's; it is false if there is no row. The rank remains that of the board, as what it became would depend on what others have
// that is hidden.
func (s *State) Own(participant int64, told Aside) (shown Row, other, ok bool) {
	r := s.rows[participant]
	if r == nil || !r.known {
		return Row{}, false, false
	}
	mine := *r
	mine.cells = slices.Clone(r.cells)
	for _, p := range s.columns {
		if p.index >= len(mine.cells) {
			continue
		}
		c := &mine.cells[p.index]
		all := slices.Clone(c.all)
		for i, sub := range all {
			if told[sub.ID] == nil {
				continue
			}
			judged := *sub
			judged.judgements = slices.Clone(sub.judgements)
			for _, j := range told[sub.ID] {
				judged.judgements = with(judged.judgements, j)
			}
			all[i] = &judged
		}
		c.all = all
		s.count(c, p)
	}
	mine.sum = s.sum(&mine)
	is := s.shown(r, s.rank(r))
	shown = s.shown(&mine, is.Rank)
	other = shown.Solved != is.Solved || shown.Total != is.Total || shown.Points != is.Points || shown.Last != is.Last || !slices.Equal(shown.Cells, is.Cells)
	return shown, other, true
}
