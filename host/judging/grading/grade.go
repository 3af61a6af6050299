// Package grading makes the results of groups of the results of tests, by the rules of
// the package formats. It runs nothing.
//
//	grade.go   results of tests become those of groups
//	score.go   what a test is worth, and what a checker may not say about it
//	custom.go  what a grader of a package is told, and says
package grading

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"deepoj/host/judge"
	"deepoj/host/judging/blame"
	"deepoj/host/problem"
)

// Mark is the verdict and score of a test or group.
type Mark struct {
	Verdict judge.Verdict
	Score   float64
	Given   bool // the checker gave the score
	static  bool // it is about the submitted files
}

// Grader turns results of tests into results of groups, in judging order.
type Grader struct {
	Scoring   bool
	Points    bool                                        // checkers give scores, so groups have no highest one
	Unbounded bool                                        // no score is the highest: fewer points are better
	Test      func(*problem.Test) (Mark, error)           // judges a test
	Skip      func(*problem.Test)                         // a test need not be judged
	Custom    func(problem.Grading, []Mark) (Mark, error) // grades a group by the package's program
	Groups    []judge.GroupResult
	graded    map[string]judge.Verdict // of the groups that are done, by name
	partly    map[string]bool          // of them those that are accepted with a part of their points
}

// Group judges a group and records its result. Its record comes before those of the groups in it.
func (g *Grader) Group(gr *problem.Group) (Mark, error) {
	for _, name := range gr.Grading.Requires {
		if v := g.graded[name]; v != judge.AC || g.partly[name] {
			g.leaveOut(problem.Item{Group: gr})
			g.conclude(gr, Mark{Verdict: v})
			return Mark{Verdict: v}, nil
		}
	}
	if high := gr.Grading.High; g.Scoring && gr.Name != "" && high != nil && *high > 0 && len(gr.Cases()) == 0 {
		return Mark{}, blame.Packagef("the %s is worth up to %g points and has no test", shownGroup(gr.Name), *high)
	}
	at := g.open(gr)
	var marks []Mark
	stopped := false
	for _, it := range gr.Items {
		if stopped {
			g.leaveOut(it)
			continue
		}
		m, err := g.item(gr, it)
		if err != nil {
			return Mark{}, err
		}
		if ignored(gr, it) {
			continue
		}
		marks = append(marks, m)
		// A judging error is decided whatever else is judged.
		stopped = m.Verdict == judge.JE || (m.Verdict != judge.AC && gr.Grading.Break)
	}
	m := grade(gr.Grading, marks)
	words := formula
	if gr.Grading.Custom && m.Verdict != judge.JE {
		var err error
		if m, err = g.Custom(gr.Grading, marks); err != nil {
			return Mark{}, fmt.Errorf("grade %s: %w", shownGroup(gr.Name), err)
		}
		words = customFormula
	}
	g.Groups[at].Verdict = m.Verdict
	g.conclude(gr, m)
	if g.Scoring {
		g.Groups[at].Score = &m.Score
		g.Groups[at].Formula = words(gr.Grading, marks)
	}
	return m, nil
}

func shownGroup(name string) string {
	if name == "" {
		return "the whole"
	}
	return "group " + name
}

// conclude remembers the result of a group for those that require it.
func (g *Grader) conclude(gr *problem.Group, m Mark) {
	if g.graded == nil {
		g.graded, g.partly = map[string]judge.Verdict{}, map[string]bool{}
	}
	g.graded[gr.Name] = m.Verdict
	if gr.Grading.Rule == problem.ScorePoints {
		top := gr.MaxScore(g.Points)
		g.partly[gr.Name] = top != nil && m.Score < *top-rounding*(1+*top)
	}
}

// open records a group that has no result yet.
func (g *Grader) open(gr *problem.Group) int {
	r := judge.GroupResult{Name: gr.Name}
	if g.Scoring && !g.Unbounded {
		r.MaxScore = gr.MaxScore(g.Points)
	}
	g.Groups = append(g.Groups, r)
	return len(g.Groups) - 1
}

// item judges a test or group of gr.
func (g *Grader) item(gr *problem.Group, it problem.Item) (Mark, error) {
	if it.Group != nil {
		m, err := g.Group(it.Group)
		m.Given = true
		return m, err
	}
	m, err := g.Test(it.Case())
	if err == nil && !g.Scoring {
		m.Score = 0
	}
	m.static = it.Static != nil
	return m, err
}

