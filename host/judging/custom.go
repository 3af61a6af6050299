package judging

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"deepoj/host/judging/blame"
	"deepoj/host/judging/grading"
	"deepoj/host/judging/jury"
	"deepoj/host/judging/runner"
	"deepoj/host/problem"
)

// customGrader returns what grades groups by the program of the package, nil if no
// group asks for it. A program that cannot be used is a [*blame.PackageError].
func (j *Judge) customGrader(ctx context.Context, pkg *problem.Package) (func(problem.Grading, []grading.Mark) (grading.Mark, error), error) {
	if !graded(pkg.Root) {
		return nil, nil
	}
	if pkg.Grader == nil {
		return nil, blame.Package(errors.New("a group asks for a custom grader, and the package has none"))
	}
	program, err := j.Program(ctx, pkg, *pkg.Grader)
	if err != nil {
		return nil, fmt.Errorf("grader %w", err)
	}
	return func(gr problem.Grading, marks []grading.Mark) (m grading.Mark, err error) {
		return j.gradeBy(ctx, program, gr.GraderFlags, marks)
	}, nil
}

// graded reports whether a custom grader decides on a group or one in it.
func graded(g *problem.Group) bool {
	return g.Grading.Custom || slices.ContainsFunc(g.Items, func(it problem.Item) bool { return it.Group != nil && graded(it.Group) })
}

// Unusable says why nothing can be judged on a package whatever is submitted, or "": its grader cannot be used.
func (j *Judge) Unusable(ctx context.Context, pkg *problem.Package) (why string, err error) {
	_, err = j.customGrader(ctx, pkg)
	if _, missing := errors.AsType[*blame.UnavailableError](err); missing || blame.AtFault(err) {
		return err.Error(), nil
	}
	return "", err
}

// gradeBy asks a grader about the results of a group.
func (j *Judge) gradeBy(ctx context.Context, p *jury.Program, flags []string, marks []grading.Mark) (m grading.Mark, err error) {
	in, err := j.Scratch()
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	out, err := j.Scratch()
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	if _, err := in.WriteString(grading.ResultLines(marks)); err != nil {
		return m, fmt.Errorf("write the results of a group: %w", err)
	}
	if _, err := in.Seek(0, io.SeekStart); err != nil {
		return m, fmt.Errorf("write the results of a group: %w", err)
	}
	said, err := p.Run(ctx, flags, in, out)
	if err != nil {
		return m, err
	}
	if said.Exit != 0 {
		return m, blame.Packagef("grader %s ended with exit status %d and not with 0: it said: %s", p.Name, said.Exit, said.Stderr)
	}
	text, err := runner.Head(out, runner.KeptWords)
	if err != nil {
		return m, err
	}
	if m, err = grading.ReadGrade(text); err != nil {
		return m, blame.Packagef("grader %s: %w", p.Name, err)
	}
	return m, nil
}
