package verify

import (
	"slices"
	"strings"

	"deepoj/host/judge"
	"deepoj/host/judging"
)

// ignore takes note of what checkers say in a result and has no effect.
func (p *proof) ignore(r judge.Result) {
	if !slices.ContainsFunc(r.Tests, func(t judge.TestResult) bool { return strings.Contains(t.JudgeNote, judging.ScoreIgnored) }) {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !slices.Contains(p.ignored, judging.ScoreIgnored) {
		p.ignored = append(p.ignored, judging.ScoreIgnored)
	}
}
