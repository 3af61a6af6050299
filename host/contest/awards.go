package contest

import (
	"fmt"
	"slices"
	"strings"
)

// Award is what some participants get. Its id is that of the Contest API.
type Award struct {
	ID           string
	Citation     string
	Participants []int64
}

// Awards returns who gets what (CCS Requirements 2026-01, Scoring). It is for the state of staff after the end; while
// something is pending it may change. The format ioi has the winner, the groups' winners and ranks.
func (s *State) Awards() []Award {
	rows := s.ranking()
	a := awards{}
	a.add("winner", "Contest winner", atRank(rows, 1)...)
	if s.cfg.Format == ICPC {
		s.medals(&a)
		s.honors(&a, rows)
		for _, c := range s.Columns() {
			for _, f := range c.First {
				a.add("first-to-solve-"+c.ID, "First to solve problem "+strings.TrimSpace(c.Label+" "+c.Name), f.Participant)
			}
		}
	} else {
		for i, rank := range ranksOf(rows) {
			a.add(fmt.Sprintf("rank-%d", rank), fmt.Sprintf("Rank %d", rank), rows[i].ID)
		}
	}
	s.groupWinners(&a)
	return a.all
}

// Managed reports whether an award is the board's to give, so that nobody else gives one by that id.
func Managed(id string) bool {
	if slices.Contains([]string{"winner", "gold-medal", "silver-medal", "bronze-medal", "highest-honors", "high-honors", "honors", "honorable-mention"}, id) {
		return true
	}
	for _, some := range []string{"rank-", "first-to-solve-", "group-winner-"} {
		if strings.HasPrefix(id, some) {
			return true
		}
	}
	return false
}

// awards collects awards in the order in which they are made.
type awards struct {
	all   []Award
	index map[string]int
}

// add gives an award to more participants. One that nobody gets is none.
func (a *awards) add(id, citation string, to ...int64) {
	if len(to) == 0 {
		return
	}
	i, ok := a.index[id]
	if !ok {
		if a.index == nil {
			a.index = map[string]int{}
		}
		i = len(a.all)
		a.index[id] = i
		a.all = append(a.all, Award{ID: id, Citation: citation})
	}
	a.all[i].Participants = append(a.all[i].Participants, to...)
}

// atRank returns those of a rank.
func atRank(rows []*row, rank int) (ids []int64) {
	for i, r := range ranksOf(rows) {
		if r == rank && rows[i].sum.key[0] > 0 {
			ids = append(ids, rows[i].ID)
		}
	}
	return ids
}

// medals gives medals by rank: who is as good as the last one who gets a medal gets it, too. Nobody gets one for nothing.
func (s *State) medals(a *awards) {
	m := s.cfg.ICPC.Medals
	rows := s.ranking()
	if len(m.Groups) > 0 {
		of := make([]*row, 0, len(rows))
		for _, r := range rows {
			if slices.ContainsFunc(r.Groups, func(g string) bool { return slices.Contains(m.Groups, g) }) {
				of = append(of, r)
			}
		}
		rows = of
	}
	gold, silver, bronze := m.Gold, m.Gold+m.Silver, m.Gold+m.Silver+m.Bronze+s.cfg.ICPC.B
	for i, rank := range ranksOf(rows) {
		switch r := rows[i]; {
		case r.sum.solved == 0:
		case rank <= gold:
			a.add("gold-medal", "Gold medal", r.ID)
		case rank <= silver:
			a.add("silver-medal", "Silver medal", r.ID)
		case rank <= bronze:
			a.add("bronze-medal", "Bronze medal", r.ID)
		}
	}
}

// honors gives ranks and honors. Up to the last medal the rank is that of the board. Behind, those who solved as many
// have the same rank; who solved fewer than the team in the middle has none and an honorable mention.
func (s *State) honors(a *awards, rows []*row) {
	if len(rows) == 0 {
		return
	}
	medals := s.cfg.ICPC.Medals
	top := medals.Gold + medals.Silver + medals.Bronze + s.cfg.ICPC.B
	median := rows[len(rows)/2].sum.solved
	last := rows[min(max(top, 1), len(rows))-1].sum.solved // of who gets the last medal
	first := map[int]int{}                                 // place of the first with that many solved
	for i, r := range rows {
		if _, ok := first[r.sum.solved]; !ok {
			first[r.sum.solved] = i + 1
		}
	}
	for i, rank := range ranksOf(rows) {
		r := rows[i]
		switch {
		case r.sum.solved == 0:
			a.add("honorable-mention", "Honorable mention", r.ID)
			continue
		case rank <= top:
		case r.sum.solved < median:
			a.add("honorable-mention", "Honorable mention", r.ID)
			continue
		default:
			rank = max(first[r.sum.solved], top+1)
			switch {
			case r.sum.solved >= last:
				a.add("highest-honors", "Highest honors", r.ID)
			case r.sum.solved == last-1:
				a.add("high-honors", "High honors", r.ID)
			default:
				a.add("honors", "Honors", r.ID)
			}
		}
		a.add(fmt.Sprintf("rank-%d", rank), fmt.Sprintf("Rank %d", rank), r.ID)
	}
}

// groupWinners names the best of each group, if they achieved anything.
func (s *State) groupWinners(a *awards) {
	ids := make([]string, 0, len(s.groups))
	for id := range s.groups {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	for _, id := range ids {
		of := make([]*row, 0, len(s.order))
		for _, r := range s.order {
			if r.section.class < hidden && slices.Contains(r.Groups, id) {
				of = append(of, r)
			}
		}
		name := s.groups[id].Name
		if name == "" {
			name = id
		}
		if len(of) > 0 {
			a.add("group-winner-"+id, "Winner of "+name, atRank(of[:endOfSection(of)], 1)...)
		}
	}
}

// endOfSection returns how many rows are of the same section as the first.
func endOfSection(rows []*row) int {
	for i, r := range rows {
		if r.section != rows[0].section {
			return i
		}
	}
	return len(rows)
}
