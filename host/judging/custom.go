package judging

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"deepoj/host/judge"
	"deepoj/host/problem"
)

// graderWords are the verdicts as custom graders of the legacy format spell them.
var graderWords = map[judge.Verdict]string{
	judge.AC: "AC", judge.WA: "WA", judge.PE: "PE", judge.TLE: "TLE", judge.MLE: "MLE", judge.OLE: "OLE", judge.RE: "RTE",
}

// customGrader returns what grades groups by the program of the package, nil if no
// group asks for it. A program that cannot be used is a [*packageError].
func (j *Judge) customGrader(ctx context.Context, pkg *problem.Package) (func(problem.Grading, []mark) (mark, error), error) {
	if !graded(pkg.Root) {
		return nil, nil
	}
	if pkg.Grader == nil {
		return nil, &packageError{errors.New("a group asks for a custom grader, and the package has none")}
	}
	program, err := j.Program(ctx, pkg, *pkg.Grader)
	if err != nil {
		return nil, fmt.Errorf("grader %w", err)
	}
	return func(gr problem.Grading, marks []mark) (m mark, err error) {
		return program.grade(ctx, gr.GraderFlags, marks)
	}, nil
}

// graded reports whether a custom grader decides on a group or one in it.
func graded(g *problem.Group) bool {
	return g.Grading.Custom || slices.ContainsFunc(g.Items, func(it problem.Item) bool { return it.Group != nil && graded(it.Group) })
}

// Unusable says why nothing can be judged on a package whatever is submitted, or "":
// its grader cannot be used.
func (j *Judge) Unusable(ctx context.Context, pkg *problem.Package) (why string, err error) {
	_, err = j.customGrader(ctx, pkg)
	if _, missing := errors.AsType[*UnavailableError](err); missing || AtFault(err) {
		return err.Error(), nil
	}
	return "", err
}

// grade asks a grader about the results of a group.
func (p *Program) grade(ctx context.Context, flags []string, marks []mark) (m mark, err error) {
	in, err := p.j.scratch()
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	out, err := p.j.scratch()
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	for _, sub := range marks {
		if _, err := fmt.Fprintf(in, "%s %s\n", graderWords[sub.verdict], strconv.FormatFloat(sub.score, 'g', -1, 64)); err != nil {
			return m, fmt.Errorf("write the results of a group: %w", err)
		}
	}
	if _, err := in.Seek(0, io.SeekStart); err != nil {
		return m, fmt.Errorf("write the results of a group: %w", err)
	}
	said, err := p.Run(ctx, flags, in, out)
	if err != nil {
		return m, err
	}
	if said.Exit != 0 {
		return m, &packageError{fmt.Errorf("grader %s ended with exit status %d and not with 0: it said: %s", p.name, said.Exit, said.Stderr)}
	}
	text, err := head(out, keptWords)
	if err != nil {
		return m, err
	}
	if m, err = readGrade(text); err != nil {
		return m, &packageError{fmt.Errorf("grader %s: %w", p.name, err)}
	}
	return m, nil
}

// readGrade reads what a grader says: one line with a verdict and a score.
func readGrade(text string) (mark, error) {
	words := strings.Fields(text)
	if len(words) != 2 || strings.Count(strings.TrimSpace(text), "\n") > 0 {
		return mark{}, fmt.Errorf("it printed %q and not one line with a verdict and a score", cut(text, 200))
	}
	score, err := strconv.ParseFloat(words[1], 64)
	if err != nil || math.IsNaN(score) || math.IsInf(score, 0) {
		return mark{}, fmt.Errorf("it printed the score %q, which is no number", words[1])
	}
	for v, word := range graderWords {
		if word == words[0] {
			return mark{verdict: v, score: score}, nil
		}
	}
	return mark{}, fmt.Errorf("it printed the verdict %q, which is none of AC, WA, PE, TLE, MLE, OLE and RTE", words[0])
}
