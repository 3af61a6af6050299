package contest

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"golang.org/x/text/collate"
	"golang.org/x/text/language"
)

// State is what is known of a contest after some entries of its log. It is not for several goroutines at once.
type State struct {
	cfg         Config
	clock       clock
	groups      map[string]Group
	problems    map[string]*problem
	columns     []*problem // of those that are shown, in order
	rows        map[int64]*row
	order       []*row // of those that are known, in order
	submissions map[int64]*submission
	collator    *collate.Collator
	buffer      collate.Buffer
	held        bool // nothing is computed until settle
}

// problem is a problem, which may not be known yet though somebody has handed in for it.
type problem struct {
	Problem
	known bool
	index int // of its cells in all rows

	solvers *solvers // nil = is to be found anew
}

// row is what is known of a participant, who may not be known yet. What rows are compared by is together, as among many
// of them most of the time goes into fetching it.
type row struct {
	section section
	sum     summary
	name    []byte // by which those of equal rank are ordered
	known   bool
	cells   []cell // by the index of the problem, as far as something was handed in
	adjust  Adjustment
	Participant
}

// cell is what a participant handed in for a problem, and what it counts.
type cell struct {
	all    []*submission // by time and id, those that do not count, too
	result Cell
}

// submission is a program that was handed in, which may not be known yet though it was judged.
type submission struct {
	known, ignored, token bool
	row                   *row     // whose it is, once it is known
	problem               *problem // likewise
	at                    time.Duration
	judgements            []Judgement  // by generation
	first                 [1]Judgement // where they are as long as there is one
	Submission
}

// summary is what a row counts.
type summary struct {
	key    key // first, see row
	solved int
	total  int64
	last   int64
	points float64
}

// New returns the state of a contest of which nothing is known but how it is scored.
func New(cfg Config) *State {
	return &State{
		cfg: cfg, groups: map[string]Group{}, problems: map[string]*problem{}, rows: map[int64]*row{},
		submissions: map[int64]*submission{}, collator: collate.New(language.AmericanEnglish),
	}
}

// Rescore has everything counted in another way.
func (s *State) Rescore(cfg Config) {
	s.cfg = cfg
	s.everything()
}

// Change is what an entry changed on the board.
type Change struct {
	All         bool   // anything may have changed; the rest is zero then
	Participant int64  // whose row it changed; 0 = nothing changed
	Problem     string // whose cell it changed; "" = none
	Was, Rank   int    // of the row before and after; 0 = none
}

