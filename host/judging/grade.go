package judging

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"deepoj/host/judge"
	"deepoj/host/problem"
)

// mark is the verdict and score of a test or group.
type mark struct {
	verdict judge.Verdict
	score   float64
	given   bool // the checker gave the score
	static  bool // it is about the submitted files
}

// grader turns results of tests into results of groups, in judging order.
type grader struct {
	scoring   bool
	points    bool                                        // checkers give scores, so groups have no highest one
	unbounded bool                                        // no score is the highest: fewer points are better
	test      func(*problem.Test) (mark, error)           // judges a test
	skip      func(*problem.Test)                         // a test need not be judged
	custom    func(problem.Grading, []mark) (mark, error) // grades a group by the package's program
	groups    []judge.GroupResult
	graded    map[string]judge.Verdict // of the groups that are done, by name
	partly    map[string]bool          // of them those that are accepted with a part of their points
}

// group judges a group and records its result. Its record comes before those of
// the groups in it.
func (g *grader) group(gr *problem.Group) (mark, error) {
	for _, name := range gr.Grading.Requires {
		if v := g.graded[name]; v != judge.AC || g.partly[name] {
			g.leaveOut(problem.Item{Group: gr})
			g.conclude(gr, mark{verdict: v})
			return mark{verdict: v}, nil
		}
	}
	if high := gr.Grading.High; g.scoring && gr.Name != "" && high != nil && *high > 0 && len(gr.Cases()) == 0 {
		return mark{}, &packageError{fmt.Errorf("the %s is worth up to %g points and has no test", shownGroup(gr.Name), *high)}
	}
	at := g.open(gr)
	var marks []mark
	stopped := false
	for _, it := range gr.Items {
		if stopped {
			g.leaveOut(it)
			continue
		}
		m, err := g.item(gr, it)
		if err != nil {
			return mark{}, err
		}
		if ignored(gr, it) {
			continue
		}
		marks = append(marks, m)
		// A judging error is decided whatever else is judged.
		stopped = m.verdict == judge.JE || (m.verdict != judge.AC && gr.Grading.Break)
	}
	m := grade(gr.Grading, marks)
	words := formula
	if gr.Grading.Custom && m.verdict != judge.JE {
		var err error
		if m, err = g.custom(gr.Grading, marks); err != nil {
			return mark{}, fmt.Errorf("grade %s: %w", shownGroup(gr.Name), err)
		}
		words = customFormula
	}
	g.groups[at].Verdict = m.verdict
	g.conclude(gr, m)
	if g.scoring {
		g.groups[at].Score = &m.score
		g.groups[at].Formula = words(gr.Grading, marks)
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
func (g *grader) conclude(gr *problem.Group, m mark) {
	if g.graded == nil {
		g.graded, g.partly = map[string]judge.Verdict{}, map[string]bool{}
	}
	g.graded[gr.Name] = m.verdict
	if gr.Grading.Rule == problem.ScorePoints {
		top := gr.MaxScore(g.points)
		g.partly[gr.Name] = top != nil && m.score < *top-rounding*(1+*top)
	}
}

// open records a group that has no result yet.
func (g *grader) open(gr *problem.Group) int {
	r := judge.GroupResult{Name: gr.Name}
	if g.scoring && !g.unbounded {
		r.MaxScore = gr.MaxScore(g.points)
	}
	g.groups = append(g.groups, r)
	return len(g.groups) - 1
}

// item judges a test or group of gr.
func (g *grader) item(gr *problem.Group, it problem.Item) (mark, error) {
	if it.Group != nil {
		m, err := g.group(it.Group)
		m.given = true
		return m, err
	}
	m, err := g.test(it.Case())
	if err == nil && !g.scoring {
		m.score = 0
	}
	m.static = it.Static != nil
	return m, err
}

// leaveOut records what is not judged because the outcome is decided.
func (g *grader) leaveOut(it problem.Item) {
	if t := it.Case(); t != nil {
		g.skip(t)
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

// grade applies the default grader. A group without results is accepted with
// score 0.
func grade(gr problem.Grading, marks []mark) mark {
	m := mark{verdict: judge.AC}
	var verdicts []judge.Verdict
	scores := counted(gr, marks)
	anyAccepted := false
	for _, sub := range marks {
		verdicts = append(verdicts, sub.verdict)
		anyAccepted = anyAccepted || sub.verdict == judge.AC
		if m.verdict == judge.AC {
			m.verdict = sub.verdict // the first error
		}
	}
	worst := judge.Worst(verdicts...)
	switch {
	case worst == judge.JE:
		m.verdict = judge.JE
	case gr.Verdict == problem.AlwaysAccept, gr.AcceptAny && anyAccepted:
		m.verdict = judge.AC
	case gr.Verdict != problem.FirstError:
		m.verdict = worst
	}
	m.score = gr.Score.Of(scores)
	switch {
	case gr.Score == problem.PassFail && m.verdict == judge.AC && gr.High != nil:
		m.score = *gr.High
	case gr.Score == problem.PassFail:
		m.score = 0
	case gr.Rule == problem.ScoreBounded && gr.High != nil && math.Abs(m.score-*gr.High) < rounding*(1+*gr.High):
		m.score = *gr.High // thirds do not add up to a whole
	}
	return m
}

// counted returns the scores of a group's items that count: all, or with
// [problem.ScoreGroup] those that checkers gave. Where they gave none, the group's own
// score counts once if all is accepted.
func counted(gr problem.Grading, marks []mark) []float64 {
	var all []float64
	whole := 0.0
	if !slices.ContainsFunc(marks, func(m mark) bool { return m.verdict != judge.AC }) {
		whole = gr.AcceptScore
	}
	for _, m := range marks {
		if gr.Rule != problem.ScoreGroup || m.given {
			all = append(all, m.score)
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
func customFormula(_ problem.Grading, marks []mark) string {
	return "grader" + formula(problem.Grading{}, marks)
}

// formula says how a score came about, such as "sum(20, 30, 0 ×4)".
func formula(gr problem.Grading, marks []mark) string {
	if gr.Score == problem.PassFail {
		accepted := 0
		for _, m := range marks {
			if m.verdict == judge.AC {
				accepted++
			}
		}
		return fmt.Sprintf("%s(%d of %d accepted)", gr.Score, accepted, len(marks))
	}
	if gr.Rule == problem.ScoreGroup {
		var given []mark
		for _, score := range counted(gr, marks) {
			given = append(given, mark{score: score})
		}
		marks = given
	}
	var terms []string
	for i := 0; i < len(marks); {
		n := 1
		for i+n < len(marks) && marks[i+n].score == marks[i].score && marks[i+n].static == marks[i].static {
			n++
		}
		term := strconv.FormatFloat(marks[i].score, 'f', -1, 64)
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