// leaveOut records what is not judged because the outcome is decided.
func (g *Grader) leaveOut(it problem.Item) {
	if t := it.Case(); t != nil {
		g.Skip(t)
		return
	}
	g.open(it.Group)
	for _, sub := range it.Group.Items {
		g.leaveOut(sub)
	}
}

// ignored reports whether an item of the root has no influence at all.
func ignored(gr *problem.Group, it problem.Item) bool {
	return gr.Grading.IgnoreSample && it.Group != nil && it.Group.Name == "sample"
}

// grade applies the default grader. A group without results is accepted with score 0.
func grade(gr problem.Grading, marks []Mark) Mark {
	m := Mark{Verdict: judge.AC}
	var verdicts []judge.Verdict
	scores := counted(gr, marks)
	anyAccepted := false
	for _, sub := range marks {
		verdicts = append(verdicts, sub.Verdict)
		anyAccepted = anyAccepted || sub.Verdict == judge.AC
		if m.Verdict == judge.AC {
			m.Verdict = sub.Verdict // the first error
		}
	}
	worst := judge.Worst(verdicts...)
	switch {
	case worst == judge.JE:
		m.Verdict = judge.JE
	case gr.Verdict == problem.AlwaysAccept, gr.AcceptAny && anyAccepted:
		m.Verdict = judge.AC
	case gr.Verdict != problem.FirstError:
		m.Verdict = worst
	}
	m.Score = gr.Score.Of(scores)
	switch {
	case gr.Score == problem.PassFail && m.Verdict == judge.AC && gr.High != nil:
		m.Score = *gr.High
	case gr.Score == problem.PassFail:
		m.Score = 0
	case gr.Rule == problem.ScoreBounded && gr.High != nil && math.Abs(m.Score-*gr.High) < rounding*(1+*gr.High):
		m.Score = *gr.High // thirds do not add up to a whole
	}
	return m
}

// counted returns the scores of a group's items that count: all, or with [problem.ScoreGroup] those that checkers gave.
// Where they gave none, the group's own score counts once if all is accepted.
func counted(gr problem.Grading, marks []Mark) []float64 {
	var all []float64
	whole := 0.0
	if !slices.ContainsFunc(marks, func(m Mark) bool { return m.Verdict != judge.AC }) {
		whole = gr.AcceptScore
	}
	for _, m := range marks {
		if gr.Rule != problem.ScoreGroup || m.Given {
			all = append(all, m.Score)
		}
	}
	if gr.Rule == problem.ScoreGroup && len(all) == 0 && len(marks) > 0 {
		all = []float64{whole}
	}
	return all
}

// rounding is how much a score may differ for the way that numbers are stored.
const rounding = 1e-9

// maxTerms is how many scores a formula shows.
const maxTerms = 24

// customFormula says what a custom grader was given.
func customFormula(_ problem.Grading, marks []Mark) string {
	return "grader" + formula(problem.Grading{}, marks)
}

// formula says how a score came about, such as "sum(20, 30, 0 ×4)".
func formula(gr problem.Grading, marks []Mark) string {
	if gr.Score == problem.PassFail {
		accepted := 0
		for _, m := range marks {
			if m.Verdict == judge.AC {
				accepted++
			}
		}
		return fmt.Sprintf("%s(%d of %d accepted)", gr.Score, accepted, len(marks))
	}
	if gr.Rule == problem.ScoreGroup {
		var given []Mark
		for _, score := range counted(gr, marks) {
			given = append(given, Mark{Score: score})
		}
		marks = given
	}
	var terms []string
	for i := 0; i < len(marks); {
		n := 1
		for i+n < len(marks) && marks[i+n].Score == marks[i].Score && marks[i+n].static == marks[i].static {
			n++
		}
		term := strconv.FormatFloat(marks[i].Score, 'f', -1, 64)
		if marks[i].static {
			term = "static " + term
		}
		if n > 2 {
			terms = append(terms, fmt.Sprintf("%s ×%d", term, n))
		} else {
			for range n {
				terms = append(terms, term)
			}
		}
		i += n
	}
	if len(terms) > maxTerms {
		terms = append(terms[:maxTerms], "…")
	}
	return string(gr.Score) + "(" + strings.Join(terms, ", ") + ")"
}
