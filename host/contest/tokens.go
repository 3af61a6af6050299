package contest

import (
	"errors"
	"math"
	"slices"
	"time"
)

// TokenRule is how participants get tokens, which they spend on submissions whose score is to count in the mode
// max_tokened_last.
//
// Source: the tokens of CMS.
type TokenRule struct {
	Initial int  `json:"initial"` // at the start
	Number  int  `json:"number"`  // more of them, each time
	EveryS  int  `json:"every_s"` // seconds of contest time; 0 = never
	Held    *int `json:"held"`    // how many somebody may have at once; null = any number
	Most    *int `json:"most"`    // how many somebody may spend; null = any number
	GapS    int  `json:"gap_s"`   // seconds of contest time from one to the next
}

// TokenRules are those of a round: of all problems together, and of each problem. Both have to allow it; null allows any.
type TokenRules struct {
	Round   *TokenRule `json:"round"`
	Problem *TokenRule `json:"problem"`
}

func (r *TokenRule) check(setting string) error {
	if r == nil {
		return nil
	}
	errs := []error{
		between(setting+": initial", int64(r.Initial), 0, most), between(setting+": number", int64(r.Number), 0, most), between(setting+": every_s", int64(r.EveryS), 0, most),
		between(setting+": gap_s", int64(r.GapS), 0, most),
	}
	for name, n := range map[string]*int{"held": r.Held, "most": r.Most} {
		if n != nil {
			errs = append(errs, between(setting+": "+name, int64(*n), 0, most))
		}
	}
	return errors.Join(errs...)
}

// left is how many tokens somebody has at a contest time who has spent some at those, in order, and how long it is until one may be
// spent.
func (r *TokenRule) left(spent []time.Duration, now time.Duration) (n int, wait time.Duration) {
	if r == nil {
		return math.MaxInt, 0
	}
	held := math.MaxInt
	if r.Held != nil {
		held = *r.Held
	}
	n = min(r.Initial, held)
	before := time.Duration(0)
	grow := func(until time.Duration) {
		if every := time.Duration(r.EveryS) * time.Second; every > 0 {
			n = min(n+r.Number*int(until/every-before/every), held)
		}
		before = until
	}
	for _, at := range spent {
		grow(at)
		n--
	}
	grow(max(now, before))
	if r.Most != nil {
		n = min(n, *r.Most-len(spent))
	}
	if len(spent) > 0 {
		wait = max(spent[len(spent)-1]+time.Duration(r.GapS)*time.Second-now, 0)
	}
	return max(n, 0), wait
}

// Left is how many tokens a participant may spend on a problem at a contest time, and how long it is until one may be: of those that
// were spent before on all problems, and on that one, at contest times. [math.MaxInt] is any number.
func (r TokenRules) Left(all, ofProblem []time.Duration, now time.Duration) (n int, wait time.Duration) {
	slices.Sort(all)
	slices.Sort(ofProblem)
	n, wait = r.Round.left(all, now)
	m, later := r.Problem.left(ofProblem, now)
	return min(n, m), max(wait, later)
}

// TokenRules are those of the format, if it has any.
func (c Config) TokenRules() (TokenRules, bool) {
	if c.Format != IOI || c.IOI.Mode != MaxTokenedLast || c.IOI.Tokens == nil {
		return TokenRules{}, false
	}
	return *c.IOI.Tokens, true
}
