package contest

// Step is one step of opening a frozen board: a cell is shown, or a row is done with.
type Step struct {
	Participant int64
	Problem     string // "" = nothing of the row is hidden any more
	Was, Rank   int    // of the row, as the board is then
	Cell        Cell   // as it is now
}

// Resolve returns the steps in which the frozen board becomes the final one: from the last row upwards, in each the first
// problem on which something is hidden, until nothing is. A row that rises leaves its place to the next one. What not even
// the final state knows stays hidden. The states are not changed.
func Resolve(frozen, final *State) []Step {
	_, steps := resolve(frozen, final)
	return steps
}

// AsFrozen returns the state that those knew from whom the freeze hides something, in the end and before the thaw. Where nothing was ever
// hidden, it is the same.
func (s *State) AsFrozen() *State {
	c := s.clone()
	if c.clock.round.Freeze == nil {
		return c
	}
	for _, sub := range c.submissions {
		if sub.at >= *c.clock.round.Freeze {
			sub.judgements = nil
		}
	}
	c.settle()
	return c
}

// resolve is Resolve, and returns the state in the end, too.
func resolve(frozen, final *State) (*State, []Step) {
	s := frozen.clone()
	var steps []Step
	for at := len(s.order) - 1; at >= 0; {
		r := s.order[at]
		p := s.hiddenIn(r, final)
		if p == nil {
			steps = append(steps, Step{Participant: r.ID, Was: s.rank(r), Rank: s.rank(r)})
			at--
			continue
		}
		step := Step{Participant: r.ID, Problem: p.ID, Was: s.rank(r)}
		s.change(r, p, func() {
			for _, sub := range r.cells[p.index].all {
				if known := final.submissions[sub.ID]; known != nil {
					sub.judgements = known.judgements
				}
			}
		})
		step.Rank, step.Cell = s.rank(r), r.result(p)
		steps = append(steps, step)
	}
	return s, steps
}

// hiddenIn returns the first problem of a row of which the final state knows more, nil if there is none.
func (s *State) hiddenIn(r *row, final *State) *problem {
	for _, p := range s.columns {
		if p.index >= len(r.cells) {
			continue
		}
		for _, sub := range r.cells[p.index].all {
			if _, judged := sub.decided(); judged || !sub.known || sub.ignored || !s.clock.official(sub.at) {
				continue
			}
			if known := final.submissions[sub.ID]; known != nil {
				if _, judged := known.decided(); judged {
					return p
				}
			}
		}
	}
	return nil
}

// clone returns a state of its own.
func (s *State) clone() *State {
	c := New(s.cfg)
	c.clock = clock{round: s.clock.round}
	for _, r := range s.clock.removed {
		c.clock.remove(r)
	}
	c.held = true
	for _, g := range s.groups {
		c.groups[g.ID] = g
	}
	for _, p := range s.problems {
		mine := c.column(p.ID)
		mine.Problem, mine.known = p.Problem, p.known
	}
	for _, p := range s.columns {
		c.columns = append(c.columns, c.problems[p.ID])
	}
	for _, r := range s.rows {
		mine := c.row(r.ID)
		mine.Participant, mine.known, mine.name, mine.adjust = r.Participant, r.known, r.name, r.adjust
	}
	for _, sub := range s.submissions {
		mine := *sub
		c.submissions[sub.ID] = &mine
		if sub.known {
			c.put(&mine)
		}
	}
	c.settle()
	return c
}
