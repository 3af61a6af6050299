package judging

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"deepoj/host/judge"
	"deepoj/host/problem"
	"deepoj/plugins/abi"
	"deepoj/sandbox"
)

// A static validator looks at the files of a submission, which are in its working
// directory, and says of them what a checker says of an output.

// staticValidator returns what looks at the submitted files, nil if no group of the
// package asks for it.
func (j *Judge) staticValidator(ctx context.Context, pkg *problem.Package) (*native, error) {
	if pkg.Static == nil || len(pkg.Cases()) == len(pkg.Tests()) {
		return nil, nil
	}
	n, err := j.nativeOf(ctx, pkg, *pkg.Static, abi.ICPC1)
	if err != nil {
		return nil, fmt.Errorf("static validator: %w", err)
	}
	return n, nil
}

// showFiles gives those natives the submission that are to find it in their working
// directory.
func (e *evaluation) showFiles() {
	all := []*native{e.static}
	for _, c := range e.checkers {
		all = append(all, c.native)
	}
	if e.interactor != nil {
		all = append(all, e.interactor.native)
	}
	for _, n := range all {
		if n != nil && n.apart {
			n.shown = e.prog.handedIn()
		}
	}
}

// lookAtFiles makes the runs in which nothing is run but the static validator.
func (e *evaluation) lookAtFiles(ctx context.Context) error {
	for _, r := range e.runs {
		if !r.static {
			continue
		}
		result, err := e.validate(ctx, r.test)
		if err != nil {
			return err
		}
		r.started, r.result = true, result
		close(r.done)
	}
	return nil
}

// validate asks the static validator about the submission.
func (e *evaluation) validate(ctx context.Context, t *problem.Test) (r runResult, err error) {
	r.verdict = judge.AC
	args := slices.Concat([]string{languageCode(e.prog.tc.id), e.prog.entryPoint(), folderOfBox + nativeFeedback}, t.Flags)
	said, err := e.static.ask(ctx, nil, nil, args, nil)
	if err == nil {
		err = r.take(checker{native: e.static, points: e.pkg.Scoring}, said, e.pkg.Scoring)
	}
	if _, fault := errors.AsType[*packageError](err); fault {
		err = &packageError{fmt.Errorf("static validator: %w", err)}
	}
	return r, (&lane{e: e}).blame(ctx, &r, t, err)
}

// withinStatic is an error if a static validator gives more than it may.
func withinStatic(t *problem.Test, score float64) error {
	if t.Points == nil || score <= *t.Points+rounding*(1+*t.Points) {
		return nil
	}
	return fmt.Errorf("the static validator gives %g points, more than the static_validation_score %g", score, *t.Points)
}

// handedIn returns the files of a submission: its sources with those that the
// package adds, and what was compiled from them.
func (p *program) handedIn() []sandbox.File { return beside(p.placed, p.files) }

// languageCode is what the package format calls a language.
func languageCode(id string) string {
	if id == "python" {
		return "python3"
	}
	return id
}

// entryPoint names where a program begins: the file that is interpreted, the class of
// a virtual machine, or else the first source.
func (p *program) entryPoint() string {
	args := p.plan.Run.Args
	if n := len(args); n > 0 && slices.Contains([]string{"java", "kotlin"}, p.tc.id) {
		return args[n-1]
	}
	first := ""
	for _, f := range p.plan.Files {
		if f.Source == nil {
			continue
		}
		if slices.Contains(args, f.Path) {
			return f.Path
		}
		if first == "" {
			first = f.Path
		}
	}
	return first
}
