package judging

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"deepoj/host/judge"
	"deepoj/host/judging/grading"
	"deepoj/host/judging/jury"
	"deepoj/host/judging/runner"
	"deepoj/host/problem"
)

// Serves returns what submissions may be handed in as: the languages, and as what the answers themselves are.
func (j *Judge) Serves(ctx context.Context) []judge.Language {
	return append(j.Languages(ctx), judge.Language{
		ID: judge.AnswerLanguage, Name: "Answers", Command: "nothing is run", Extensions: []string{}, Available: true, Editor: "text",
	})
}

// judgeAnswers judges a submission of a problem that takes answers and no programs.
func (j *Judge) judgeAnswers(ctx context.Context, pkg *problem.Package, checkers []jury.Checker, p judge.Payload, r *judge.Result, progress func(judge.Progress)) error {
	size := 0
	for _, s := range p.Sources {
		size += len(s.Text)
	}
	answers, why := submitted(pkg.Tests(), p.Sources)
	if limit := pkg.Limits.CodeKiB << 10; int64(size) > limit && !p.Own {
		why = fmt.Sprintf("the answers have %d bytes together, more than the %d that this problem allows", size, limit)
	}
	r.Compile = &judge.Compile{OK: why == "", Output: why}
	progress(judge.Progress{Kind: judge.EventCompiled, Compile: r.Compile, Total: len(pkg.Tests())})
	if why != "" {
		r.Verdict, r.Message = judge.CE, why
		return nil
	}
	e := &evaluation{j: j, pkg: pkg, answers: answers, checkers: checkers, progress: progress, total: len(pkg.Tests())}
	return e.run(ctx, r)
}

// submitted finds the answers to tests among files, or says what is wrong with them. A file is for the test whose name
// it has, with - for / and perhaps an ending: secret-group1-01.out for secret/group1/01. The last part of a name is
// enough if no other test ends so, or no other secret one. A file alone is for the only test.
func submitted(tests []*problem.Test, sources []judge.Source) (answers map[*problem.Test]judge.Source, wrong string) {
	answers = map[*problem.Test]judge.Source{}
	if len(tests) == 1 && len(sources) == 1 {
		answers[tests[0]] = sources[0]
		return answers, ""
	}
	for _, s := range sources {
		stem := s.Name
		for _, ending := range []string{".out", ".ans", ".txt"} {
			stem = strings.TrimSuffix(stem, ending)
		}
		found := named(tests, strings.ReplaceAll(stem, "/", "-"))
		switch {
		case len(found) == 0:
			return nil, fmt.Sprintf("%s is the answer to no test: call the files after the tests, such as %s.out", s.Name, path.Base(tests[len(tests)-1].Name))
		case len(found) > 1:
			return nil, fmt.Sprintf("%s may be the answer to %d tests: call it after one of them, such as %s.out", s.Name, len(found), dashed(found[0]))
		}
		if other, twice := answers[found[0]]; twice {
			return nil, fmt.Sprintf("%s and %s are both the answer to %s", other.Name, s.Name, path.Base(found[0].Name))
		}
		answers[found[0]] = s
	}
	return answers, ""
}

func dashed(t *problem.Test) string { return strings.ReplaceAll(t.Name, "/", "-") }

// named returns the tests that a name means.
func named(tests []*problem.Test, name string) []*problem.Test {
	var full, short, secret []*problem.Test
	for _, t := range tests {
		if dashed(t) == name {
			full = append(full, t)
		}
		if path.Base(t.Name) == name {
			short = append(short, t)
			if !t.Sample {
				secret = append(secret, t)
			}
		}
	}
	i := slices.IndexFunc([][]*problem.Test{full, short, secret}, func(found []*problem.Test) bool { return len(found) == 1 })
	if i < 0 {
		return short
	}
	return [][]*problem.Test{full, short, secret}[i]
}

// answer has the answer to a test checked as if a program had printed it.
func (l *lane) answer(ctx context.Context, t *problem.Test) (r runResult, err error) {
	s, given := l.e.answers[t]
	if !given {
		return runResult{Worth: grading.Worth{Verdict: judge.WA}, message: "there is no answer to this test", by: judge.ByJudge}, nil
	}
	input, err := l.e.j.File(ctx, t.Input)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, input.Close()) }()
	if err := runner.Rewind(l.stdout); err != nil {
		return r, err
	}
	if _, err := l.stdout.WriteString(s.Text); err != nil {
		return r, fmt.Errorf("keep an answer: %w", err)
	}
	if t.Sample {
		if r.output, err = runner.Head(l.stdout, keptOutput); err != nil {
			return r, err
		}
	}
	r.Verdict = judge.AC
	err = l.check(ctx, &r, t, input)
	l.e.j.metrics.runs.WithLabelValues(string(r.Verdict)).Inc()
	return r, err
}
