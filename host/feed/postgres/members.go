package postgres

import (
	"context"
	"fmt"
)

// remembered is of how many judgings at least it is known whether they are for a rejudge set.
const remembered = 64 << 10

// members remembers of judgings whether they are for a rejudge set, which does not change. Old ones are forgotten.
type members struct{ young, old map[judging]bool }

func newMembers() members { return members{map[judging]bool{}, map[judging]bool{}} }

// add learns of judgings.
func (m *members) add(some map[judging]bool) {
	for j, is := range some {
		m.learn(j, is)
	}
}

func (m *members) learn(j judging, is bool) {
	if len(m.young) >= remembered {
		m.young, m.old = map[judging]bool{}, m.young
	}
	m.young[j] = is
}

func (m *members) know(j judging) (is, known bool) {
	if is, known = m.young[j]; known {
		return is, true
	}
	if is, known = m.old[j]; known {
		m.learn(j, is)
	}
	return is, known
}

// member reports whether a judging is for a rejudge set. The stream tells of sets before it tells of their judgings, so
// one that is not known here was made before the stream began, or was forgotten long since, and the database has it.
func (n *session) member(ctx context.Context, j judging) (bool, error) {
	if is, known := n.known.know(j); known {
		return is, nil
	}
	rows, err := ask(ctx, n.side, fmt.Sprintf("SELECT 1 FROM rejudge_set_jobs WHERE job_id = %d AND generation = %d", j.job, j.generation))
	if err != nil {
		return false, n.s.explain("ask for rejudge sets", err)
	}
	n.known.learn(j, len(rows) > 0)
	return len(rows) > 0, nil
}
