package polygon

import (
	"math"
	"slices"
	"strings"

	"deepoj/host/problem"
	"deepoj/host/problem/source"
)

// group is a group of tests as problem.xml has it.
type group struct {
	at       *element // where it is said how it is graded
	group    *problem.Group
	complete bool     // all points or none
	points   *float64 // of the whole group
}

type groups struct{ all []*group }

func (gs *groups) named(name string) *group {
	for _, g := range gs.all {
		if g.group.Name == name {
			return g
		}
	}
	return nil
}

// groups reads how groups are graded. A group without tests has no effect.
func (p *reader) groups(e *element) *groups {
	gs := &groups{}
	told := map[string]bool{}
	for _, x := range e.all("group") {
		name := x.attr("name")
		if gs.named(name) != nil {
			x.refuse("name", "is %q, as is that of another group", name)
			continue
		}
		g := gs.add(x, name)
		if g == nil {
			continue
		}
		g.complete = x.choice("points-policy", "complete-group", "each-test") == "complete-group"
		g.points = x.number("points", 0, source.MaxScore)
		if policy := x.choice("feedback-policy", "complete", "icpc", "points", "none"); policy != "complete" && !told[policy] {
			told[policy] = true
			x.warn("feedback-policy", "is %s, which has no effect: what is shown of tests is the platform's choice", policy)
		}
		for _, d := range x.child("dependencies").all("dependency") {
			g.group.Grading.Requires = append(g.group.Grading.Requires, d.attr("group"))
			d.unknownRefused()
		}
		x.unknownRefused()
	}
	e.unknownRefused()
	return gs
}

// add makes a group. It returns nil if its name cannot be honoured.
func (gs *groups) add(at *element, name string) *group {
	key := "name"
	if at.name == "test" {
		key = "group"
	}
	if name == "" || strings.ContainsAny(name, "/\\*?[]{}") || name == "." || name == ".." || !source.Printable(name) {
		at.refuse(key, "is %q: the name of a group must not be empty, nor hold a slash, a bracket or a sign of a pattern", name)
		return nil
	}
	if len(gs.all) == maxGroups {
		at.refuse(key, "is %q: this platform can honour %d groups", name, maxGroups)
	}
	if len(gs.all) >= maxGroups {
		return nil
	}
	g := &group{at: at, group: &problem.Group{Name: name}}
	gs.all = append(gs.all, g)
	return g
}

// finish sets how each group with tests is graded, and puts those that others depend on before them.
func (gs *groups) finish(p *reader, root *problem.Group) {
	for _, g := range gs.all {
		if len(g.group.Items) == 0 {
			if p.Package.Scoring && g.points != nil && *g.points > 0 {
				g.at.refuse("points", "is %s, and the group has no test: put tests into it, or give no points", source.Short(*g.points))
			} else {
				g.at.warn("", "has no test")
			}
			continue
		}
		g.grade(p)
	}
	for _, g := range gs.all {
		for _, name := range g.group.Grading.Requires {
			switch other := gs.named(name); {
			case other == nil || len(other.group.Items) == 0:
				g.at.child("dependencies").refuse("", "hold %q, which is no group with tests", name)
			case other == g:
				g.at.child("dependencies").refuse("", "hold the group itself")
			}
		}
		if !p.Package.Scoring { // the first rejected test decides on everything
			g.group.Grading.Requires = nil
		}
	}
	if p.Refusals > 0 {
		return
	}
	done := map[string]bool{}
	var ordered []problem.Item
	left := root.Items
	for len(left) > 0 {
		i := slices.IndexFunc(left, func(it problem.Item) bool {
			return it.Group == nil || !slices.ContainsFunc(it.Group.Grading.Requires, func(name string) bool { return !done[name] })
		})
		if i < 0 {
			gs.named(left[0].Group.Name).at.child("dependencies").refuse("", "lead in a circle: remove one of them")
			return
		}
		if left[i].Group != nil {
			done[left[i].Group.Name] = true
		}
		ordered = append(ordered, left[i])
		if i == 0 {
			left = left[1:]
		} else {
			left = slices.Concat(left[:i], left[i+1:])
		}
	}
	root.Items = ordered
}

// grade sets how the group is graded. Its points are those of its tests, else its own.
func (g *group) grade(p *reader) {
	gr := &g.group.Grading
	gr.Verdict, gr.Score, gr.AcceptScore, gr.Break = problem.FirstError, problem.Sum, 1, !p.Package.Scoring
	if !p.Package.Scoring {
		return
	}
	gr.AcceptScore, gr.Rule = 0, problem.ScorePoints
	total := 0.0
	for _, it := range g.group.Items {
		total += *it.Test.Points
	}
	switch {
	case g.points == nil || math.Abs(*g.points-total) < 1e-6*(1+total):
	case total > 0:
		g.at.warn("points", "is %s, but the points of its tests add up to %s, which count", source.Short(*g.points), source.Short(total))
	case g.complete:
		total = *g.points
	case *g.points > 0:
		g.at.refuse("points", "is %s for tests that count alone and have no points: write points at the tests", source.Short(*g.points))
	}
	if g.complete {
		gr.Break, gr.Score, gr.High = true, problem.PassFail, &total
	}
}
