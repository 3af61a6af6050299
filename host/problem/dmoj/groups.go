package dmoj

import (
	"fmt"
	"slices"

	"deepoj/host/problem"
	"deepoj/host/problem/source"
)

// layout makes groups of the tests. Whatever is worth nothing is a pretest: when it is
// not passed, nothing after it is judged.
func (d *reader) layout(items []item) {
	root := &problem.Group{Grading: problem.Grading{Verdict: problem.FirstError, Score: problem.Sum, Rule: problem.ScorePoints}}
	d.Package.Root = root
	d.Package.Scoring = slices.ContainsFunc(items, func(it item) bool { return it.points > 0 })
	if !d.Package.Scoring {
		root.Grading = problem.Grading{Break: true, Verdict: problem.FirstError, Score: problem.Sum, AcceptScore: 1}
	}
	gate, runs := "", 0 // the pretests that came last, and how many groups there are of each kind
	for len(items) > 0 {
		n := slices.IndexFunc(items, func(it item) bool { return (it.points > 0) != (items[0].points > 0) })
		if n < 0 {
			n = len(items)
		}
		run := items[:n]
		items = items[n:]
		switch {
		case !d.Package.Scoring:
			root.Items = append(root.Items, d.passing(run)...)
		case run[0].points == 0:
			runs++
			g := &problem.Group{Name: numbered("pretests", runs), Grading: problem.Grading{Break: true, Verdict: problem.FirstError, Score: problem.Sum, Rule: problem.ScorePoints, Requires: after(gate)}}
			g.Items = d.scoring(run, "", "")
			root.Items = append(root.Items, problem.Item{Group: g})
			gate = g.Name
		default:
			root.Items = append(root.Items, d.scoring(run, gate, numbered("cases", max(1, runs)))...)
		}
	}
}

func numbered(name string, n int) string {
	if n > 1 {
		return fmt.Sprintf("%s-%d", name, n)
	}
	return name
}

// after is what a group requires behind a gate.
func after(gate string) []string {
	if gate == "" {
		return nil
	}
	return []string{gate}
}

// passing returns the items of a problem without points.
func (d *reader) passing(run []item) []problem.Item {
	var all []problem.Item
	for _, it := range run {
		if it.batch == 0 {
			all = append(all, problem.Item{Test: it.tests[0]})
			continue
		}
		g := &problem.Group{Name: it.group(), Grading: problem.Grading{Break: true, Verdict: problem.FirstError, Score: problem.Sum, AcceptScore: 1}}
		for _, t := range it.tests {
			g.Items = append(g.Items, problem.Item{Test: t})
		}
		all = append(all, problem.Item{Group: g})
	}
	return all
}

func (it item) group() string {
	if it.batch < 0 {
		return fmt.Sprintf("pretests%d", -it.batch)
	}
	return fmt.Sprintf("batch%d", it.batch)
}

// scoring returns the items of a problem with points. Behind a gate, tests without a
// batch are in groups of their own, which require it.
func (d *reader) scoring(run []item, gate, name string) []problem.Item {
	var all []problem.Item
	var open *problem.Group
	groups := 0
	for _, it := range run {
		for _, t := range it.tests {
			if t.Points = new(it.points); d.checker != nil && d.checker.points {
				t.Flags = append(t.Flags, "--points="+source.Short(it.points))
			}
		}
		switch {
		case it.batch != 0:
			open = nil
			all = append(all, problem.Item{Group: it.graded(gate)})
		case gate == "":
			all = append(all, problem.Item{Test: it.tests[0]})
		default:
			if open == nil {
				groups++
				open = &problem.Group{Name: name, Grading: problem.Grading{Verdict: problem.FirstError, Score: problem.Sum, Rule: problem.ScorePoints, Requires: after(gate)}}
				if groups > 1 {
					open.Name = fmt.Sprintf("%s.%d", name, groups)
				}
				all = append(all, problem.Item{Group: open})
			}
			open.Items = append(open.Items, problem.Item{Test: it.tests[0]})
		}
	}
	return all
}

// graded returns the group of a batch: it has the least of what its tests have, and
// ends with the first that is not passed. A test with a part of its points is passed.
func (it item) graded(gate string) *problem.Group {
	g := &problem.Group{Name: it.group(), Grading: problem.Grading{Break: true, Verdict: problem.FirstError, Score: problem.Min, AcceptScore: it.points, Rule: problem.ScoreBounded, Requires: after(gate)}}
	for _, n := range it.needs {
		g.Grading.Requires = append(g.Grading.Requires, fmt.Sprintf("batch%d", n))
	}
	for _, t := range it.tests {
		g.Items = append(g.Items, problem.Item{Test: t})
	}
	return g
}