// Apply takes an entry in. An entry that makes no sense is an error and changes nothing.
func (s *State) Apply(e Entry) (Change, error) {
	switch e := e.(type) {
	case Round:
		if e.Duration < 0 || e.Freeze != nil && *e.Freeze < 0 {
			return Change{}, fmt.Errorf("the round %+v lasts or freezes below 0: neither may be", e)
		}
		s.clock.round = e
		return s.everything(), nil
	case Removed:
		s.clock.remove(e)
		return s.everything(), nil
	case Group:
		s.groups[e.ID] = e
		return s.everything(), nil
	case Problem:
		return s.problem(e)
	case Participant:
		return s.participant(e)
	case Adjustment:
		if !finite(e.Points) {
			return Change{}, fmt.Errorf("the adjustment of participant %d is %v points", e.Participant, e.Points)
		}
		r := s.row(e.Participant)
		return s.change(r, nil, func() { r.adjust = e }), nil
	case Submission:
		return s.submission(e)
	case Judgement:
		return s.judgement(e)
	case Mark:
		sub := s.handed(e.Submission)
		if sub.ignored == e.Ignored {
			return Change{}, nil
		}
		return s.changed(sub, func() { sub.ignored = e.Ignored }), nil
	case Token:
		sub := s.handed(e.Submission)
		return s.changed(sub, func() { sub.token = true }), nil
	}
	return Change{}, fmt.Errorf("a log has no entries of type %T", e)
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

func (s *State) problem(e Problem) (Change, error) {
	if e.ID == "" || e.Points != nil && !finite(*e.Points) || !finite(e.Max) {
		return Change{}, fmt.Errorf("a problem with id %q and points that are no number", e.ID)
	}
	p := s.column(e.ID)
	p.Problem, p.known = e, !e.Gone
	s.columns = s.columns[:0]
	for _, p := range s.problems {
		if p.known {
			s.columns = append(s.columns, p)
		}
	}
	slices.SortFunc(s.columns, func(a, b *problem) int { return cmp.Or(cmp.Compare(a.Ordinal, b.Ordinal), cmp.Compare(a.ID, b.ID)) })
	return s.everything(), nil
}

func (s *State) participant(e Participant) (Change, error) {
	if e.Status == "" {
		e.Status = Active
	}
	switch e.Status {
	case Active, Withdrawn, Banned, Disqualified:
	default:
		return Change{}, fmt.Errorf("participant %d has the status %q; there are active, withdrawn, banned, disqualified", e.ID, e.Status)
	}
	if e.ID == 0 {
		return Change{}, fmt.Errorf("participant %q has no id", e.Name)
	}
	r := s.row(e.ID)
	if e.Gone {
		if r.known {
			r.known = false
			return s.everything(), nil
		}
		return Change{}, nil
	}
	return s.change(r, nil, func() {
		s.buffer.Reset()
		r.Participant, r.known, r.name = e, true, slices.Clone(s.collator.KeyFromString(&s.buffer, e.Name))
		s.forgetSolvers()
	}), nil
}

func (s *State) submission(e Submission) (Change, error) {
	if e.ID == 0 || e.Participant == 0 || e.Problem == "" {
		return Change{}, fmt.Errorf("submission %d of participant %d for problem %q: none may be missing", e.ID, e.Participant, e.Problem)
	}
	sub := s.handed(e.ID)
	if sub.known { // it is told again, which seldom changes anything
		if sub.Submission == e {
			return Change{}, nil
		}
		c := s.cellOf(sub)
		c.all = slices.DeleteFunc(c.all, func(other *submission) bool { return other == sub })
		sub.Submission, sub.at = e, s.clock.at(e.Time)
		s.put(sub)
		return s.everything(), nil
	}
	return s.changed(sub, func() {
		sub.Submission, sub.known, sub.at = e, true, s.clock.at(e.Time)
		s.put(sub)
	}), nil
}

func (s *State) judgement(e Judgement) (Change, error) {
	if e.Submission == 0 || e.Generation < 1 || e.Verdict != "" && !e.Verdict.Valid() {
		return Change{}, fmt.Errorf("judgement %d of submission %d is %q: it needs a submission, a generation from 1 and a verdict or none", e.Generation, e.Submission, e.Verdict)
	}
	if e.Score != nil && !finite(*e.Score) || slices.ContainsFunc(e.Groups, func(g GroupScore) bool { return !finite(g.Score) }) {
		return Change{}, fmt.Errorf("judgement %d of submission %d has a score that is no number", e.Generation, e.Submission)
	}
	sub := s.handed(e.Submission)
	return s.changed(sub, func() {
		sub.judgements = with(sub.judgements, e)
	}), nil
}

// with returns judgements of a submission, by generation, with one that is new or said again.
func with(all []Judgement, j Judgement) []Judgement {
	i, again := slices.BinarySearchFunc(all, j.Generation, func(j Judgement, g int) int { return cmp.Compare(j.Generation, g) })
	if again {
		all[i] = j
		return all
	}
	return slices.Insert(all, i, j)
}

// decided returns the judgement that decides, and false while there is none: the submission is not judged, is judged
// again, or could not be judged.
func (s *submission) decided() (Judgement, bool) {
	for _, j := range slices.Backward(s.judgements) {
		if j.Current {
			return j, j.Verdict.Counts()
		}
	}
	return Judgement{}, false
}

// column returns a problem, which is known from now on if only by its id.
func (s *State) column(id string) *problem {
	p := s.problems[id]
	if p == nil {
		p = &problem{Problem: Problem{ID: id}, index: len(s.problems)}
		s.problems[id] = p
	}
	return p
}

// row returns the row of a participant.
func (s *State) row(id int64) *row {
	r := s.rows[id]
	if r == nil {
		r = &row{Participant: Participant{ID: id}}
		s.rows[id] = r
	}
	return r
}

// handed returns a submission.
func (s *State) handed(id int64) *submission {
	sub := s.submissions[id]
	if sub == nil {
		sub = &submission{Submission: Submission{ID: id}}
		sub.judgements = sub.first[:0]
		s.submissions[id] = sub
	}
	return sub
}

// cellOf returns the cell in which a submission is.
func (s *State) cellOf(sub *submission) *cell {
	p, r := sub.problem, sub.row
	if n := p.index + 1; len(r.cells) < n {
		r.cells = append(r.cells, make([]cell, max(n, len(s.problems))-len(r.cells))...)
	}
	return &r.cells[p.index]
}

// put puts a submission in its cell: by time, and by id where several have the same.
func (s *State) put(sub *submission) {
	sub.problem, sub.row = s.column(sub.Problem), s.row(sub.Participant)
	c := s.cellOf(sub)
	i, _ := slices.BinarySearchFunc(c.all, sub, func(a, b *submission) int { return cmp.Or(a.Time.Compare(b.Time), cmp.Compare(a.ID, b.ID)) })
	c.all = slices.Insert(c.all, i, sub)
}

// changed does something to a submission, and then counts its cell and row anew.
func (s *State) changed(sub *submission, do func()) Change {
	if !sub.known {
		do()
		if !sub.known {
			return Change{} // nobody knows whose it is
		}
		do = func() {}
	}
	return s.change(sub.row, sub.problem, do)
}

// change does something to a row, or to one of its cells, and puts the row where it belongs then.
func (s *State) change(r *row, p *problem, do func()) Change {
	if s.held {
		do()
		return Change{}
	}
	wasKnown, was, place := r.known, 0, 0
	before := row{sum: r.sum, section: r.section, name: r.name, Participant: Participant{ID: r.ID}}
	if wasKnown {
		place = s.place(r)
		was = s.rankAt(place)
	}
	do()
	if p != nil {
		if p.index < len(r.cells) {
			s.count(&r.cells[p.index], p)
		}
		p.solvers = nil
		if !p.known {
			return Change{}
		}
	}
	if !r.known {
		return Change{}
	}
	r.sum, r.section = s.sum(r), s.sectionOf(r.Participant)
	c := Change{Participant: r.ID, Was: was, Rank: was}
	switch {
	case !wasKnown:
		c.Rank = s.rankAt(s.insert(r))
	case compare(&before, r) != 0:
		c.Rank = s.rankAt(s.move(place))
	}
	if p != nil {
		c.Problem = p.ID
	}
	return c
}

// count counts a cell.
func (s *State) count(c *cell, p *problem) {
	counted := func(yield func(*submission) bool) {
		for _, sub := range c.all {
			if sub.known && !sub.ignored && s.clock.official(sub.at) && !yield(sub) {
				return
			}
		}
	}
	if s.cfg.Format == IOI {
		c.result = s.cfg.IOI.cell(counted, &p.Problem)
	} else {
		c.result = s.cfg.ICPC.cell(counted)
	}
}

// sum adds up the cells of a row.
func (s *State) sum(r *row) summary {
	if s.cfg.Format == IOI {
		return s.cfg.IOI.row(s, r)
	}
	return s.cfg.ICPC.row(s, r)
}

// result returns the cell of a row for a problem, which is zero where nothing was handed in.
func (r *row) result(p *problem) Cell {
	if p.index < len(r.cells) {
		return r.cells[p.index].result
	}
	return Cell{}
}

// everything counts every cell and row anew.
func (s *State) everything() Change {
	if !s.held {
		s.settle()
	}
	return Change{All: true}
}

// settle is everything after entries that were only collected.
func (s *State) settle() {
	s.held = false
	for _, sub := range s.submissions {
		sub.at = s.clock.at(sub.Time)
	}
	s.order = s.order[:0]
	byIndex := make([]*problem, len(s.problems))
	for _, p := range s.problems {
		byIndex[p.index] = p
	}
	for _, r := range s.rows {
		for i := range r.cells {
			s.count(&r.cells[i], byIndex[i])
		}
		if r.known {
			r.sum, r.section = s.sum(r), s.sectionOf(r.Participant)
			s.order = append(s.order, r)
		}
	}
	slices.SortFunc(s.order, compare)
	s.forgetSolvers()
}

// forgetSolvers has those who solved a problem first looked for anew.
func (s *State) forgetSolvers() {
	for _, p := range s.problems {
		p.solvers = nil
	}
}

// Audience returns who may be told of a judgement of a submission at the moment: in the freeze neither the public nor
// other teams. It is for the state of staff, which knows every submission.
func (s *State) Audience(submission int64) Audience {
	sub := s.submissions[submission]
	switch {
	case sub == nil || !sub.known:
		return Jury | Staff
	case !s.clock.frozen(s.clock.at(sub.Time)):
		if r := s.rows[sub.Participant]; r != nil && r.Hidden {
			return Jury | Staff | Own
		}
		return Everybody
	case s.cfg.Format == ICPC && !s.cfg.ICPC.OwnVerdictsInFreeze:
		return Jury | Staff
	}
	return Jury | Staff | Own
}
